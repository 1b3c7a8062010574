package schema

import _ "embed"

//go:embed example.yaml
var exampleFile []byte

// Starter is a commented schema file to begin with. It declares what Example
// declares, and shows the rest in comments.
//
//go:embed starter.yaml
var Starter string

// Example is the schema of a server that was given none: users, and their posts.
func Example() *Schema {
	file, err := Parse(exampleFile)
	if err != nil {
		panic("schema: the example: " + err.Error())
	}
	return file.Schema
}
