//go:build linux

package soak

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Rest is the content of a database while no server uses it.
type Rest struct {
	Observed
	told     map[Ref][]told // the change log by resource
	cut      bool           // the beginning of the change log was removed
	Problems []string       // inconsistencies in the database
}

func (r *Rest) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// collections are those of the schema, and the attribute that holds the parent.
var collections = map[string]string{"accounts": "", "orders": "account_id", "notes": "", "counters": ""}

// content is what is read from a database of either kind.
type content struct {
	changes []logged // the change log, in its order
	stored  []stored // all resources
	totals  map[total]int64
	numbers numbering
	cut     bool // the beginning of the change log was removed
}

// logged is an entry of the change log.
type logged struct {
	revision   int64
	collection int64 // its number
	id         string
	kind       string
	previous   string
}

// numbering is how the change log names collections and attributes.
type numbering struct {
	Collections map[string]struct {
		Number     int64
		Attributes map[string]struct{ Number int64 }
	}
}

// read reads the numbering of the current schema.
func (n *numbering) read(document string) error { return json.Unmarshal([]byte(document), n) }

// name is the name of a collection.
func (n *numbering) name(number int64) string {
	for name, c := range n.Collections {
		if c.Number == number {
			return name
		}
	}
	return fmt.Sprint("number ", number)
}

// stored is a row of a resource.
type stored struct {
	ref      Ref
	revision int64
	columns  map[string][]string // each value, in all its JSON forms
}

// total identifies a stored total.
type total struct{ collection, parent string }

// examine checks that the parts of a database agree with each other.
func (c *content) examine(rest *Rest) {
	c.forwards(rest)
	c.backwards(rest)
	c.count(rest)
}

// forwards checks the change log from its beginning: each resource is created before it is updated or
// deleted, and its row has the revision of its last change.
func (c *content) forwards(rest *Rest) {
	rest.told, rest.cut = map[Ref][]told{}, c.cut
	last := map[Ref]logged{}
	for _, change := range c.changes {
		ref := Ref{c.numbers.name(change.collection), change.id}
		before, known := last[ref]
		there := known && before.kind != deleted
		if there != (change.kind != created) && (known || !c.cut) {
			rest.problem("change log: %s of %v, and it was there: %t", change.kind, ref, there)
		}
		if change.revision <= before.revision {
			rest.problem("change log: revision %d of %v comes behind %d", change.revision, ref, before.revision)
		}
		last[ref] = change
		rest.told[ref] = append(rest.told[ref], told{change.kind, change.revision})
	}
	for _, found := range c.stored {
		change, known := last[found.ref]
		switch {
		case !known && c.cut:
		case !known || change.kind == deleted:
			rest.problem("%v is in its table, and not in the change log", found.ref)
		case found.revision != change.revision:
			rest.problem("%v has revision %d, and its last change is %d", found.ref, found.revision, change.revision)
		}
		delete(last, found.ref)
	}
	for ref, change := range last {
		if change.kind != deleted {
			rest.problem("%v is in the change log, and not in its table", ref)
		}
	}
}

// backwards undoes all changes of the log, starting from the rows. Each state in between must be
// consistent.
func (c *content) backwards(rest *Rest) {
	states := map[Ref]map[string]string{}
	for _, found := range c.stored {
		if _, ours := collections[found.ref.Collection]; ours {
			states[found.ref] = map[string]string{"token": found.text("token"), "text": found.text("text")}
			rest.Resources[found.ref] = c.value(rest, found.ref, states[found.ref])
		}
	}
	for _, change := range slices.Backward(c.changes) {
		ref := Ref{c.numbers.name(change.collection), change.id}
		if _, ours := collections[ref.Collection]; !ours {
			continue
		}
		previous, err := c.previous(ref.Collection, change.previous)
		if err != nil {
			rest.problem("change log: revision %d: %v", change.revision, err)
		}
		state := states[ref]
		if change.kind == deleted {
			state = previous
		}
		rest.Changes = append(rest.Changes, Change{ref, change.kind, c.value(rest, ref, state).Token})
		switch change.kind {
		case created:
			delete(states, ref)
		case updated:
			before := map[string]string{} // also of a resource that does not exist: forwards reports it
			maps.Copy(before, state)
			maps.Copy(before, previous)
			states[ref] = before
		default:
			states[ref] = state
		}
	}
	slices.Reverse(rest.Changes)
}

// previous reads the former token and text from an entry of the change log, if it has them.
func (c *content) previous(collection, entry string) (map[string]string, error) {
	texts := map[string]string{}
	if entry == "" {
		return texts, nil
	}
	var values map[int64]json.RawMessage
	if err := json.Unmarshal([]byte(entry), &values); err != nil {
		return texts, err
	}
	for _, name := range []string{"token", "text"} {
		if value, has := values[c.numbers.Collections[collection].Attributes[name].Number]; has {
			var text string
			if err := json.Unmarshal(value, &text); err != nil {
				return texts, err
			}
			texts[name] = text
		}
	}
	return texts, nil
}

// value is a state of a resource.
func (c *content) value(rest *Rest, ref Ref, state map[string]string) Value {
	v := Value{Token: state["token"], Torn: state["text"] != text(state["token"])}
	if v.Torn {
		rest.problem("%v is torn: its token is %q, and its text %q", ref, state["token"], shortened(state["text"]))
	}
	return v
}

// text is the value of a text column, empty if there is none.
func (s *stored) text(column string) string {
	if values := s.columns[column]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// textAsJSON lists the JSON forms of a text: as it is, and as a string.
func textAsJSON(text string) []string {
	quoted, _ := json.Marshal(text)
	return []string{text, string(quoted)}
}

// count compares the stored totals with the number of rows.
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
