package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/plural-go/plural/params"
)

// Collection reads and writes a collection as values of T, by their json tags. T may be
// json.RawMessage, which is each resource as the server sends it. Where T leaves the type of a
// value open, as map[string]any does, numbers are json.Number, as float64 would
// round large integers.
type Collection[T any] struct {
	client *Client
	name   string
	path   string
	err    error // of an invalid name; every call returns it
}

// Of returns typed access to a collection. If the name is invalid, every call returns an
// error.
func Of[T any](c *Client, name string) *Collection[T] {
	collection := &Collection[T]{client: c, name: name, path: "/" + name}
	if !collectionName.MatchString(name) {
		collection.err = fmt.Errorf("%q is not the name of a collection", name)
	}
	return collection
}

// Under is the sub-collection of a parent: client.Of[Post](c, "posts").Under("users", id)
// has the posts of one user.
func (c *Collection[T]) Under(collection, id string) *Collection[T] {
	parent := Of[T](c.client, collection)
	return &Collection[T]{client: c.client, name: c.name, path: parent.path + "/" + id + "/" + c.name, err: cmp.Or(c.err, parent.err, checkID(id))}
}

// Resource is one resource of a response.
type Resource[T any] struct {
	Value T
	ID    string

	// ETag identifies the state of the resource, for IfMatch. A deleted resource has none.
	ETag string

	// Replayed: the response is that of an earlier request with the same IdempotencyKey.
	Replayed bool
}

// WriteOption is an option of one write.
type WriteOption func(http.Header) error

// IfMatch makes a change conditional: it is executed only if the resource still has this
// ETag. Otherwise IsChanged is true of the error.
func IfMatch(etag string) WriteOption {
	return func(header http.Header) error {
		if etag == "" {
			return fmt.Errorf("IfMatch needs the ETag of a resource: one of a list has none, so get it first")
		}
		header.Set("If-Match", etag)
		return nil
	}
}

// IdempotencyKey sets the Idempotency-Key of a write, so that it can be sent again later, also
// by another process, and is executed once. Without it every call has its own key.
func IdempotencyKey(key string) WriteOption {
	return func(header http.Header) error {
		if key == "" || len(key) > 255 || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
			return fmt.Errorf("an IdempotencyKey has 1 to 255 printable ASCII characters")
		}
		header.Set("Idempotency-Key", key)
		return nil
	}
}

// Get reads one resource. Include and Fields say what is shown of it. With Include it has no ETag.
func (c *Collection[T]) Get(ctx context.Context, id string, given ...params.Param) (Resource[T], error) {
	query, err := itemQuery(given)
	if err != nil {
		return Resource[T]{}, err
	}
	answer, err := c.send(ctx, http.MethodGet, id, query, nil, nil)
	return c.resource(ctx, answer, err)
}

// Create creates a resource and returns it as it is stored. If its id is empty, the server
// creates one. The server also sets type, created_at and updated_at.
func (c *Collection[T]) Create(ctx context.Context, value T, options ...WriteOption) (Resource[T], error) {
	return c.write(ctx, http.MethodPost, "", value, options)
}

// Replace sets every attribute of a resource, as PUT does.
func (c *Collection[T]) Replace(ctx context.Context, id string, value T, options ...WriteOption) (Resource[T], error) {
	return c.write(ctx, http.MethodPut, id, value, options)
}

// Update changes the attributes that are given, as PATCH does: a map by their names, or a struct that
// leaves the others out.
func (c *Collection[T]) Update(ctx context.Context, id string, changes any, options ...WriteOption) (Resource[T], error) {
	return c.write(ctx, http.MethodPatch, id, changes, options)
}

// Delete deletes a resource and returns it as it last was.
func (c *Collection[T]) Delete(ctx context.Context, id string, options ...WriteOption) (Resource[T], error) {
	return c.write(ctx, http.MethodDelete, id, nil, options)
}

// write sends a write of one resource.
func (c *Collection[T]) write(ctx context.Context, method, id string, value any, options []WriteOption) (Resource[T], error) {
	answer, err := c.send(ctx, method, id, "", value, options)
	return c.resource(ctx, answer, err)
}

// send sends a request to the collection, or to a resource of it.
func (c *Collection[T]) send(ctx context.Context, method, id, query string, value any, options []WriteOption) (*Response, error) {
	request, err := c.request(method, id, query, value, options)
	if err != nil {
		return nil, err
	}
	return c.client.Do(ctx, request)
}

