package changelog

import (
	"errors"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// errTooLarge: the states of several resources are larger than they may be together.
var errTooLarge = errors.New("the states are too large")

// statesWithin finds the states of the first changes, as many as fit into a number of bytes but at
// least one, and those of all changes if that is zero.
func (r *Reader) statesWithin(most int, entries []Entry, previous [][]byte) (known int, err error) {
	err = r.states(entries, previous, most)
	if errors.Is(err, errTooLarge) { // their size is only known when they are read
		entries = entries[:1]
		err = r.states(entries, previous, 0)
	}
	if most == 0 || err != nil {
		return len(entries), err
	}
	for bytes := 0; known < len(entries) && (known == 0 || bytes < most); known++ {
		bytes += entries[known].size()
	}
	return known, nil
}

// size is how many bytes the texts of both states have.
func (e *Entry) size() int { return e.Before.TextSize() + e.After.TextSize() }

// states finds the states before and after changes, which may be in any order. An entry that
// cannot be read makes those of its resource up to there unreadable, and no others. If the states of
// several resources have more than a number of bytes, it stops with errTooLarge; zero: no bound.
func (r *Reader) states(entries []Entry, previous [][]byte, most int) error {
	groups := map[resourceKey][]int{}
	var order []resourceKey
	for i := range entries {
		key := resourceKey{entries[i].Collection, entries[i].ID}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	last := map[resourceKey]int64{} // of those that exist after their last change
	for key, group := range groups {
		slices.SortFunc(group, func(a, b int) int { return int(entries[a].Revision - entries[b].Revision) })
		if end := entries[group[len(group)-1]]; end.Kind != Deleted {
			last[key] = end.Revision
		}
	}
	after, unreadable, err := r.statesAfter(order, last, most)
	if err != nil {
		return err
	}
	for key, group := range groups {
		log, state, unknown := r.log.table(key.collection), after[key], unreadable[key]
		for _, i := range slices.Backward(group) {
			e := &entries[i]
			if e.Kind == Deleted {
				state, unknown = log.blank(key.id), nil
			}
			if unknown == nil {
				unknown = log.readStates(e, state, previous[i])
			}
			if e.Unreadable = unknown; unknown == nil && e.Kind != Created { // what was before that, if anything, was deleted
				state = slices.Clone(e.Before)
			}
		}
	}
	return nil
}

// readStates sets the states of an entry. State is the one after it, or of a deletion a blank one.
func (l *table) readStates(e *Entry, state model.Record, previous []byte) error {
	var before, after model.Record
	if e.Kind != Deleted {
		after = state
		l.fill(after, e.Revision)
		after[l.collection.RevisionColumn()] = model.IntValue(e.Revision)
	}
	switch e.Kind {
	case Created:
	case Updated, Deleted:
		before = slices.Clone(state)
		if err := l.undo(before, e.Revision, previous); err != nil {
			return err
		}
	default:
		return l.unreadable(e.ID, e.Revision, errKind(e.Kind))
	}
	e.Before, e.After = before, after
	return nil
}

type resourceKey struct {
	collection *model.Collection // as it is stored
	id         model.ID
}

// statesAfter finds the states of resources as of revisions at which they were changed and not
// deleted: their rows, if they were not changed since. Unreadable is of which they are not known, and
// why. Most is that of states.
func (r *Reader) statesAfter(order []resourceKey, last map[resourceKey]int64, most int) (states map[resourceKey]model.Record, unreadable map[resourceKey]error, err error) {
	ids := map[*model.Collection][]model.ID{}
	for _, key := range order {
		if _, ok := last[key]; ok {
			ids[key.collection] = append(ids[key.collection], key.id)
		}
	}
	states, unreadable = map[resourceKey]model.Record{}, map[resourceKey]error{}
	bytes := 0
	add := func(key resourceKey, record model.Record) (fits bool) {
		bytes += record.TextSize() - states[key].TextSize()
		states[key] = record
		return most == 0 || bytes <= most || len(last) == 1
	}
	for c, wanted := range ids {
		fits := true
		err := r.rowsOf(c, wanted, func(record model.Record) bool {
			fits = add(resourceKey{c, record.ID(model.IDColumn)}, record)
			return fits
		})
		if err != nil {
			return nil, nil, err
		}
		if !fits {
			return nil, nil, errTooLarge
		}
	}
	for _, key := range order {
		revision, wanted := last[key]
		current := states[key]
		if !wanted || current != nil && current.Int(key.collection.RevisionColumn()) == revision {
			continue
		}
		state, err := r.stateSince(key, revision, revision, current)
		switch {
		case IsUnreadable(err):
			unreadable[key] = err
		case err != nil:
			return nil, nil, err
		case !add(key, state):
			return nil, nil, errTooLarge
		}
	}
	return states, unreadable, nil
}

// rowsAtOnce is how many rows one query reads by their ids.
const rowsAtOnce = 128

// rowsOf reads the resources with some ids, as far as they exist, while read returns true.
func (r *Reader) rowsOf(c *model.Collection, ids []model.ID, read func(model.Record) bool) error {
	table := r.log.table(c).rows
	for chunk := range slices.Chunk(ids, rowsAtOnce) {
		b := &db.Builder{}
		b.Write("SELECT ", table.All, " FROM ", table.Name, " WHERE ", table.Columns[model.IDColumn])
		b.InIDs(chunk)
		more := true
		err := db.EachWhile(r.conn, func(row model.Row) bool {
			more = read(c.Scan(row))
			return more
		}, b.String(), b.Args...)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// laterAtOnce is how many later changes of a resource one query reads.
const laterAtOnce = 32

// stateSince finds the state of a resource from its changes after one revision: each column has the value that the first
// of them has, or that of the current row, which is nil if it was deleted since. It is the state as of another revision:
// attributes that were added since then have the values that they were added with, or those that rules compute of the state.
func (r *Reader) stateSince(key resourceKey, after, revision int64, current model.Record) (model.Record, error) {
	log := r.log.table(key.collection)
	state, known, unknown := log.blank(key.id), make([]bool, len(log.Columns)), 0
	for i, column := range log.Columns {
		if known[i] = column.Number == 0 || revision <= column.AddedAfter; !known[i] {
			unknown++
		}
	}
	for at, deleted := after, false; unknown > 0 && !deleted; {
		later, unreadable := 0, error(nil)
		err := db.EachWhile(r.conn, func(row model.Row) bool {
			later++
			kind := Kind(row.AppendText(nil, 1))
			at, deleted = row.Int(0), kind == Deleted
			unreadable = errKind(kind)
			if kind == Updated || kind == Deleted {
				unreadable = log.decode(row.AppendText(nil, 2), func(column int, value model.Value) {
					if !known[column] {
						state[column], known[column] = value, true
						unknown--
					}
				})
			}
			return !deleted && unknown > 0 && unreadable == nil
		}, "SELECT revision, kind, previous FROM "+db.ChangesTable+" WHERE collection = $1 AND id = $2 AND revision > $3 ORDER BY revision LIMIT "+strconv.Itoa(laterAtOnce),
			model.IntValue(log.Number), model.IDValue(key.id), model.IntValue(at))
		if err != nil {
			return nil, err
		}
		if unreadable != nil {
			return nil, log.unreadable(key.id, at, unreadable)
		}
		if deleted || unknown == 0 || later == laterAtOnce {
			continue
		}
		if current == nil {
			return nil, log.unreadable(key.id, revision, errNoEnd)
		}
		for i := range state {
			if !known[i] {
				state[i] = current[i]
			}
		}
		break
	}
	log.fill(state, revision)
	return state, nil
}
