package feed

import (
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// openHistory reads the state of the resource, nil if there is none or the caller does not see it, and finds whether the log
// still has the beginning of the history.
func (c *Changes) openHistory(tx *store.Tx, bounds changelog.Bounds) (model.Record, error) {
	path, id := c.request.Path, c.request.ID
	if err := path.RequireParent(reads.Stored(tx)); fault.Is(err, problem.CodeNotFound) {
		return nil, fault.New(problem.CodeNotFound, "%s Without its parent a resource has its history in its own collection: %s/%s/changes.",
			fault.From(err)[0].Detail, path.Collection.Name, id)
	} else if err != nil {
		return nil, err
	}
	oldest, _, _, err := tx.Log(changelog.Query{Collection: path.Collection.Base(), ID: &id, Most: 1})
	if err != nil {
		return nil, err
	}
	if c.floor > 0 && (len(oldest) == 0 || oldest[0].Kind != changelog.Created) {
		c.CutAt = bounds.FloorAt
	}
	state, err := tx.Get(path.Collection, nil, id)
	if err != nil || state == nil {
		return nil, err
	}
	if sees, err := path.By.Sees(path.Collection, state, tx.FindLast); err != nil || !sees {
		return nil, err
	}
	return state, nil
}

// checkHistory returns 404 if the caller sees no state of the resource, or the last one that they see is below another parent:
// where it is while it is hidden is not shown. The state is the current one; nil: the last one is found in the log.
func (c *Changes) checkHistory(state model.Record) error {
	path := c.request.Path
	if state == nil {
		unfiltered := *c
		unfiltered.request.Query = query.Query{}
		back := unfiltered.walkBack(c.End + 1)
		change, err := back.next()
		switch {
		case err != nil:
			return err
		case change == nil:
		case change.Unreadable != nil:
			return errUnreadable(c.id(change.Number), change.Unreadable)
		default:
			state = change.shown()
		}
	}
	if state == nil || path.Parent != nil && state[path.Collection.ParentLink().Column] != model.IDValue(*path.Parent) {
		return reads.NotFound(path.Collection, c.request.ID)
	}
	return nil
}
