package feed

import (
	"strconv"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// mayFollow reports whether a caller is told of changes in a collection by the change log.
// Operations are no part of it.
func mayFollow(by *auth.Permit, c *model.Collection) bool {
	return !c.ReadOnly() && by.May(schema.MayChanges, c)
}

// showsCaller reports whether events say who made a change.
func showsCaller(by *auth.Permit, c *model.Collection) bool { return by.May(schema.MayChanges, c) }

// item is an event with its place in the log.
type item struct {
	number      int64
	revision    int64
	transaction uint64
	event       Event
	effect      effect
}

// effect is what an item does to a stream besides its event.
type effect uint8

const (
	noEffect    effect = iota
	endsDeleted        // the stream ends: its resource was deleted
	endsLeft           // the stream ends: its resource is not visible any more
	beginsAgain        // there is no event: the stream begins again with a snapshot
	unreadable         // the same, as the change cannot be read; a stream of the change log itself fails
)

// view is a shape that is ready to match changes. It is immutable.
type view struct {
	Shape
	fingerprint fingerprint
	collection  *model.Collection // nil: the change log
	scope       query.Filter      // of the path, the caller and the request; nil: all
	visible     model.ColumnSet
	showsCaller bool
	schema      *model.Schema
	signer      signer
	narrow      narrowed // what must be read of the log
}

// newView makes a view of a shape, whose canonical text is given.
func (f *Feed) newView(s Shape, canonical []byte) *view {
	c := s.Path.Collection
	v := &view{Shape: s, fingerprint: fingerprintOf(canonical), collection: c, schema: f.store.Schema(), signer: f.signer}
	if c == nil {
		v.scope, v.narrow = s.Filter, narrow(v.schema, s.Filter)
		return v
	}
	v.scope = query.Both(query.Both(s.Path.Scope(), s.Filter), ofID(s.ID))
	v.visible = s.Path.By.Visible(c)
	v.showsCaller = showsCaller(s.Path.By, c)
	if v.parents() == nil {
		v.narrow = narrowed{collection: c, id: s.ID}
	}
	return v
}

// ofID is the filter of one resource; nil: all.
func ofID(id *model.ID) query.Filter {
	if id == nil {
		return nil
	}
	return query.Compare{Column: model.IDColumn, Op: query.Equal, Value: model.IDValue(*id)}
}

// parents is the collection of the parent in the path, nil if there is none.
func (v *view) parents() *model.Collection {
	if v.Path.Parent == nil {
		return nil
	}
	return v.collection.ParentLink().To
}

func (v *view) sees(record model.Record) bool {
	return record != nil && (v.scope == nil || v.scope.Match(record))
}

// match appends what subscribers are told of a change, if anything.
func (v *view) match(items []item, history model.ID, e *store.LogEntry) []item {
	event, effect, ok := v.event(history, e)
	if !ok {
		return items
	}
	if effect != beginsAgain && effect != unreadable {
		event.Position = v.signer.text(position{history: startOf(history), fingerprint: v.fingerprint, point: store.Point{Number: e.Position}})
	}
	return append(items, item{number: e.Position, revision: e.Revision, transaction: e.Transaction, event: event, effect: effect})
}

func (v *view) event(history model.ID, e *store.LogEntry) (event Event, effect effect, ok bool) {
	if e.Unreadable != nil {
		return Event{}, unreadable, v.concerns(e)
	}
	if v.collection == nil {
		event, ok = v.changeEvent(history, e)
		return event, noEffect, ok
	}
	if parents := v.parents(); parents != nil && e.Collection == parents && e.ID == *v.Path.Parent && v.parentChanged(e) {
		// The parent may be a child as well, if the collection is its own parent: a child cannot be
		// told of a change that ends the list.
		return Event{}, beginsAgain, true
	}
	if e.Collection != v.collection || v.ID != nil && e.ID != *v.ID {
		return Event{}, noEffect, false
	}
	before, after := v.sees(e.Before), v.sees(e.After)
	switch {
	case before && after:
		changed := v.collection.Differences(e.Before, e.After, v.visible)
		if changed == nil {
			return Event{}, noEffect, false
		}
		return v.resourceEvent(Updated, history, e, e.After, changed), noEffect, true
	case after && e.Before == nil:
		return v.resourceEvent(Created, history, e, e.After, nil), noEffect, true
	case after:
		return v.resourceEvent(Entered, history, e, e.After, nil), noEffect, true
	case before && e.After == nil:
		return v.resourceEvent(Deleted, history, e, e.Before, nil), v.ends(endsDeleted), true
	case before:
		data := v.appendIdentity([]byte(`{"data":`), e.ID)
		return Event{Kind: Left, ID: e.ID, Data: append(data, '}')}, v.ends(endsLeft), true
	}
	return Event{}, noEffect, false
}

// concerns reports whether subscribers may have to be told of a change, whatever it is.
func (v *view) concerns(e *store.LogEntry) bool {
	if v.collection == nil {
		return mayFollow(v.Path.By, e.Collection) && (v.Filter == nil || v.Filter.Match(e.Record(v.schema)))
	}
	if parents := v.parents(); parents != nil && e.Collection == parents && e.ID == *v.Path.Parent {
		return true
	}
	return e.Collection == v.collection && (v.ID == nil || e.ID == *v.ID)
}

// ends is the effect on the stream of one resource.
func (v *view) ends(effect effect) effect {
	if v.ID == nil {
		return noEffect
	}
	return effect
}

// parentChanged reports whether a change makes the parent appear or disappear for the caller.
func (v *view) parentChanged(e *store.LogEntry) bool {
	sees := func(record model.Record) bool { return record != nil && v.Path.By.Sees(e.Collection, record) }
	return sees(e.Before) != sees(e.After)
}

func (v *view) appendIdentity(dst []byte, id model.ID) []byte {
	dst = id.Append(append(dst, `{"id":"`...))
	dst = append(append(dst, `","type":"`...), v.collection.Name...)
	return append(dst, `"}`...)
}

// resourceEvent is the event of a change with a representation. Changed is the attributes whose
// former values it tells; nil: none.
func (v *view) resourceEvent(kind EventKind, history model.ID, e *store.LogEntry, shown model.Record, changed model.ColumnSet) Event {
	data := v.collection.AppendSome([]byte(`{"data":`), shown, v.visible)
	if changed != nil {
		data = v.collection.AppendAttributes(append(data, `,"previous":`...), e.Before, changed)
	}
	data = model.ChangeID(history, e.Position).Append(append(data, `,"change":{"id":"`...))
	data = appendCaller(append(data, `","by":`...), e, v.showsCaller)
	data = append(append(append(data, `,"at":"`...), e.At.Text()...), `","revision":`...)
	data = strconv.AppendInt(data, e.Revision, 10)
	return Event{Kind: kind, ID: e.ID, Data: append(data, "}}"...)}
}

// appendCaller appends who made a change, or null.
func appendCaller(dst []byte, e *store.LogEntry, shown bool) []byte {
	if e.Caller == "" || !shown {
		return append(dst, "null"...)
	}
	return model.AppendQuoted(dst, e.Caller)
}

// changeEvent is the event of a change in the change log itself, where it is a new resource.
func (v *view) changeEvent(history model.ID, e *store.LogEntry) (Event, bool) {
	data, ok := v.appendChange([]byte(`{"data":`), history, e)
	return Event{Kind: Created, ID: model.ChangeID(history, e.Position), Data: append(data, '}')}, ok
}

// appendChange appends a change as a resource, if the caller is told of it.
func (v *view) appendChange(dst []byte, history model.ID, e *store.LogEntry) ([]byte, bool) {
	if v.Filter != nil && !v.Filter.Match(e.Record(v.schema)) {
		return dst, false
	}
	return AppendChange(dst, history, v.Path.By, e)
}

// AppendChange appends the resource of type changes that tells a caller of a change. False means
// that the caller is told nothing: they may not read the change log of the collection, see
// neither the state before nor the one after, or no difference.
func AppendChange(dst []byte, history model.ID, by *auth.Permit, e *store.LogEntry) ([]byte, bool) {
	c := e.Collection
	if !mayFollow(by, c) {
		return dst, false
	}
	before, after := e.Before, e.After
	if before != nil && !by.Sees(c, before) {
		before = nil
	}
	if after != nil && !by.Sees(c, after) {
		after = nil
	}
	visible := by.Visible(c)
	var changed model.ColumnSet
	if before != nil && after != nil {
		changed = c.Differences(before, after, visible)
	}
	if before == nil && after == nil || before != nil && after != nil && changed == nil {
		return dst, false
	}
	dst = model.ChangeID(history, e.Position).Append(append(dst, `{"id":"`...))
	dst = append(append(dst, `","type":"changes","kind":"`...), e.Kind...)
	dst = e.ID.Append(append(dst, `","resource":{"id":"`...))
	dst = append(append(dst, `","type":"`...), c.Name...)
	dst = strconv.AppendInt(append(dst, `"},"revision":`...), e.Revision, 10)
	dst = appendCaller(append(dst, `,"by":`...), e, true)
	dst = append(dst, `,"previous":`...)
	switch {
	case before == nil:
		dst = append(dst, "null"...)
	case after == nil: // deleted or hidden; which attributes differ would tell something of a hidden state
		dst = c.AppendSome(dst, before, visible)
	default:
		dst = c.AppendAttributes(dst, before, changed)
	}
	dst = append(dst, `,"data":`...)
	if after == nil {
		dst = append(dst, "null"...)
	} else {
		dst = c.AppendSome(dst, after, visible)
	}
	dst = append(append(dst, `,"created_at":"`...), e.At.Text()...)
	return append(dst, `"}`...), true
}
