package plural

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/schema"
)

// Collection reads and writes a collection as values of T, without HTTP. It has the same
// validation, hooks and transactions as a request, with the rights of the caller of the
// context (see WithCaller), and Stop waits for it as for a request. Its errors are Errors with
// the codes that a client would get, if they have any.
//
// A string field of T with the tags `json:"-" plural:"etag"` has the ETag of what is read. Fields with the tag
// plural:"related" are for Include.
type Collection[T any] struct {
	backend    backend // a Server or a Tx
	collection *model.Collection
	limit      int64    // of a list
	depth      int      // of a body
	etag       []int    // index of the field, nil if there is none
	related    []string // members that are no attributes: see Include
}

// backend executes the calls of a Collection. What is wanted is a query string, and the limit is for one that has none.
type backend interface {
	get(ctx context.Context, c *model.Collection, id model.ID, wanted string) (reads.Resource, error)
	list(ctx context.Context, c *model.Collection, wanted string, limit int64, visit func(reads.Resource) error) error
	count(ctx context.Context, c *model.Collection, wanted string) (int64, error)
	do(ctx context.Context, request write) ([]reads.Resource, error)
}

// write is a write as a client would send it. What depends on the rights of the caller is added by resolve.
type write struct {
	resource.Step
	selected   *string // query string of the resources to change; nil: one
	onConflict *string // attributes of a unique group; nil: no upsert
}

// resolve adds what depends on the rights of the caller: the range, and the unique group of an upsert.
func (w write) resolve(limits query.Limits) (step resource.Step, err error) {
	step = w.Step
	if w.selected != nil {
		q, err := query.Parse(query.OfRange, step.Path.Collection, *w.selected, limits)
		if err != nil {
			return step, err
		}
		step.Range = &q
	}
	if w.onConflict != nil {
		q, err := query.Parse(query.OfCreate, step.Path.Collection, "on_conflict="+url.QueryEscape(*w.onConflict), limits)
		if err != nil {
			return step, err
		}
		step.Conflict = q.OnConflict
	}
	return step, nil
}

