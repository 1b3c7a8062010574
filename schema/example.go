package schema

import _ "embed"

//go:embed example.yaml
var exampleFile []byte

// Example is the schema of a server that was given none: users, and their posts.
func Example() *Schema {
	file, err := Parse(exampleFile)
	if err != nil {
		panic("schema: the example: " + err.Error())
	}
	return file.Schema
}
