package store

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
)

// loggedTable is how the change log stores the former values of a collection: a JSON object of
// numbers of columns and values.
type loggedTable struct {
	*migrate.NumberedTable
	collection *model.Collection
	keys       [][]byte       // of each column, nil for id and revision
	column     map[string]int // by number
}

func newLoggedTable(c *model.Collection, numbers *migrate.NumberedTable) *loggedTable {
	l := &loggedTable{NumberedTable: numbers, collection: c, keys: make([][]byte, len(c.Columns())), column: map[string]int{}}
	for i, column := range numbers.Columns {
		if column.Number != 0 {
			number := strconv.FormatInt(column.Number, 10)
			l.keys[i], l.column[number] = []byte(`"`+number+`":`), i
		}
	}
	return l
}

// previous is what the log keeps of the state before an update, and whole what it keeps before
// a deletion.
func (l *loggedTable) previous(before, after model.Record) []byte {
	if storesWhole(before.Int(l.collection.RevisionColumn())) {
		return l.whole(before)
	}
	return l.encode(before, func(column int) bool { return before[column] != after[column] })
}

func (l *loggedTable) whole(before model.Record) []byte {
	return l.encode(before, func(int) bool { return true })
}

// storesWhole reports whether an update of a resource with a revision stores all former values,
// so that whoever needs the state of then reads no further. It is one in 16 by a hash of the
// revision: two resources that are updated in turns would have revisions of which those of one
// are all odd.
func storesWhole(revision int64) bool {
	return db.BitsOf(revision)*0x9E3779B97F4A7C15>>60 == 0
}

