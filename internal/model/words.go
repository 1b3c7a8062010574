package model

import "strings"

// OneOf lists choices as people do: "a, b or c".
func OneOf[T ~string](choices []T) string {
	var b strings.Builder
	for i, choice := range choices {
		switch {
		case i > 0 && i == len(choices)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(choice))
	}
	return b.String()
}
