//go:build linux

// Package stored reads the database of a server that is stopped, and checks that its parts agree with
// each other: resources, change log and totals. It imports none of the code of the server.
package stored

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// Contents is the content of a database while no server uses it.
type Contents struct {
	ledger.Observed
	Log      map[ledger.Ref][]LogEntry // the change log by resource
	Cut      bool                      // the beginning of the change log was removed
	Problems []string                  // inconsistencies in the database
}

func (r *Contents) Problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// Collections are those of the schema, and the attribute that holds the parent.
var Collections = map[string]string{"accounts": "", "orders": "account_id", "notes": "", "counters": "", "tickets": ""}

// States are those of a ticket, in a circle: each leads only to the next. A ticket begins with the first.
var States = []string{"open", "waiting", "closed"}

// records is what is read from a database of either kind.
type records struct {
	changes []logged        // the change log, in its order
	stored  []stored        // all resources
	totals  map[total]int64 // as the database keeps them
	counted map[total]int64 // as they are
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
	ref      ledger.Ref
	revision int64
	columns  map[string][]string // each value, in all its JSON forms
}

// total identifies a stored total.
type total struct{ collection, parent string }

// examine checks that the parts of a database agree with each other.
func (c *records) examine(contents *Contents) {
	c.forwards(contents)
	c.backwards(contents)
	c.count(contents)
}

// forwards checks the change log from its beginning: each resource is created before it is updated or
// deleted, and its row has the revision of its last change.
func (c *records) forwards(contents *Contents) {
	contents.Log, contents.Cut = map[ledger.Ref][]LogEntry{}, c.cut
	last := map[ledger.Ref]logged{}
	for _, change := range c.changes {
		ref := ledger.Ref{Collection: c.numbers.name(change.collection), ID: change.id}
		before, known := last[ref]
		there := known && before.kind != ledger.Deleted
		if there != (change.kind != ledger.Created) && (known || !c.cut) {
			contents.Problem("change log: %s of %v, and it was there: %t", change.kind, ref, there)
		}
		if change.revision <= before.revision {
			contents.Problem("change log: revision %d of %v comes behind %d", change.revision, ref, before.revision)
		}
		last[ref] = change
		contents.Log[ref] = append(contents.Log[ref], LogEntry{Kind: change.kind, Revision: change.revision})
	}
	for _, found := range c.stored {
		change, known := last[found.ref]
		switch {
		case !known && c.cut:
		case !known || change.kind == ledger.Deleted:
			contents.Problem("%v is in its table, and not in the change log", found.ref)
		case found.revision != change.revision:
			contents.Problem("%v has revision %d, and its last change is %d", found.ref, found.revision, change.revision)
		}
		delete(last, found.ref)
	}
	for ref, change := range last {
		if change.kind != ledger.Deleted {
			contents.Problem("%v is in the change log, and not in its table", ref)
		}
	}
}

// backwards undoes all changes of the log, starting from the rows. Each state in between must be
// consistent.
func (c *records) backwards(contents *Contents) {
	states := map[ledger.Ref]map[string]string{}
	for _, found := range c.stored {
		if _, ours := Collections[found.ref.Collection]; ours {
			states[found.ref] = map[string]string{"token": found.text("token"), "text": found.text("text"), "state": found.text("state")}
			contents.Resources[found.ref] = c.value(contents, found.ref, states[found.ref])
		}
	}
	for _, change := range slices.Backward(c.changes) {
		ref := ledger.Ref{Collection: c.numbers.name(change.collection), ID: change.id}
		if _, ours := Collections[ref.Collection]; !ours {
			continue
		}
		previous, err := c.previous(ref.Collection, change.previous)
		if err != nil {
			contents.Problem("change log: revision %d: %v", change.revision, err)
		}
		state := states[ref]
		if change.kind == ledger.Deleted {
			state = previous
		}
		contents.Changes = append(contents.Changes, ledger.Change{Ref: ref, Change: change.kind, Token: c.value(contents, ref, state).Token})
		switch change.kind {
		case ledger.Created:
			checkStep(contents, ref, "", state["state"])
			delete(states, ref)
		case ledger.Updated:
			before := map[string]string{} // also of a resource that does not exist: forwards reports it
			maps.Copy(before, state)
			maps.Copy(before, previous)
			checkStep(contents, ref, before["state"], state["state"])
			states[ref] = before
		default:
			states[ref] = state
		}
	}
	slices.Reverse(contents.Changes)
}

// checkStep checks that the lifecycle of tickets allows a step. From is empty for a new ticket.
func checkStep(contents *Contents, ref ledger.Ref, from, to string) {
	next := (slices.Index(States, from) + 1) % len(States) // the first, of a new one
	if ref.Collection == "tickets" && from != to && to != States[next] {
		contents.Problem("change log: the state of %v went from %q to %q", ref, from, to)
	}
}

// previous reads the former token, text and state from an entry of the change log, if it has them.
func (c *records) previous(collection, entry string) (map[string]string, error) {
	texts := map[string]string{}
	if entry == "" {
		return texts, nil
	}
	var values map[int64]json.RawMessage
	if err := json.Unmarshal([]byte(entry), &values); err != nil {
		return texts, err
	}
	for _, name := range []string{"token", "text", "state"} {
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
func (c *records) value(contents *Contents, ref ledger.Ref, state map[string]string) ledger.Value {
	v := ledger.Value{Token: state["token"], Torn: state["text"] != ledger.Text(state["token"])}
	if v.Torn {
		contents.Problem("%v is torn: its token is %q, and its text %q", ref, state["token"], ledger.Shortened(state["text"]))
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

// The totals as the database keeps them, pending deltas included, and what the idempotency records of each caller have in bytes, of
// which the database keeps totals as well.
const (
	keptTotals  = "SELECT collection, parent, total FROM _plural_totals UNION ALL SELECT collection, parent, change FROM _plural_deltas"
	recordBytes = "SELECT '_plural_answers', 'caller ' || caller, CAST(sum(octet_length(key) + octet_length(outcome) + octet_length(body)) AS bigint) FROM _plural_answers GROUP BY caller"
)

// count compares the kept totals with the number of rows, and of bytes.
func (c *records) count(contents *Contents) {
	counted, kept := c.counted, c.totals
	for _, found := range c.stored {
		counted[total{found.ref.Collection, ""}]++
		for _, parent := range found.columns[Collections[found.ref.Collection]] {
			if id, err := strconv.Unquote(parent); err == nil {
				counted[total{found.ref.Collection, id}]++
			}
		}
	}
	for key, n := range counted {
		if kept[key] != n {
			contents.Problem("the total of %v is kept as %d, and %d are there", key, kept[key], n)
		}
	}
	for key, n := range kept {
		if n != 0 && counted[key] == 0 {
			contents.Problem("the total of %v is kept as %d, and none are there", key, n)
		}
	}
}

// LogEntry is a change as an event describes it.
type LogEntry struct {
	Kind     string
	Revision int64
}