func (l *loggedTable) encode(record model.Record, has func(column int) bool) []byte {
	dst := []byte{'{'}
	for i, key := range l.keys {
		if key == nil || !has(i) {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = l.collection.Columns()[i].Kind.AppendValue(append(dst, key...), record, i)
	}
	return append(dst, '}')
}

// decode calls visit with the columns and values of an entry that is no creation. Columns that the
// collection no longer has are left out.
func (l *loggedTable) decode(previous []byte, visit func(column int, value model.Value)) error {
	if len(previous) == 0 {
		return errEmpty
	}
	d := jsontext.NewDecoder(bytes.NewReader(previous), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		number, err := d.ReadToken()
		if err != nil {
			return err
		}
		column, ok := l.column[number.String()]
		text, err := d.ReadValue()
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		value, err := l.collection.Columns()[column].Kind.ParseValue(text)
		if err != nil {
			return err
		}
		visit(column, value)
	}
	return nil
}

// blank is a state in which every column is what a migration that added it would have filled in.
func (l *loggedTable) blank(id model.ID) model.Record {
	record := make(model.Record, len(l.Columns))
	for i, column := range l.Columns {
		record[i] = column.Fill
	}
	record[model.IDColumn] = model.IDValue(id)
	return record
}

// undo makes the state after a change the one before it, whose revision is not known.
func (l *loggedTable) undo(record model.Record, revision int64, previous []byte) error {
	err := l.decode(previous, func(column int, value model.Value) { record[column] = value })
	l.fill(record, revision)
	record[l.collection.RevisionColumn()] = model.Null
	return l.unreadable(record.ID(model.IDColumn), revision, err)
}

// fill gives the columns that were added after a revision the values that they got then.
func (l *loggedTable) fill(record model.Record, revision int64) {
	for i, column := range l.Columns {
		if revision <= column.Since {
			record[i] = column.Fill
		}
	}
}

// errTooLarge: the states of several resources are larger than they may be together.
var errTooLarge = errors.New("the states are too large")

// statesWithin finds the states of the first changes, as many as fit into a number of bytes but at
// least one, and those of all changes if that is zero.
func (t *Tx) statesWithin(most int, entries []LogEntry, previous [][]byte) (known int, err error) {
	err = t.states(entries, previous, most)
	if errors.Is(err, errTooLarge) { // their size is only known when they are read
		entries = entries[:1]
		err = t.states(entries, previous, 0)
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
func (e *LogEntry) size() int { return SizeOf(e.Before) + SizeOf(e.After) }

// SizeOf is how many bytes the texts of a record have.
func SizeOf(r model.Record) (bytes int) {
	for i := range r {
		bytes += len(r[i].Text())
	}
	return bytes
}

// states finds the states before and after changes, which may be in any order. An entry that
// cannot be read makes those of its resource up to there unreadable, and no others. If the states of
// several resources have more than a number of bytes, it stops with errTooLarge; zero: no bound.
func (t *Tx) states(entries []LogEntry, previous [][]byte, most int) error {
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
	after, unreadable, err := t.statesAfter(order, last, most)
	if err != nil {
		return err
	}
	for key, group := range groups {
		log, state, unknown := t.store.tables[key.collection].log, after[key], unreadable[key]
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
func (l *loggedTable) readStates(e *LogEntry, state model.Record, previous []byte) error {
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
	collection *model.Collection
	id         model.ID
}

// statesAfter finds the states of resources as of revisions at which they were changed and not
// deleted: their rows, if they were not changed since. Unreadable is of which they are not known, and
// why. Most is that of states.
func (t *Tx) statesAfter(order []resourceKey, last map[resourceKey]int64, most int) (states map[resourceKey]model.Record, unreadable map[resourceKey]error, err error) {
	ids := map[*model.Collection][]model.ID{}
	for _, key := range order {
		if _, ok := last[key]; ok {
			ids[key.collection] = append(ids[key.collection], key.id)
		}
	}
	states, unreadable = map[resourceKey]model.Record{}, map[resourceKey]error{}
	bytes := 0
	add := func(key resourceKey, record model.Record) (fits bool) {
		bytes += SizeOf(record) - SizeOf(states[key])
		states[key] = record
		return most == 0 || bytes <= most || len(last) == 1
	}
	for c, wanted := range ids {
		fits := true
		err := t.rowsOf(c, wanted, func(record model.Record) bool {
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
		state, err := t.stateAt(key, revision, current)
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
const rowsAtOnce = 100

// rowsOf reads the resources with some ids, as far as they exist, while read returns true.
func (t *Tx) rowsOf(c *model.Collection, ids []model.ID, read func(model.Record) bool) error {
	table := t.store.tables[c]
	for chunk := range slices.Chunk(ids, rowsAtOnce) {
		b := &db.Builder{}
		b.Write("SELECT ", table.All, " FROM ", table.Name, " WHERE ", table.Columns[model.IDColumn], " IN (")
		size := 1 // one of a few, so that there are few statements to prepare
		for size < len(chunk) {
			size = min(2*size, rowsAtOnce)
		}
		b.List(size, ", ", "", func(i int) { b.Arg(model.IDValue(chunk[min(i, len(chunk)-1)])) })
		b.Write(")")
		more := true
		err := db.Each(t.conn, func(row model.Row) bool {
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

// stateAt finds the state of a resource after a revision from its later changes: each column has
// the value that the first of them tells, or that of the current row, which is nil if it was
// deleted since.
func (t *Tx) stateAt(key resourceKey, revision int64, current model.Record) (model.Record, error) {
	return t.stateSince(key, revision, revision, current)
}

// stateSince does the same from the changes after one revision, as of another: attributes that were
// added since then have the values that they were added with.
func (t *Tx) stateSince(key resourceKey, after, revision int64, current model.Record) (model.Record, error) {
	log := t.store.tables[key.collection].log
	state, known, unknown := log.blank(key.id), make([]bool, len(log.Columns)), 0
	for i, column := range log.Columns {
		if known[i] = column.Number == 0 || revision <= column.Since; !known[i] {
			unknown++
		}
	}
	for at, deleted := after, false; unknown > 0 && !deleted; {
		later, unreadable := 0, error(nil)
		err := db.Each(t.conn, func(row model.Row) bool {
			later++
			kind := ChangeKind(row.AppendText(nil, 1))
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
	return state, nil
}
