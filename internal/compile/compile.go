// Package compile checks a declared schema and compiles it into a model. Package schema is the public
// way to declare one. Databases store declarations too.
package compile

import (
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/rules"
)

// Problem is one mistake in a schema.
type Problem struct {
	// Path leads to the mistake: "collections", "users", "attributes", "email", "maxLength".
	Path []string
	// Line and Column, from 1, are known when the schema came from a file.
	Line, Column int
	// Message says what is wrong and what would be right.
	Message string
}

// String is the problem with its place, the line first if it is known.
func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message)
	}
	return strings.Join(p.Path, ".") + ": " + p.Message
}

// Problems is everything that is wrong with a schema, as one error.
type Problems []Problem

// Error lists the problems, one on each line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Schema derives what the declarations of collections leave out, checks everything and compiles it. All mistakes are
// reported at once, as Problems. It keeps the declarations, and changes them.
func Schema(declared ...model.Collection) (*model.Schema, error) {
	return Versioned(model.Versions{}, declared...)
}

// Versioned does the same for a schema that declares versions of its interface.
func Versioned(versions model.Versions, declared ...model.Collection) (*model.Schema, error) {
	s, wrongRules, err := compiled(versions, declared)
	if err == nil && len(wrongRules) > 0 {
		return nil, wrongRules
	}
	return s, err
}

// Stored compiles what Schema.Document has written. A collection has no rules if they do not compile: they were accepted,
// perhaps by another version, and what is stored must stay readable.
func Stored(document []byte) (*model.Schema, error) {
	s, err := Earlier(document)
	if err == nil {
		compileRules(s)
	}
	return s, err
}

// Earlier compiles what Schema.Document has written of a schema that is no longer in force. It has no rules.
func Earlier(document []byte) (*model.Schema, error) {
	declared, versions, err := model.ReadDocument(document)
	if err != nil {
		return nil, err
	}
	return withoutRules(versions, declared)
}

// compiled compiles declarations. The rules of the data are compiled last, as they read columns.
func compiled(versions model.Versions, declared []model.Collection) (s *model.Schema, wrongRules Problems, err error) {
	if s, err = withoutRules(versions, declared); err == nil {
		wrongRules = compileRules(s)
	}
	return s, wrongRules, err
}

func withoutRules(versions model.Versions, declared []model.Collection) (*model.Schema, error) {
	FillIn(declared)
	requireStates(declared)
	k := Checker{declared: declared, versions: versions}
	k.schema()
	if len(k.Problems) > 0 {
		return nil, k.Problems
	}
	s := model.NewSchema(versions, declared, operations(), changes())
	warn(s)
	return s, nil
}

// compileRules gives the collections their rules, unless they do not compile.
func compileRules(s *model.Schema) (wrongRules Problems) {
	for _, c := range s.Collections() {
		set, problems := rules.Compile(c)
		for _, each := range problems {
			wrongRules = append(wrongRules, Problem{
				Path: Path{"collections", c.Name}.To(each.Path...), Line: each.Line, Column: each.Column, Message: each.Message,
			})
		}
		if set != nil {
			c.SetRules(set)
		}
	}
	return wrongRules
}
