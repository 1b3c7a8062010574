package store

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// States finds states of resources at positions of the change log. It is for resources that others
// refer to: one that is not there at a position is found as it is when it is created, or as it last
// was. The same transaction creates it later, or deletes later what refers to it, as every reference
// is valid when a transaction ends.
type States struct {
	tx      *Tx
	settled map[resourceKey]settledState
	bytes   int // of the texts of those
}

// mostSettled is how many bytes States keeps, about. Every stream that reads from the database has its own.
const mostSettled = 256 << 10

// settledState is the state of a resource from a position on: there are no later changes.
type settledState struct {
	from  int64
	state model.Record
}

// States returns the states of resources, as long as the transaction lasts.
func (t *Tx) States() *States { return &States{tx: t, settled: map[resourceKey]settledState{}} }

// Before finds resources as they were before a change, and After as they were after it.
func (s *States) Before(e *LogEntry) query.Lookup { return s.at(e.Position-1, e.Revision) }

// After finds resources as they were after a change.
func (s *States) After(e *LogEntry) query.Lookup { return s.at(e.Position, e.Revision) }

// at finds resources at a position. Revision is that of the change there: attributes that were added
// later have the values that they were added with.
func (s *States) at(position, revision int64) query.Lookup {
	return func(c *model.Collection, id model.ID) (model.Record, error) {
		key := resourceKey{c, id}
		if settled, ok := s.settled[key]; ok && position >= settled.from {
			return settled.state, nil
		}
		state, from, err := s.tx.stateAtPosition(key, position, revision)
		if from >= 0 && err == nil {
			s.keep(key, settledState{from, state})
		}
		return state, s.tx.fault(err)
	}
}

// keep keeps a state, in place of all others if there is no room for it.
func (s *States) keep(key resourceKey, settled settledState) {
	if s.bytes += SizeOf(settled.state); s.bytes > mostSettled {
		clear(s.settled)
		s.bytes = SizeOf(settled.state)
	}
	s.settled[key] = settled
}

// stateAtPosition finds the state of a resource at a position. From is the position of its last
// change if there are none after the position, and else negative.
func (t *Tx) stateAtPosition(key resourceKey, position, revision int64) (state model.Record, from int64, err error) {
	number, id := model.IntValue(t.store.tables[key.collection].log.Number), model.IDValue(key.id)
	change := func(sql string, bound int64) (revision int64, kind ChangeKind, position int64, err error) {
		_, err = db.One(t.conn, func(row model.Row) {
			revision, kind, position = row.Int(0), ChangeKind(row.AppendText(nil, 1)), row.Int(2)
		}, sql, number, id, model.IntValue(bound))
		return revision, kind, position, err
	}
	last, lastKind, from, err := change("SELECT revision, kind, position FROM "+t.store.db.PositionedLog()+
		" AS log WHERE collection = $1 AND id = $2 AND position <= $3 ORDER BY position DESC LIMIT 1", position)
	if err != nil {
		return nil, 0, err
	}
	later, laterKind, _, err := change("SELECT revision, kind, 0 FROM "+db.ChangesTable+
		" WHERE collection = $1 AND id = $2 AND revision > $3 ORDER BY revision LIMIT 1", last)
	if err != nil {
		return nil, 0, err
	}
	current, err := t.Find(key.collection, key.id)
	switch {
	case err != nil:
		return nil, 0, err
	case later == 0 && lastKind == Deleted:
		state, err = t.deletedAt(key, last)
		return state, from, err
	case later == 0:
		return current, from, nil
	case lastKind == Deleted:
		// It was created again under the same id. What referred to it before has gone with it.
		state, err = t.deletedAt(key, last)
	case laterKind == Created:
		state, err = t.stateSince(key, later, later, current)
	default:
		state, err = t.stateSince(key, last, revision, current)
	}
	return state, -1, err
}

// deletedAt is the last state of a resource before a deletion.
func (t *Tx) deletedAt(key resourceKey, revision int64) (model.Record, error) {
	log := t.store.tables[key.collection].log
	record := log.blank(key.id)
	var previous []byte
	_, err := db.One(t.conn, func(row model.Row) { previous = row.AppendText(nil, 0) },
		"SELECT previous FROM "+db.ChangesTable+" WHERE collection = $1 AND id = $2 AND revision = $3", model.IntValue(log.Number), model.IDValue(key.id), model.IntValue(revision))
	if err != nil {
		return nil, err
	}
	return record, log.undo(record, revision, previous)
}
