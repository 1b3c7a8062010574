package plural

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/params"
)

// UpdateMany changes the attributes that are given of all resources that the parameters select, in one
// transaction, and returns them in the order of the list. A filter, a search or a range is required.
func (c *Collection[T]) UpdateMany(ctx context.Context, changes any, given ...params.Param) ([]T, error) {
	return c.changeMany(ctx, http.MethodPatch, changes, given)
}

// DeleteMany deletes all resources that the parameters select, in one transaction, and returns them as they last
// were. A filter, a search or a range is required.
func (c *Collection[T]) DeleteMany(ctx context.Context, given ...params.Param) ([]T, error) {
	return c.changeMany(ctx, http.MethodDelete, nil, given)
}

func (c *Collection[T]) changeMany(ctx context.Context, method string, changes any, given []params.Param) ([]T, error) {
	q, err := wanted(given)
	if err != nil {
		return nil, err
	}
	if q.Shows() {
		return nil, callError(errors.New("a write has no Include and no Fields: it returns whole resources"))
	}
	selected := q.Encode()
	return c.values(c.send(ctx, write{Step: resource.Step{Method: method}, selected: &selected}, changes, nil))
}

// Upsert creates a resource, or changes the one that has the same id, or the same values of a unique attribute or of all
// attributes of a unique group, which onConflict names, with commas between them. The value is a struct or a map. A resource that exists is changed as by
// Update: only what the value has in JSON is changed.
func (c *Collection[T]) Upsert(ctx context.Context, onConflict string, value any) (stored T, created bool, err error) {
	body, err := c.members(value)
	if err != nil {
		return stored, false, callError(err)
	}
	results, err := c.send(ctx, write{Step: resource.Step{Method: http.MethodPost}, onConflict: &onConflict}, body, nil)
	if err != nil {
		return stored, false, err
	}
	stored, err = c.value(results[0])
	return stored, results[0].Created, err
}

// UpsertMany does the same with several values, all or none.
func (c *Collection[T]) UpsertMany(ctx context.Context, onConflict string, values []T) ([]T, error) {
	return c.writeMany(ctx, &onConflict, values)
}

// writeMany creates values, or upserts them.
func (c *Collection[T]) writeMany(ctx context.Context, onConflict *string, values []T) ([]T, error) {
	bodies := make([]map[string]json.RawMessage, len(values))
	for i, value := range values {
		body, err := c.members(value)
		if err != nil {
			return nil, callError(fmt.Errorf("value %d: %w", i, err))
		}
		bodies[i] = body
	}
	limits := resource.BodyLimits{Depth: c.depth, Items: max(1, len(values))}
	return c.values(c.send(ctx, write{Step: resource.Step{Method: http.MethodPost, BodyLimits: limits}, onConflict: onConflict}, bodies, nil))
}

// DryRun is a collection whose writes are checked with their hooks, and change nothing.
type DryRun[T any] struct{ collection *Collection[T] }

// DryRun returns the collection with writes that only report what they would do. It is not for transactions: a
// function that returns an error is a dry run by itself.
func (c *Collection[T]) DryRun() DryRun[T] { return DryRun[T]{c} }

// Trial is what a write would do.
type Trial[T any] struct {
	// Items are the resources as the write would leave them, or as they are if it would delete them.
	Items []T

	// Affected is how many resources of each collection the write would create, change or delete, with all that
	// follows from it, as far as the caller may see them.
	Affected map[string]int64
}

// Create reports what Collection.Create would do.
func (d DryRun[T]) Create(ctx context.Context, value T) (Trial[T], error) {
	return d.try(func(c *Collection[T]) ([]T, error) { return one(c.Create(ctx, value)) })
}

// CreateMany reports what Collection.CreateMany would do.
func (d DryRun[T]) CreateMany(ctx context.Context, values []T) (Trial[T], error) {
	return d.try(func(c *Collection[T]) ([]T, error) { return c.CreateMany(ctx, values) })
}

// Update reports what Collection.Update would do.
func (d DryRun[T]) Update(ctx context.Context, id string, changes any, conditions ...Condition) (Trial[T], error) {
	return d.try(func(c *Collection[T]) ([]T, error) { return one(c.Update(ctx, id, changes, conditions...)) })
}

// UpdateMany reports what Collection.UpdateMany would do.
func (d DryRun[T]) UpdateMany(ctx context.Context, changes any, given ...params.Param) (Trial[T], error) {
	return d.try(func(c *Collection[T]) ([]T, error) { return c.UpdateMany(ctx, changes, given...) })
}

// Replace reports what Collection.Replace would do.
func (d DryRun[T]) Replace(ctx context.Context, id string, value T, conditions ...Condition) (Trial[T], error) {
	return d.try(func(c *Collection[T]) ([]T, error) { return one(c.Replace(ctx, id, value, conditions...)) })
}

// Delete reports what Collection.Delete would do.
func (d DryRun[T]) Delete(ctx context.Context, id string, conditions ...Condition) (Trial[T], error) {
	return d.try(func(c *Collection[T]) ([]T, error) { return one(c.Delete(ctx, id, conditions...)) })
}

// DeleteMany reports what Collection.DeleteMany would do.
func (d DryRun[T]) DeleteMany(ctx context.Context, given ...params.Param) (Trial[T], error) {
	return d.try(func(c *Collection[T]) ([]T, error) { return c.DeleteMany(ctx, given...) })
}

// Upsert reports what Collection.Upsert would do.
func (d DryRun[T]) Upsert(ctx context.Context, onConflict string, value any) (Trial[T], error) {
	return d.try(func(c *Collection[T]) ([]T, error) {
		stored, _, err := c.Upsert(ctx, onConflict, value)
		return one(stored, err)
	})
}

// UpsertMany reports what Collection.UpsertMany would do.
func (d DryRun[T]) UpsertMany(ctx context.Context, onConflict string, values []T) (Trial[T], error) {
	return d.try(func(c *Collection[T]) ([]T, error) { return c.UpsertMany(ctx, onConflict, values) })
}

func one[T any](value T, err error) ([]T, error) { return []T{value}, err }

func (d DryRun[T]) try(run func(*Collection[T]) ([]T, error)) (Trial[T], error) {
	server, ok := d.collection.backend.(*Server)
	if !ok {
		return Trial[T]{}, callError(errors.New("a transaction has no dry runs: return an error from its function to undo it"))
	}
	dry := &dryRun{Server: server, affected: map[string]int64{}}
	c := *d.collection
	c.backend = dry
	items, err := run(&c)
	if err != nil {
		return Trial[T]{}, err
	}
	return Trial[T]{Items: items, Affected: dry.affected}, nil
}