// request is a request to the collection, or to a resource of it, with the value that it writes.
func (c *Collection[T]) request(method, id, query string, value any, options []WriteOption) (Request, error) {
	body, err := bodyOf(method, value)
	request := Request{Method: method, Path: c.path, Query: query, Header: http.Header{}, Body: body, long: hasIncludes(query)}
	if err := cmp.Or(err, c.err); err != nil {
		return request, err
	}
	if method != http.MethodPost {
		if err := checkID(id); err != nil {
			return request, err
		}
		request.Path += "/" + id
	}
	for _, apply := range options {
		if err := apply(request.Header); err != nil {
			return request, err
		}
	}
	return request, nil
}

// resource reads the response to a request for one resource. If the request was accepted for
// later, it waits for the operation.
func (c *Collection[T]) resource(ctx context.Context, answer *Response, err error) (Resource[T], error) {
	if err != nil {
		return Resource[T]{}, err
	}
	if answer.Status == http.StatusAccepted {
		operation, err := c.accepted(answer)
		if err != nil {
			return Resource[T]{}, err
		}
		return operation.Wait(ctx)
	}
	resource := Resource[T]{ETag: answer.Header.Get("ETag"), Replayed: answer.Header.Get("Idempotency-Replayed") == "true"}
	var data json.RawMessage
	if err := decodeData(answer.Body, "a resource", &data); err != nil {
		return resource, err
	}
	if resource.ID, err = idOf(data); err != nil {
		return resource, err
	}
	err = decode(data, &resource.Value)
	return resource, err
}

// decode reads JSON that is known to be valid into a value, with all digits of its numbers.
func decode(text []byte, into any) error {
	if raw, ok := into.(*json.RawMessage); ok {
		*raw = append((*raw)[:0], text...)
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// decodeData reads the envelope of a resource, or of a list.
func decodeData(body []byte, of string, into any) error {
	var envelope struct{ Data json.RawMessage }
	err := json.Unmarshal(body, &envelope)
	if err == nil {
		err = decode(envelope.Data, into)
	}
	if err != nil {
		return fmt.Errorf("the answer is not the envelope of %s: %w", of, err)
	}
	return nil
}

// decodeList reads the envelope of a list.
func decodeList[T any](body []byte) (items []T, err error) {
	err = decodeData(body, "a list", &items)
	return items, err
}

// idOf finds the id of a representation.
func idOf(representation []byte) (string, error) {
	const start = `{"id":"`
	if bytes.HasPrefix(representation, []byte(start)) && len(representation) > len(start)+36 && representation[len(start)+36] == '"' {
		return string(representation[len(start) : len(start)+36]), nil
	}
	var identity struct{ ID string }
	if err := json.Unmarshal(representation, &identity); err != nil {
		return "", err
	}
	return identity.ID, checkID(identity.ID)
}

// bodyOf is the body of a request: what the method takes of a value. An array was made before, and is sent as it is.
func bodyOf(method string, value any) ([]byte, error) {
	if array, ok := value.(arrayBody); ok {
		return array, nil
	}
	switch method {
	case http.MethodPost:
		return attributes(value, true)
	case http.MethodPut:
		return attributes(value, false)
	case http.MethodPatch:
		return marshal(value)
	}
	return nil, nil
}

// attributes is the body of a request, without what the server sets, and without an id that
// is empty or in the path.
func attributes(value any, create bool) (json.RawMessage, error) {
	text, err := marshal(value)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return nil, fmt.Errorf("a resource must be an object in JSON, but %T is not", value)
	}
	delete(members, "type")
	delete(members, "created_at")
	delete(members, "updated_at")
	if id := string(members["id"]); id == `""` || id == "null" || !create {
		delete(members, "id")
	}
	return json.Marshal(members)
}

func (c *Collection[T]) listing(query string, exact bool) Request {
	request := Request{Method: http.MethodGet, Path: c.path, Query: query, Header: http.Header{}, long: true}
	if exact {
		request.Header.Set("Prefer", "count=exact")
	}
	return request
}

// Total returns the number of resources that pass the filters.
func (c *Collection[T]) Total(ctx context.Context, filters ...params.Param) (int64, error) {
	page, err := c.List(ctx, append(filters[:len(filters):len(filters)], params.Limit(0), params.WithTotal())...)
	if err != nil {
		return 0, err
	}
	if page.Total < 0 {
		return 0, fmt.Errorf("the server does not say how many resources of %s there are", c.name)
	}
	return page.Total, nil
}