// Of gives typed access to the collection that a struct declares (see schema.Of). It is an
// error if the struct declares none, if the server has no such collection, or if the collection has
// no attribute for a field, or one of another type.
func Of[T any](server *Server) (*Collection[T], error) {
	declared, err := schema.Of[T]()
	if err != nil {
		return nil, err
	}
	t := reflect.TypeFor[T]()
	c := server.store.Schema().Collection(declared.Name)
	if c == nil {
		return nil, fmt.Errorf("the server has no collection %q for %s", declared.Name, t)
	}
	var wrong []error
	for _, attribute := range declared.Attributes {
		wrong = append(wrong, checkAttribute(c, attribute.Name, model.Type(attribute.Type), t))
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	of := &Collection[T]{backend: server, collection: c, limit: server.config.DefaultLimit, depth: server.config.MaxDepth}
	for _, field := range reflect.VisibleFields(t) {
		switch {
		case len(field.Index) == 1 && field.Tag.Get("plural") == "etag":
			of.etag = field.Index
		case field.Tag.Get("plural") == "related":
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			of.related = append(of.related, name)
		}
	}
	return of, nil
}

// checkAttribute compares what a struct declares with what the server has.
func checkAttribute(c *model.Collection, name string, declared model.Type, t reflect.Type) error {
	switch a := c.Declared(name); {
	case a == nil:
		return fmt.Errorf("the collection %s has no attribute %s, which %s has", c.Name, name, t)
	case a.Type != declared:
		return fmt.Errorf("the attribute %s of %s is declared as %s, and is %s in %s", name, c.Name, a.Type, declared, t)
	}
	return nil
}

// In is the collection within a transaction. Its methods read and write there, whatever context they
// are given, and All reads everything into memory first.
func (c *Collection[T]) In(tx *Tx) *Collection[T] {
	within := *c
	within.backend = tx
	return &within
}

// Condition is a precondition of a write. Several are alternatives.
type Condition struct{ etag string }

// IfMatch requires that the resource still has an ETag. Otherwise the error has the code
// precondition_failed.
func IfMatch(etag string) Condition { return Condition{etag} }

// Get reads one resource. Include and Fields say what is shown of it. With Include it has no ETag.
func (c *Collection[T]) Get(ctx context.Context, id string, given ...params.Param) (value T, err error) {
	key, err := parseID(id)
	if err != nil {
		return value, callError(err)
	}
	q, err := wanted(given)
	if err == nil && q.Selects() {
		err = callError(errors.New("one resource is read with Include and Fields, and no filter, Sort or range"))
	}
	if err != nil {
		return value, err
	}
	found, err := c.backend.get(ctx, c.collection, key, q.Encode())
	if err != nil {
		return value, err
	}
	return c.value(found)
}

// List reads a range of the collection into memory. Without a Limit it has Config.DefaultLimit
// resources at most.
func (c *Collection[T]) List(ctx context.Context, given ...params.Param) ([]T, error) {
	all := []T{}
	err := c.each(ctx, given, c.limit, func(value T) error {
		all = append(all, value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// All iterates over the collection, or what the parameters select of it, row by row from one
// snapshot. Without a Limit it goes to the end. An error is the last value.
//
// The loop uses a database connection until it ends. A nested loop needs another one, and
// their number is limited: loops that wait for each other's connections fail after five
// seconds with the code unavailable. Use List for the outer loop if many run at once.
func (c *Collection[T]) All(ctx context.Context, given ...params.Param) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := c.each(ctx, given, math.MaxInt64, func(value T) error {
			if !yield(value, nil) {
				return errLoopEnded
			}
			return nil
		})
		if err != nil && !errors.Is(err, errLoopEnded) {
			var none T
			yield(none, err)
		}
	}
}

// errLoopEnded ends a loop that was left.
var errLoopEnded = errors.New("the loop was left")

func (c *Collection[T]) each(ctx context.Context, given []params.Param, limit int64, visit func(T) error) error {
	q, err := wanted(given)
	if err != nil {
		return err
	}
	return c.backend.list(ctx, c.collection, q.Encode(), limit, func(found reads.Resource) error {
		value, err := c.value(found)
		if err != nil {
			return err
		}
		return visit(value)
	})
}

// Total is the number of resources in the collection, or of those that filters select, which are
// counted one by one.
func (c *Collection[T]) Total(ctx context.Context, filters ...params.Filter) (int64, error) {
	q, err := wanted([]params.Param{params.And(filters...)})
	if err != nil {
		return 0, err
	}
	return c.backend.count(ctx, c.collection, q.Encode())
}

// Create creates a resource and returns it as stored. An empty id is generated.
func (c *Collection[T]) Create(ctx context.Context, value T) (T, error) {
	return c.write(ctx, http.MethodPost, "", value, nil)
}

// CreateMany creates several resources, all or none.
func (c *Collection[T]) CreateMany(ctx context.Context, values []T) ([]T, error) {
	return c.writeMany(ctx, nil, values)
}

// Update changes the attributes that are given, as PATCH does: a map by their names, or a struct
// that leaves the others out.
func (c *Collection[T]) Update(ctx context.Context, id string, changes any, conditions ...Condition) (T, error) {
	return c.write(ctx, http.MethodPatch, id, changes, conditions)
}

// Replace gives every attribute of a resource the value of the struct, as PUT does.
func (c *Collection[T]) Replace(ctx context.Context, id string, value T, conditions ...Condition) (T, error) {
	return c.write(ctx, http.MethodPut, id, value, conditions)
}

// Delete deletes a resource and returns it as it last was.
func (c *Collection[T]) Delete(ctx context.Context, id string, conditions ...Condition) (T, error) {
	return c.write(ctx, http.MethodDelete, id, nil, conditions)
}

// write does a write of one resource, and reads what it returns into a value.
func (c *Collection[T]) write(ctx context.Context, method, id string, attributes any, conditions []Condition) (value T, err error) {
	var key model.ID
	if method != http.MethodPost {
		if key, err = parseID(id); err != nil {
			return value, callError(err)
		}
	}
	if method == http.MethodPost || method == http.MethodPut {
		if attributes, err = c.members(attributes); err != nil {
			return value, callError(err)
		}
	}
	results, err := c.send(ctx, write{Step: resource.Step{Method: method, ID: key}}, attributes, conditions)
	if err != nil {
		return value, err
	}
	return c.value(results[0])
}

// send does a write with attributes as its body.
func (c *Collection[T]) send(ctx context.Context, w write, attributes any, conditions []Condition) ([]reads.Resource, error) {
	w.Path.Collection = c.collection
	if err := w.complete(attributes, conditions); err != nil {
		return nil, callError(err)
	}
	return c.backend.do(ctx, w)
}

// values reads the resources that a write returns into a slice of T.
func (c *Collection[T]) values(found []reads.Resource, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	all := make([]T, len(found))
	for i, each := range found {
		if all[i], err = c.value(each); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// value reads a resource into a T.
func (c *Collection[T]) value(found reads.Resource) (value T, err error) {
	if err := json.Unmarshal(found.Representation, &value); err != nil {
		return value, callError(err)
	}
	if c.etag != nil {
		reflect.ValueOf(&value).Elem().FieldByIndex(c.etag).SetString(found.ETag)
	}
	return value, nil
}

// members is the attributes of a value, and its id if it has one. What the server sets is
// left out, and so are related resources and attributes that only earlier versions have.
func (c *Collection[T]) members(value any) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	delete(members, "type")
	delete(members, "created_at")
	delete(members, "updated_at")
	for _, name := range c.related {
		delete(members, name)
	}
	for i := range c.collection.Attributes {
		if a := &c.collection.Attributes[i]; a.IsComputed() || a.Until > 0 {
			delete(members, a.Name)
		}
	}
	if id := string(members["id"]); id == `""` || id == "null" {
		delete(members, "id")
	}
	return members, nil
}

// complete adds the body and the conditions.
func (w *write) complete(attributes any, conditions []Condition) error {
	for _, condition := range conditions {
		if condition.etag == "" {
			return errors.New("IfMatch needs the ETag of a resource that was read, but it is empty")
		}
		w.IfMatch = append(w.IfMatch, condition.etag)
	}
	if w.Method == http.MethodDelete {
		return nil
	}
	body, err := json.Marshal(attributes)
	if err != nil {
		return err
	}
	if _, several := attributes.([]map[string]json.RawMessage); !several && len(body) > 0 && body[0] == '[' {
		return errors.New("the attributes of one resource must be a struct or a map, and not a list")
	}
	w.Body = body
	return nil
}

// wanted is what parameters of a read or a range ask for.
func wanted(given []params.Param) (*params.Query, error) {
	q, err := params.Of(given...)
	switch {
	case err != nil:
	case q.Since != "" || q.FromNow || q.OnConnection != nil:
		err = errors.New("a list has no Since, FromNow or OnConnection: they are for watches")
	case q.Total:
		err = errors.New("a list has no WithTotal: it is an option of Include, and the method Total counts")
	case q.Groups():
		err = errors.New("a list has no By, Sum, Avg, Min, Max, Distinct, Having or unit of times: they are for Groups")
	}
	return q, callError(err)
}
