package openapi

import (
	"slices"
	"strconv"
	"strings"
)

// names makes names unique: the names of two collections may become equal in the form that generators
// of clients use.
type names map[string]bool

// has reports whether a name is used.
func (n names) has(name string) bool { return n[plain(name)] }

// plain is the part of a name that generators distinguish: letters and digits, in any case.
func plain(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, strings.ToLower(name))
}

// unique is the name, or the name with the first number that makes it another one.
func (n names) unique(name string) string { return n.uniqueWith(name, []string{""}) }

// uniqueWith is the same for a name that is used with several endings.
func (n names) uniqueWith(name string, endings []string) string {
	free := name
	isTaken := func(ending string) bool { return n.has(free + ending) }
	for i := 2; slices.ContainsFunc(endings, isTaken); i++ {
		free = name + strconv.Itoa(i)
	}
	for _, ending := range endings {
		n[plain(free+ending)] = true
	}
	return free
}

// spaced writes published_at as "published at".
func spaced(name string) string {
	return strings.TrimSpace(strings.NewReplacer("_", " ", "-", " ").Replace(name))
}

// capital begins a text with a capital letter.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
