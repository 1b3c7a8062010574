package model

import (
	"fmt"
	"strings"
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

// New checks and compiles collections that were declared in Go code. All
// mistakes are reported at once, as Problems. The arguments are not changed.
func New(collections ...Collection) (*Schema, error) {
	declared := cloneAll(collections)
	if problems := complete(declared, false); len(problems) > 0 {
		return nil, problems
	}
	return compile(declared), nil
}

// newStored does the same for collections that a database has.
func newStored(declared []Collection) (*Schema, error) {
	if problems := complete(declared, true); len(problems) > 0 {
		return nil, problems
	}
	return compile(declared), nil
}
