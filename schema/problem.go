package schema

import (
	"errors"
	"strings"

	"github.com/plural-go/plural/internal/compile"
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
func (p Problem) String() string { return compile.Problem(p).String() }

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

// problemsOf are the problems of an error of compile, nil if there are none.
func problemsOf(err error) (problems Problems) {
	var found compile.Problems
	errors.As(err, &found)
	for _, problem := range found {
		problems = append(problems, Problem(problem))
	}
	return problems
}
