package plural

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"

	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/schema"
)

// Collection reads and writes a collection as values of T, without HTTP. It goes
// through the same validation, hooks and transactions as a request does, and its
// errors are Errors with the codes that a client would get.
type Collection[T any] struct {
	server     *Server
	collection *schema.Collection
}

// Of gives typed access to the collection that a struct declares (see
// schema.Of). It panics when the server has no such collection.
func Of[T any](server *Server) *Collection[T] {
	name := schema.CollectionName(reflect.TypeFor[T]())
	c := server.config.Schema.Collection(name)
	if c == nil {
		panic(fmt.Sprintf("plural: the server has no collection %q for %s", name, reflect.TypeFor[T]()))
	}
	return &Collection[T]{server: server, collection: c}
}

// Create creates a resource and returns it as it is stored. Its id is minted if
// it is empty.
func (c *Collection[T]) Create(ctx context.Context, value T) (T, error) {
	input, err := c.input(value, schema.DecodeOptions{Mode: schema.Create})
	if err != nil {
		return c.none(err)
	}
	return c.typed(c.server.resources.Create(ctx, c.path(), input))
}

// CreateMany creates several resources, all or none.
func (c *Collection[T]) CreateMany(ctx context.Context, values []T) ([]T, error) {
	inputs := make([]schema.Input, len(values))
	for i, value := range values {
		input, err := c.input(value, schema.DecodeOptions{Mode: schema.Create})
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		inputs[i] = input
	}
	created, err := c.server.resources.CreateMany(ctx, c.path(), inputs)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(created))
	for i, each := range created {
		if all[i], err = c.typed(each, nil); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Read reads one resource.
func (c *Collection[T]) Read(ctx context.Context, id string) (T, error) {
	_, key, err := find(c.server.config.Schema, c.collection.Name, id)
	if err != nil {
		return c.none(err)
	}
	return c.typed(c.server.resources.Read(ctx, c.path(), key))
}

// Replace gives every attribute of a resource the value of the struct.
func (c *Collection[T]) Replace(ctx context.Context, id string, value T) (T, error) {
	_, key, err := find(c.server.config.Schema, c.collection.Name, id)
	if err != nil {
		return c.none(err)
	}
	input, err := c.input(value, schema.DecodeOptions{Mode: schema.Replace, ID: key})
	if err != nil {
		return c.none(err)
	}
	return c.typed(c.server.resources.Update(ctx, c.path(), key, input))
}

// Patch changes the attributes that are given, by their names.
func (c *Collection[T]) Patch(ctx context.Context, id string, attributes map[string]any) (T, error) {
	_, key, err := find(c.server.config.Schema, c.collection.Name, id)
	if err != nil {
		return c.none(err)
	}
	input, err := decode(c.collection, schema.DecodeOptions{Mode: schema.Patch, ID: key}, attributes)
	if err != nil {
		return c.none(err)
	}
	return c.typed(c.server.resources.Update(ctx, c.path(), key, input))
}

// Delete deletes a resource and returns it as it last was.
func (c *Collection[T]) Delete(ctx context.Context, id string) (T, error) {
	_, key, err := find(c.server.config.Schema, c.collection.Name, id)
	if err != nil {
		return c.none(err)
	}
	return c.typed(c.server.resources.Delete(ctx, c.path(), key))
}

// List goes through a range of the collection, from one snapshot, row by row. The
// range, filters and sort are those of a URL: "filter[active]&limit=-10". An error
// is the last thing it gives.
func (c *Collection[T]) List(ctx context.Context, parameters string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		fail := func(err error) { yield(c.none(err)) }
		q, err := query.Parse(c.collection, parameters, query.Limits{DefaultLimit: c.server.config.DefaultLimit})
		if err != nil {
			fail(err)
			return
		}
		listing, err := c.server.resources.List(ctx, c.path(), q, false)
		if err != nil {
			fail(err)
			return
		}
		defer listing.Close()
		for {
			row, err := listing.Next()
			if err != nil {
				fail(err)
				return
			}
			if row == nil || !yield(c.typed(resource.Resource{Representation: c.collection.Append(nil, row)}, nil)) {
				return
			}
		}
	}
}

// Total is the number of resources in the collection.
func (c *Collection[T]) Total(ctx context.Context) (int64, error) {
	totals, err := c.server.resources.Totals(ctx, []*schema.Collection{c.collection})
	if err != nil {
		return 0, err
	}
	return totals[0], nil
}

func (c *Collection[T]) path() resource.Path { return resource.Path{Collection: c.collection} }

func (c *Collection[T]) none(err error) (T, error) {
	var zero T
	return zero, err
}

// typed reads what a verb returned into a value.
func (c *Collection[T]) typed(result resource.Resource, err error) (T, error) {
	var value T
	if err == nil {
		err = json.Unmarshal(result.Representation, &value)
	}
	return value, err
}

// input turns a value into the input of a verb. What the server sets is left
// out, and so is an id that is empty.
func (c *Collection[T]) input(value T, options schema.DecodeOptions) (schema.Input, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return schema.Input{}, err
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &members); err != nil {
		return schema.Input{}, err
	}
	delete(members, "type")
	delete(members, "created_at")
	delete(members, "updated_at")
	if string(members["id"]) == `""` || options.Mode != schema.Create {
		delete(members, "id")
	}
	return decode(c.collection, options, members)
}
