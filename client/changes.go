package client

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/plural-go/plural/params"
)

// Change is a change in the change log, with the resource before and after it.
type Change[T any] struct {
	ID        string    `json:"id"`
	Kind      EventKind `json:"kind"` // EventCreated, EventUpdated or EventDeleted
	Resource  Reference `json:"resource"`
	Revision  int64     `json:"revision"`
	By        string    `json:"by"` // who made it; empty without access control
	CreatedAt time.Time `json:"created_at"`

	// Previous has the former values of the attributes that an update has changed. If the resource was deleted, or is
	// hidden since the change, it has all attributes. Nil: the resource was created, or was hidden before.
	Previous map[string]json.RawMessage `json:"previous"`

	// Data is the resource after the change. Nil: it was deleted, or is hidden.
	Data *T `json:"data"`
}

// Reference is the id and the collection of a resource.
type Reference struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// Changes reads the change log, or the history of one resource, in the order of the changes. Filters are on
// "collection", "resource.id", "kind", "by" and "created_at". There are no other fields, no Offset and no sort.
// A range begins at a Cursor, which is the id of a change and inclusive, or after a Since.
type Changes[T any] struct {
	list *Collection[Change[T]]
	log  *Collection[Change[T]] // in which each change is found by its id
}

// Changes is the change log of all collections. It needs the access verb changes.
//
//	for change, err := range c.Changes().All(ctx, params.Where("collection").Is("users"), params.Where("kind").Is("deleted")) {
//		…
//	}
func (c *Client) Changes() *Changes[json.RawMessage] {
	log := Of[Change[json.RawMessage]](c, changesName)
	return &Changes[json.RawMessage]{log, log}
}

// History is the changes of one resource of a collection, also after it was deleted. Below a parent it needs that
// parent to exist; the history of a resource whose parent was deleted is that of the collection without Under.
//
//	for change, err := range client.History(users, ada.ID).All(ctx) {
//		…
//	}
func History[T any](c *Collection[T], id string) *Changes[T] {
	history := &Collection[Change[T]]{client: c.client, name: changesName, path: c.path + "/" + id + "/" + changesName, err: cmp.Or(c.err, checkID(id))}
	return &Changes[T]{history, Of[Change[T]](c.client, changesName)}
}

const changesName = "changes"

// List reads a range of the changes into memory: the oldest hundred, unless Limit, Cursor or Since says otherwise.
// Limit(-5) is the latest five. Page.Position continues after the page, by Since.
func (c *Changes[T]) List(ctx context.Context, given ...params.Param) (*Page[Change[T]], error) {
	return c.list.List(ctx, given...)
}

// All goes through the changes from the oldest to the latest that there is, as Collection.All does.
func (c *Changes[T]) All(ctx context.Context, given ...params.Param) iter.Seq2[Change[T], error] {
	return c.list.All(ctx, given...)
}

// Backward goes through the changes from the latest to the oldest, as Collection.Backward does.
func (c *Changes[T]) Backward(ctx context.Context, given ...params.Param) iter.Seq2[Change[T], error] {
	return c.list.Backward(ctx, given...)
}

// Get reads one change by its id.
func (c *Changes[T]) Get(ctx context.Context, id string) (Change[T], error) {
	resource, err := c.log.Get(ctx, id)
	return resource.Value, err
}

// Watch returns the stored changes as EventListed, then EventSynced, and then every new change as EventCreated. FromNow and Since
// leave out stored changes. See Collection.Watch.
func (c *Changes[T]) Watch(ctx context.Context, given ...params.Param) iter.Seq2[Event[Change[T]], error] {
	return c.list.Watch(ctx, given...)
}
