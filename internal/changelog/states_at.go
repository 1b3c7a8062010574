package changelog

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// States finds states of resources at numbers of the change log. It is for resources that others
// refer to: one that is not there at a number is found as it is when it is created, or as it last
// was. The same transaction creates it later, or deletes later what refers to it, as every reference
// is valid when a transaction ends.
type States struct {
	reader  *Reader
	settled map[resourceKey]settledState
	bytes   int // of the texts of those
}

// mostSettled is how many bytes States keeps, about. Every stream that reads from the database has its own.
const mostSettled = 256 << 10

// settledState is the state of a resource from a number on: there are no later changes.
type settledState struct {
	from  int64
	state model.Record
}

// States returns the states of resources, as long as the transaction lasts.
func (r *Reader) States() *States { return &States{reader: r, settled: map[resourceKey]settledState{}} }

// Before finds resources as they were before a change, and After as they were after it.
func (s *States) Before(e *Entry) query.Lookup { return s.at(e.Number-1, e.Revision) }

// After finds resources as they were after a change.
func (s *States) After(e *Entry) query.Lookup { return s.at(e.Number, e.Revision) }

// at finds resources at a number. Revision is that of the change there: attributes that were added
// later have the values that they were added with.
func (s *States) at(number, revision int64) query.Lookup {
	return func(c *model.Collection, id model.ID) (model.Record, error) {
		key := resourceKey{c.Base(), id}
		if settled, ok := s.settled[key]; ok && number >= settled.from {
			return settled.state, nil
		}
		state, from, err := s.reader.stateAt(key, number, revision)
		if from >= 0 && err == nil {
			s.keep(key, settledState{from, state})
		}
		return state, s.reader.fault(err)
	}
}

// keep keeps a state, in place of all others if there is no room for it.
func (s *States) keep(key resourceKey, settled settledState) {
	if s.bytes += settled.state.TextSize(); s.bytes > mostSettled {
		clear(s.settled)
		s.bytes = settled.state.TextSize()
	}
	s.settled[key] = settled
}

// stateAt finds the state of a resource at a number. From is the number of its last
// change if there are none after the number, and else negative.
func (r *Reader) stateAt(key resourceKey, upTo, revision int64) (state model.Record, from int64, err error) {
	number, id := model.IntValue(r.log.table(key.collection).Number), model.IDValue(key.id)
	change := func(sql string, bound int64) (revision int64, kind Kind, at int64, err error) {
		_, err = db.One(r.conn, func(row model.Row) {
			revision, kind, at = row.Int(0), Kind(row.AppendText(nil, 1)), row.Int(2)
		}, sql, number, id, model.IntValue(bound))
		return revision, kind, at, err
	}
	last, lastKind, from, err := change("SELECT revision, kind, position FROM "+r.log.db.PositionedLog()+
		" AS log WHERE collection = $1 AND id = $2 AND position <= $3 ORDER BY position DESC LIMIT 1", upTo)
	if err != nil {
		return nil, 0, err
	}
	later, laterKind, _, err := change("SELECT revision, kind, 0 FROM "+db.ChangesTable+
		" WHERE collection = $1 AND id = $2 AND revision > $3 ORDER BY revision LIMIT 1", last)
	if err != nil {
		return nil, 0, err
	}
	var current model.Record
	err = r.rowsOf(key.collection, []model.ID{key.id}, func(record model.Record) bool {
		current = record
		return true
	})
	switch {
	case err != nil:
		return nil, 0, err
	case lastKind == Deleted:
		// If it was created again under the same id, what referred to it before has gone with it.
		state, err = r.deleted(key, "revision = $3", model.IntValue(last))
	case later == 0:
		state = current
	case laterKind == Created:
		state, err = r.stateSince(key, later, later, current)
	default:
		state, err = r.stateSince(key, last, revision, current)
	}
	if later != 0 {
		from = -1
	}
	return state, from, err
}

// Deleted returns the last state of a deleted resource, nil if the change log no longer has
// it.
func (r *Reader) Deleted(c *model.Collection, id model.ID) (model.Record, error) {
	record, err := r.deleted(resourceKey{c.Base(), id}, "kind = '"+db.Deleted+"'")
	return record, r.fault(err)
}

// deleted is the state of a resource before the last of its deletions for which a condition is true, whose arguments start at $3; nil: there is none.
func (r *Reader) deleted(key resourceKey, condition string, args ...model.Value) (record model.Record, err error) {
	log := r.log.table(key.collection)
	err = db.EachOrError(r.conn, func(row model.Row) error {
		record = log.blank(key.id)
		return log.undo(record, row.Int(0), row.AppendText(nil, 1))
	}, "SELECT revision, previous FROM "+db.ChangesTable+" WHERE collection = $1 AND id = $2 AND "+condition+" ORDER BY revision DESC LIMIT 1",
		append([]model.Value{model.IntValue(log.Number), model.IDValue(key.id)}, args...)...)
	return record, err
}

// ChangedBefore returns the last change of a resource before a revision, nil if the change log
// no longer has it. Once a transaction has changed a resource, no other can until it ends, so
// this is the transaction's own change if there is one. Its number is unknown.
func (r *Reader) ChangedBefore(revision int64, c *model.Collection, id model.ID) (*Entry, error) {
	var found []Entry
	var previous [][]byte
	err := db.Each(r.conn, func(row model.Row) {
		found = append(found, Entry{Revision: row.Int(0), Collection: c.Base(), ID: id, Kind: Kind(row.AppendText(nil, 1))})
		previous = append(previous, row.AppendText(nil, 2))
	}, "SELECT revision, kind, previous FROM "+db.ChangesTable+" WHERE revision < $1 AND collection = $2 AND id = $3 ORDER BY revision DESC LIMIT 1",
		model.IntValue(revision), model.IntValue(r.log.table(c).Number), model.IDValue(id))
	if err == nil {
		err = r.states(found, previous, 0)
	}
	if err != nil || len(found) == 0 {
		return nil, r.fault(err)
	}
	return &found[0], r.fault(found[0].Unreadable)
}
