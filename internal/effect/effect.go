// Package effect counts what a dry run does to resources, all its steps together. It has no I/O.
package effect

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// Kind is what steps do to a resource.
type Kind uint8

// The kinds.
const (
	Updated   Kind = iota // it existed before, and does after
	Created               // it did not exist before
	Deleted               // it does not exist after
	temporary             // created and deleted: nothing

	seen Kind = 1 << 7 // by the caller, before or after
)

// Effects is what steps do to resources, by the collection as it is stored. Nil: that is not recorded.
type Effects map[*model.Collection]map[model.ID]Kind

// Clone returns a copy.
func (e Effects) Clone() Effects {
	if e == nil {
		return nil
	}
	all := Effects{}
	for c, some := range e {
		all[c] = maps.Clone(some)
	}
	return all
}

// Note records what a step does to resources.
func (e Effects) Note(done Kind, c *model.Collection, ids ...model.ID) {
	if e == nil {
		return
	}
	all := e[c.Base()]
	if all == nil {
		all = make(map[model.ID]Kind, len(ids))
		e[c.Base()] = all
	}
	for _, id := range ids {
		before, known := all[id]
		switch {
		case !known, known && before == temporary:
			all[id] = done
		case before == Created && done == Deleted:
			all[id] = temporary
		case done == Deleted:
			all[id] = Deleted
		case before == Deleted: // it is created again
			all[id] = Updated
		}
	}
}

// Unseen lists the resources of a collection that See has not marked.
func (e Effects) Unseen(c *model.Collection) (ids []model.ID) {
	for id, each := range e[c] {
		if each != temporary && each&seen == 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// See marks a resource that the caller sees before the steps or after them.
func (e Effects) See(c *model.Collection, id model.ID) { e[c][id] |= seen }

// Count counts the resources that are marked, in the order of the collections of a version, as far as it has them.
func (e Effects) Count(s *model.Schema) (affected Affected) {
	for _, c := range s.All() {
		if c.IsAbsent() {
			continue
		}
		number := Collection{Collection: c}
		for _, each := range e[c.Base()] {
			if each&seen == 0 {
				continue
			}
			if number.Count++; each == Deleted|seen {
				number.Deleted++
			}
		}
		if number.Count > 0 {
			affected = append(affected, number)
		}
	}
	return affected
}

// Affected is the numbers of resources that a write creates, changes or deletes, by collection.
type Affected []Collection

// Collection is the number of affected resources of a collection.
type Collection struct {
	Collection *model.Collection
	Count      int
	Deleted    int // of these
}

// Include adds a collection, if it is not there, with the number 0.
func (a Affected) Include(c *model.Collection) Affected {
	if slices.ContainsFunc(a, func(each Collection) bool { return each.Collection == c }) {
		return a
	}
	return append(a, Collection{Collection: c})
}

// String is the numbers as a header: issues=142, comments=3.
func (a Affected) String() string {
	return a.format(func(each Collection) (int, bool) { return each.Count, true })
}

// Deletions is the numbers of deleted resources as a header, empty if there are none.
func (a Affected) Deletions() string {
	return a.format(func(each Collection) (int, bool) { return each.Deleted, each.Deleted > 0 })
}

func (a Affected) format(number func(Collection) (n int, shown bool)) string {
	var parts []string
	for _, each := range a {
		if n, shown := number(each); shown {
			parts = append(parts, each.Collection.Name+"="+strconv.Itoa(n))
		}
	}
	return strings.Join(parts, ", ")
}
