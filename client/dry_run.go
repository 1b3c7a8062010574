package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/plural-go/plural/params"
)

// DryRun is a collection whose writes are checked and answered, and change nothing.
type DryRun[T any] struct{ collection *Collection[T] }

// DryRun returns the collection with writes that only report what they would do.
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
	return d.one(ctx, http.MethodPost, "", "", value, nil)
}

// CreateMany reports what one array of values would do. One that is too large for the server is an error.
func (d DryRun[T]) CreateMany(ctx context.Context, values []T) (Trial[T], error) {
	return d.array(ctx, "", values)
}

// Upsert reports what Collection.Upsert would do.
func (d DryRun[T]) Upsert(ctx context.Context, onConflict string, value any) (Trial[T], error) {
	return d.one(ctx, http.MethodPost, "", conflictQuery(onConflict), value, nil)
}

// UpsertMany reports what one array of values would do. One that is too large for the server is an error.
func (d DryRun[T]) UpsertMany(ctx context.Context, onConflict string, values []T) (Trial[T], error) {
	return d.array(ctx, conflictQuery(onConflict), values)
}

// Replace reports what Collection.Replace would do. The only option is IfMatch.
func (d DryRun[T]) Replace(ctx context.Context, id string, value T, options ...WriteOption) (Trial[T], error) {
	return d.one(ctx, http.MethodPut, id, "", value, options)
}

// Update reports what Collection.Update would do. The only option is IfMatch.
func (d DryRun[T]) Update(ctx context.Context, id string, changes any, options ...WriteOption) (Trial[T], error) {
	return d.one(ctx, http.MethodPatch, id, "", changes, options)
}

// Delete reports what Collection.Delete would do. The only option is IfMatch.
func (d DryRun[T]) Delete(ctx context.Context, id string, options ...WriteOption) (Trial[T], error) {
	return d.one(ctx, http.MethodDelete, id, "", nil, options)
}

// UpdateMany reports what Collection.UpdateMany would do.
func (d DryRun[T]) UpdateMany(ctx context.Context, changes any, given ...params.Param) (Trial[T], error) {
	request, err := d.collection.rangeRequest(http.MethodPatch, changes, given)
	return d.run(ctx, request, err)
}

// DeleteMany reports what Collection.DeleteMany would do.
func (d DryRun[T]) DeleteMany(ctx context.Context, given ...params.Param) (Trial[T], error) {
	request, err := d.collection.rangeRequest(http.MethodDelete, nil, given)
	return d.run(ctx, request, err)
}

func (d DryRun[T]) one(ctx context.Context, method, id, query string, value any, options []WriteOption) (Trial[T], error) {
	request, err := d.collection.request(method, id, query, value, options)
	return d.run(ctx, request, err)
}

func (d DryRun[T]) array(ctx context.Context, query string, values []T) (Trial[T], error) {
	items, err := itemsOf(values)
	if err != nil {
		return Trial[T]{}, err
	}
	body, _ := array(items, len(items), math.MaxInt)
	return d.one(ctx, http.MethodPost, "", query, body, nil)
}

func (d DryRun[T]) run(ctx context.Context, request Request, err error) (trial Trial[T], _ error) {
	if err != nil {
		return trial, err
	}
	affected, answer, err := d.collection.client.DryRun(ctx, request)
	if err != nil {
		return trial, err
	}
	trial.Affected = affected
	trial.Items, err = decodeAny[T](answer.Body)
	return trial, err
}

// decodeAny reads the envelope of one resource or of several.
func decodeAny[T any](body []byte) ([]T, error) {
	var data json.RawMessage
	if err := decodeData(body, "resources", &data); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte("[")) {
		return decodeList[T](body)
	}
	var item T
	err := decode(data, &item)
	return []T{item}, err
}

// TransactionDryRun reports what a Transaction would do.
func (c *Client) TransactionDryRun(ctx context.Context, steps []Step) (Trial[json.RawMessage], error) {
	request, err := transactionRequest(steps, nil)
	return DryRun[json.RawMessage]{&Collection[json.RawMessage]{client: c}}.run(ctx, request, err)
}

// DryRun sends a write that is checked and answered, but changes nothing. It returns how many resources of
// each collection the write would create, change or delete.
func (c *Client) DryRun(ctx context.Context, request Request) (affected map[string]int64, answer *Response, err error) {
	if request.Header.Get("Idempotency-Key") != "" {
		return nil, nil, fmt.Errorf("a dry run has no IdempotencyKey: it changes nothing")
	}
	request.Repeatable = true
	request.Query = join(request.Query, "dry_run=true")
	if answer, err = c.Do(ctx, request); err != nil {
		return nil, nil, err
	}
	affected = map[string]int64{}
	for part := range strings.SplitSeq(answer.Header.Get("X-Affected"), ",") {
		name, number, found := strings.Cut(strings.TrimSpace(part), "=")
		count, err := strconv.ParseInt(number, 10, 64)
		if !found || err != nil {
			return nil, answer, fmt.Errorf("the server does not say what is affected: X-Affected is %q", answer.Header.Get("X-Affected"))
		}
		affected[name] = count
	}
	return affected, answer, nil
}
