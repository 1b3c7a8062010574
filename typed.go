package plural

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strconv"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/schema"
)

// Collection reads and writes a collection as values of T, without HTTP. It goes
// through the same validation, hooks and transactions as a request does, and Stop
// waits for it as for one. Its errors are Errors with the codes that a client
// would get, so far as they have any.
type Collection[T any] struct {
	server     *Server
	collection *schema.Collection
}

// Of gives typed access to the collection that a struct declares (see
// schema.Of). It panics when the server has no such collection.
func Of[T any](server *Server) *Collection[T] {
	name, err := schema.CollectionName(reflect.TypeFor[T]())
	if err != nil {
		panic("plural: " + err.Error())
	}
	c := server.config.Schema.Collection(name)
	if c == nil {
		panic(fmt.Sprintf("plural: the server has no collection %q for %s", name, reflect.TypeFor[T]()))
	}
	return &Collection[T]{server: server, collection: c}
}

// Create creates a resource and returns it as it is stored. Its id is minted if
// it is empty.
func (c *Collection[T]) Create(ctx context.Context, value T) (T, error) {
	return one(c, func() (resource.Resource, error) {
		input, err := c.input(value, schema.DecodeOptions{Mode: schema.Create})
		if err != nil {
			return resource.Resource{}, err
		}
		return c.server.resources.Create(ctx, c.path(), input)
	})
}

// CreateMany creates several resources, all or none.
func (c *Collection[T]) CreateMany(ctx context.Context, values []T) ([]T, error) {
	all := make([]T, len(values))
	err := c.server.call(func() error {
		inputs, err := c.inputs(values)
		if err != nil {
			return err
		}
		created, err := c.server.resources.CreateMany(ctx, c.path(), inputs)
		if err != nil {
			return err
		}
		for i, each := range created {
			if err := json.Unmarshal(each.Representation, &all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Read reads one resource.
func (c *Collection[T]) Read(ctx context.Context, id string) (T, error) {
	return one(c, func() (resource.Resource, error) {
		_, key, err := find(c.server.config.Schema, c.collection.Name, id)
		if err != nil {
			return resource.Resource{}, err
		}
		return c.server.resources.Read(ctx, c.path(), key)
	})
}

// Replace gives every attribute of a resource the value of the struct.
func (c *Collection[T]) Replace(ctx context.Context, id string, value T) (T, error) {
	return one(c, func() (resource.Resource, error) {
		_, key, err := find(c.server.config.Schema, c.collection.Name, id)
		if err != nil {
			return resource.Resource{}, err
		}
		input, err := c.input(value, schema.DecodeOptions{Mode: schema.Replace, ID: key})
		if err != nil {
			return resource.Resource{}, err
		}
		return c.server.resources.Update(ctx, c.path(), key, input)
	})
}

// Patch changes the attributes that are given, by their names.
func (c *Collection[T]) Patch(ctx context.Context, id string, attributes map[string]any) (T, error) {
	return one(c, func() (resource.Resource, error) {
		_, key, err := find(c.server.config.Schema, c.collection.Name, id)
		if err != nil {
			return resource.Resource{}, err
		}
		input, err := decode(c.collection, schema.DecodeOptions{Mode: schema.Patch, ID: key}, attributes)
		if err != nil {
			return resource.Resource{}, err
		}
		return c.server.resources.Update(ctx, c.path(), key, input)
	})
}

// Delete deletes a resource and returns it as it last was.
func (c *Collection[T]) Delete(ctx context.Context, id string) (T, error) {
	return one(c, func() (resource.Resource, error) {
		_, key, err := find(c.server.config.Schema, c.collection.Name, id)
		if err != nil {
			return resource.Resource{}, err
		}
		return c.server.resources.Delete(ctx, c.path(), key)
	})
}

// List goes through a range of the collection, from one snapshot, row by row. The
// range, filters and sort are those of a URL: "filter[active]&limit=-10". An error
// is the last thing it gives.
//
// The loop holds a connection to the database until it ends. A loop inside of it
// needs another one, and there are not many: where loops wait for each other's,
// they fail after five seconds with the code unavailable. Read the outer range
// into a slice first if many run at once.
func (c *Collection[T]) List(ctx context.Context, parameters string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := c.server.call(func() error { return c.each(ctx, parameters, yield) })
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// each hands the resources of a range to yield, until it wants no more.
func (c *Collection[T]) each(ctx context.Context, parameters string, yield func(T, error) bool) error {
	q, err := query.Parse(c.collection, parameters, query.Limits{DefaultLimit: c.server.config.DefaultLimit})
	if err != nil {
		return err
	}
	listing, err := c.server.resources.List(ctx, c.path(), q, false)
	if err != nil {
		return err
	}
	defer listing.Close()
	if err := listing.Extend(); err != nil { // the program takes its time
		return err
	}
	for {
		if c.server.isAbandoned() {
			return errStopped
		}
		row, err := listing.Next()
		if err != nil || row == nil {
			return err
		}
		var value T
		if err := json.Unmarshal(c.collection.Append(nil, row), &value); err != nil {
			return err
		}
		if !yield(value, nil) {
			return nil
		}
	}
}

// Total is the number of resources in the collection.
func (c *Collection[T]) Total(ctx context.Context) (total int64, err error) {
	err = c.server.call(func() error {
		totals, err := c.server.resources.Totals(ctx, nil, []*schema.Collection{c.collection})
		if err == nil {
			total = *totals[0]
		}
		return err
	})
	return total, err
}

// one calls a verb and reads what it returns into a value.
func one[T any](c *Collection[T], verb func() (resource.Resource, error)) (value T, err error) {
	err = c.server.call(func() error {
		result, err := verb()
		if err == nil {
			err = json.Unmarshal(result.Representation, &value)
		}
		return err
	})
	return value, err
}

func (c *Collection[T]) path() resource.Path { return resource.Path{Collection: c.collection} }

// inputs turns values into the inputs of a verb, or says all that is wrong with
// them, each in its place.
func (c *Collection[T]) inputs(values []T) ([]schema.Input, error) {
	inputs := make([]schema.Input, len(values))
	var faults fault.List
	for i, value := range values {
		input, err := c.input(value, schema.DecodeOptions{Mode: schema.Create})
		inputs[i] = input
		if err == nil {
			continue
		}
		if invalid := (*fault.Error)(nil); !errors.As(err, &invalid) {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		for _, each := range below("/"+strconv.Itoa(i), fault.From(err)) {
			faults.Add(each)
		}
	}
	return inputs, faults.Err()
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
	if id := string(members["id"]); id == `""` || id == "null" || options.Mode != schema.Create {
		delete(members, "id")
	}
	return decode(c.collection, options, members)
}
