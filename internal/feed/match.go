package feed

import (
	"cmp"
	"strconv"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/schema"
)

// mayFollow reports whether the change log shows a caller the changes of a collection of their version.
// Operations are no part of it.
func mayFollow(by *auth.Permit, c *model.Collection) bool {
	return !c.ReadOnly() && by.May(schema.MayChanges, c)
}

// showsCaller reports whether events say who made a change.
func showsCaller(by *auth.Permit, c *model.Collection) bool { return by.May(schema.MayChanges, c) }

// effect is what a change does to a stream besides its event.
type effect uint8

const (
	noEffect    effect = iota
	endsDeleted        // the stream ends: its resource was deleted
	endsLeft           // the stream ends: its resource is not visible any more
	beginsAgain        // there is no event: the stream begins again with a snapshot
	unreadable         // the same, as the change cannot be read; a stream of the change log itself fails
	leftOut            // there may be an event, which each subscription reads from the database
)

// view is a shape that is ready to match changes. It is immutable.
type view struct {
	Shape
	fingerprint fingerprint
	collection  *model.Collection // of the version; nil: the change log
	scope       query.Filter      // of the path, the caller and the request; nil: all
	visible     model.ColumnSet
	showsCaller bool
	signer      signer
	narrow      narrowed // what must be read of the log
	conditions  int      // what the conditions cost for a state of a resource, see query.ConditionsWork

	// related is the conditions on other resources in the rules that decide what is seen. When a change of
	// one of these changes what is seen, nobody knows which resources that concerns.
	related []*query.Related
}

// newView makes a view of a shape, whose canonical text is given.
func (f *Feed) newView(s Shape, canonical []byte) *view {
	c := s.Path.Collection
	v := &view{Shape: s, fingerprint: fingerprintOf(canonical), collection: c, signer: f.signer}
	v.Schema = cmp.Or(s.Schema, f.store.Schema())
	if c == nil {
		v.scope, v.narrow = s.Filter, narrow(v.Schema, s.Filter)
		v.conditions = query.ConditionsWork(v.scope) + query.Work(v.scope, make(model.Record, len(v.Schema.Changes().Columns())))
		return v
	}
	v.scope = query.Both(query.Both(s.Path.Scope(), s.Filter), ofID(s.ID))
	v.conditions = query.ConditionsWork(v.scope)
	v.scope = query.SharingWords(v.scope, f.words.of)
	v.visible = s.visible()
	v.showsCaller = showsCaller(s.Path.By, c)
	query.EachRelated(v.scope, func(r *query.Related) { v.related = append(v.related, r) })
	if parents := v.parents(); parents != nil {
		query.EachRelated(s.Path.By.Scope(parents), func(r *query.Related) { v.related = append(v.related, r) })
	} else if len(v.related) == 0 {
		v.narrow = narrowed{collection: c.Base(), id: s.ID}
	}
	return v
}

