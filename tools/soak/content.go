//go:build linux

package soak

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rest is a database while nobody uses it.
type Rest struct {
	Observed
	told     map[Ref][]told // the change log by resource
	Problems []string       // where the database is at odds with itself
}

func (r *Rest) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// collections are those of the schema, and the attribute that holds the parent.
var collections = map[string]string{"accounts": "", "orders": "account_id", "notes": "", "counters": ""}

// content is what a database holds, whichever it is.
type content struct {
	changes []logged // the change log, in its order
	stored  []stored // all resources
	totals  map[total]int64
}

// logged is an entry of the change log.
type logged struct {
	revision       int64
	ref            Ref
	kind           string
	representation string
}

// stored is a resource as a table has it.
type stored struct {
	ref      Ref
	revision int64
	columns  map[string][]string // each value, in every way that it can be written in JSON
}

// total names a number that is kept.
type total struct{ collection, parent string }

// examine looks whether everything that a database holds agrees.
func (c *content) examine(rest *Rest) {
	c.compare(rest, c.replay(rest))
	c.count(rest)
}

// replay applies the change log to nothing.
func (c *content) replay(rest *Rest) map[Ref]logged {
	resources := map[Ref]logged{}
	for _, change := range c.changes {
		before, there := resources[change.ref]
		switch change.kind {
		case created, updated:
			if there != (change.kind == updated) {
				rest.problem("change log: %s of %v, and it was there: %t", change.kind, change.ref, there)
			}
			if change.revision <= before.revision {
				rest.problem("change log: revision %d of %v comes behind %d", change.revision, change.ref, before.revision)
			}
			resources[change.ref] = change
		case deleted:
			if before.representation != change.representation {
				rest.problem("change log: %v was deleted as %s, and was %s", change.ref, change.representation, before.representation)
			}
			delete(resources, change.ref)
		default:
			rest.problem("change log: a change %q", change.kind)
		}
		if _, ours := collections[change.ref.Collection]; ours {
			rest.Changes = append(rest.Changes, Change{change.ref, change.kind, parseValue([]byte(change.representation)).Token})
		}
	}
	for ref, last := range resources {
		if _, ours := collections[ref.Collection]; ours {
			rest.Resources[ref] = parseValue([]byte(last.representation))
		}
	}
	return resources
}

// compare looks whether the tables have what the change log says, and no more.
func (c *content) compare(rest *Rest, resources map[Ref]logged) {
	for _, found := range c.stored {
		want, there := resources[found.ref]
		if !there {
			rest.problem("%v is in its table, and not in the change log", found.ref)
			continue
		}
		delete(resources, found.ref)
		if found.revision != want.revision {
			rest.problem("%v has revision %d, and its last change is %d", found.ref, found.revision, want.revision)
		}
		for _, difference := range found.differences(want.representation) {
			rest.problem("%v: %s", found.ref, difference)
		}
	}
	for ref := range resources {
		rest.problem("%v is in the change log, and not in its table", ref)
	}
}

// differences compares a resource with a representation.
func (s *stored) differences(representation string) (found []string) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(representation), &members); err != nil {
		return []string{err.Error()}
	}
	delete(members, "type")
	for name, possible := range s.columns {
		if strings.HasPrefix(name, "_") {
			continue
		}
		if member := string(members[name]); !slices.Contains(possible, member) {
			found = append(found, fmt.Sprintf("%s is %s in the table, and %s in the change log", name, possible[0], member))
		}
		delete(members, name)
	}
	for name := range members {
		found = append(found, name+" is in the change log only")
	}
	return found
}

// textAsJSON: a text is JSON itself, or a string.
func textAsJSON(text string) []string {
	quoted, _ := json.Marshal(text)
	return []string{text, string(quoted)}
}

// count compares the numbers that are kept with those that can be counted.
func (c *content) count(rest *Rest) {
	counted, kept := map[total]int64{}, c.totals
	for _, found := range c.stored {
		counted[total{found.ref.Collection, ""}]++
		for _, parent := range found.columns[collections[found.ref.Collection]] {
			if id, err := strconv.Unquote(parent); err == nil {
				counted[total{found.ref.Collection, id}]++
			}
		}
	}
	for key, n := range counted {
		if kept[key] != n {
			rest.problem("the total of %v is kept as %d, and %d are there", key, kept[key], n)
		}
	}
	for key, n := range kept {
		if n != 0 && counted[key] == 0 {
			rest.problem("the total of %v is kept as %d, and none are there", key, n)
		}
	}
}
