package feed

import (
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// openHistory returns 404 for the history of a resource of which the caller sees no state, or the last one that they see is below
// another parent: where it is while it is hidden is not shown.
func (c *Changes) openHistory(tx *store.Tx, bounds changelog.Bounds) error {
	path, id := c.request.Path, c.request.ID
	if err := path.RequireParent(tx); fault.Is(err, problem.CodeNotFound) {
		return fault.New(problem.CodeNotFound, "%s Without its parent a resource has its history in its own collection: %s/%s/changes.",
			fault.From(err)[0].Detail, path.Collection.Name, id)
	} else if err != nil {
		return err
	}
	state, err := c.lastSeen(tx)
	if err != nil {
		return err
	}
	if state == nil || path.Parent != nil && state[path.Collection.ParentLink().Column] != model.IDValue(*path.Parent) {
		return resource.NotFound(path.Collection, id)
	}
	oldest, _, _, err := tx.Log(changelog.Query{Collection: path.Collection, ID: &id, Most: 1})
	if c.floor > 0 && (len(oldest) == 0 || oldest[0].Kind != changelog.Created) {
		c.CutAt = bounds.FloorAt
	}
	return err
}

// lastSeen finds the last state of the resource that the caller sees, nil if there is none.
func (c *Changes) lastSeen(tx *store.Tx) (model.Record, error) {
	path := c.request.Path
	state, err := tx.Get(path.Collection, nil, c.request.ID)
	if err == nil && state != nil {
		var seen bool
		if seen, err = path.By.Sees(path.Collection, state, tx.FindLast); seen || err != nil {
			return state, err
		}
	}
	if err != nil {
		return nil, err
	}
	unfiltered := *c
	unfiltered.request.Query = query.Query{}
	back := unfiltered.walkBack(c.End + 1)
	change, err := back.next()
	if err != nil || change == nil {
		return nil, err
	}
	if err := change.Unreadable; err != nil {
		return nil, errUnreadable(c.id(change.Position), err)
	}
	return change.shown(), nil
}