// visible is the columns of the collection that subscribers see.
func (s *Shape) visible() model.ColumnSet {
	if s.Fields != nil {
		return s.Fields
	}
	return s.Path.By.Visible(s.Path.Collection)
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

func (v *view) sees(record model.Record, find query.Lookup) (bool, error) {
	if record == nil {
		return false, nil
	}
	return query.Holds(v.scope, record, find)
}

// work is what it costs to match changes, see query.Work. As soon as it is known to be more than a number, it is not added up any
// further, as that takes time too.
func (v *view) work(entries []changelog.Entry, most int) (work int) {
	for _, costOf := range []func(*changelog.Entry) int{v.workOfConditions, v.workOfTexts} {
		for i := range entries {
			if work += costOf(&entries[i]); work > most {
				return work
			}
		}
	}
	return work
}

func (v *view) workOfConditions(e *changelog.Entry) (work int) {
	switch {
	case v.collection == nil:
		return v.conditions // which are on the change, whose texts are short
	case !v.isAbout(e) || e.Unreadable != nil:
		return 0
	}
	for _, state := range []model.Record{e.Before, e.After} {
		if state != nil {
			work += v.conditions
		}
	}
	return work
}

func (v *view) workOfTexts(e *changelog.Entry) int {
	if !v.isAbout(e) || e.Unreadable != nil {
		return 0
	}
	return query.Work(v.scope, e.Before) + query.Work(v.scope, e.After)
}

// isAbout reports whether a change is one of a resource of the shape, apart from filters.
func (v *view) isAbout(e *changelog.Entry) bool {
	return v.collection != nil && e.Collection == v.collection.Base() && (v.ID == nil || e.ID == *v.ID)
}

// match appends the events of a change, if there are any. Those with more than a number of bytes are left out,
// if that is not zero.
func (v *view) match(events []Event, history model.ID, e *changelog.Entry, states *changelog.States, most int) ([]Event, error) {
	if e.Unreadable != nil {
		if v.concerns(e) {
			events = append(events, Event{effect: unreadable}.of(e))
		}
		return events, nil
	}
	if why, err := v.whyBeginAgain(e, states); err != nil {
		return events, err
	} else if why != "" {
		// The resource that has changed may be one of the list as well, if the collection is its own
		// parent: the list cannot be told of a change that ends it.
		return append(events, Event{effect: beginsAgain, why: why}.of(e)), nil
	}
	event, ok, err := v.event(history, e, states, most)
	if err != nil || !ok {
		return events, err
	}
	event.Position = v.signer.text(position{history: tailOf(history), fingerprint: v.fingerprint, point: changelog.Point{Number: e.Number}})
	return append(events, event.of(e)), nil
}

// matchOrUnreadable is match, but treats a change as unreadable if a rule reads, through a reference, a state that cannot be
// read.
func (f *Feed) matchOrUnreadable(v *view, events []Event, history model.ID, e *changelog.Entry, states *changelog.States, most int) ([]Event, error) {
	matched, err := v.match(events, history, e, states, most)
	if changelog.IsUnreadable(err) {
		f.options.Failed(err)
		return append(events, Event{effect: unreadable}.of(e)), nil
	}
	return matched, err
}

// whyBeginAgain returns why a change of another resource makes the stream begin again; empty: it does not.
func (v *view) whyBeginAgain(e *changelog.Entry, states *changelog.States) (why resetReason, err error) {
	if v.isParent(e) {
		before, after, err := sees(v.Path.By, e, states)
		if err != nil || before != after {
			return parentMoved, err
		}
	}
	if e.Before == nil || e.After == nil {
		return "", nil // nothing refers to a resource that is created or deleted
	}
	if changed, err := v.changesOthers(e, states); err != nil || changed {
		return relatedChanged, err
	}
	return "", nil
}

// isParent reports whether a change is one of the parent in the path.
func (v *view) isParent(e *changelog.Entry) bool {
	parents := v.parents()
	return parents != nil && e.Collection == parents.Base() && e.ID == *v.Path.Parent
}

// concerns reports whether a change may concern subscribers, whatever it is.
func (v *view) concerns(e *changelog.Entry) bool {
	if v.collection == nil {
		return mayFollow(v.Path.By, v.Schema.Of(e.Collection)) && (v.Filter == nil || v.Filter.Match(e.Record(v.Schema)))
	}
	return v.isParent(e) || v.isAbout(e) || v.readsRelated(e.Collection)
}

func (v *view) event(history model.ID, e *changelog.Entry, states *changelog.States, most int) (event Event, ok bool, err error) {
	if v.collection == nil {
		return v.changeEvent(history, e, states, most)
	}
	if !v.isAbout(e) {
		return Event{}, false, nil
	}
	before, err := v.sees(e.Before, states.Before(e))
	if err != nil {
		return Event{}, false, err
	}
	after, err := v.sees(e.After, states.After(e))
	if err != nil {
		return Event{}, false, err
	}
	kind, shown, changed, effect := Updated, e.After, model.ColumnSet(nil), noEffect
	switch {
	case before && after:
		if changed = v.collection.Differences(e.Before, e.After, v.visible); changed == nil {
			return Event{}, false, nil
		}
	case after && e.Before == nil:
		kind = Created
	case after:
		kind = Entered
	case before && e.After == nil:
		kind, shown, effect = Deleted, e.Before, v.ends(endsDeleted)
	case before:
		data := v.appendIdentity([]byte(`{"data":`), e.ID)
		return Event{Kind: Left, ID: e.ID, Data: append(data, '}'), effect: v.ends(endsLeft)}, true, nil
	default:
		return Event{}, false, nil
	}
	if isLarger(shown, v.visible, most) {
		return Event{effect: leftOut}, true, nil
	}
	event = v.resourceEvent(kind, history, e, shown, changed)
	event.effect = effect
	return event, true, nil
}

// isLarger reports whether the representation of a resource surely has more than a number of bytes, if that is not zero.
func isLarger(shown model.Record, visible model.ColumnSet, most int) bool {
	return most > 0 && shown.TextSizeOf(visible) > most
}

// ends is the effect on the stream of one resource.
func (v *view) ends(effect effect) effect {
	if v.ID == nil {
		return noEffect
	}
	return effect
}

func (v *view) appendIdentity(dst []byte, id model.ID) []byte {
	dst = id.Append(append(dst, `{"id":"`...))
	dst = append(append(dst, `","type":"`...), v.collection.Name...)
	return append(dst, `"}`...)
}

// resourceEvent is the event of a change with a representation. Changed is the attributes whose
// former values it shows; nil: none.
func (v *view) resourceEvent(kind EventKind, history model.ID, e *changelog.Entry, shown model.Record, changed model.ColumnSet) Event {
	data := v.collection.AppendSome([]byte(`{"data":`), shown, v.visible)
	if changed != nil {
		data = v.collection.AppendAttributes(append(data, `,"previous":`...), e.Before, changed)
	}
	data = model.ChangeID(history, e.Number).Append(append(data, `,"change":{"id":"`...))
	data = appendCaller(append(data, `","by":`...), e, v.showsCaller)
	data = append(append(append(data, `,"at":"`...), e.At.Text()...), `","revision":`...)
	data = strconv.AppendInt(data, e.Revision, 10)
	if e.Traceparent != "" {
		data = append(append(append(data, `,"traceparent":"`...), e.Traceparent...), '"')
	}
	return Event{Kind: kind, ID: e.ID, Data: append(data, "}}"...)}
}

// appendCaller appends who made a change, or null.
func appendCaller(dst []byte, e *changelog.Entry, shown bool) []byte {
	if e.Caller == "" || !shown {
		return append(dst, "null"...)
	}
	return model.AppendQuoted(dst, e.Caller)
}

// changeEvent is the event of a change in the change log itself, where it is a new resource. False means
// that the caller does not see it.
func (v *view) changeEvent(history model.ID, e *changelog.Entry, states *changelog.States, most int) (event Event, ok bool, err error) {
	if !v.concerns(e) {
		return Event{}, false, nil
	}
	seen, ok, err := seenBy(v.Path.By, v.Schema, e, states)
	if err != nil || !ok {
		return Event{}, false, err
	}
	if isLarger(seen.shown(), v.Path.By.Visible(seen.collection), most) {
		return Event{effect: leftOut}, true, nil
	}
	event, err = seen.event(Created, history, v.Path.By)
	return event, err == nil, err
}
