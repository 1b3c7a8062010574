package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
)

// pageSize is the limit of a request if the server does not allow to read the whole range in one response. For pages of at most
// 1,000 resources, the server returns a link to the next page.
const pageSize = 1000

// All iterates over the collection, or over the resources that filters select, from the first resource to the last, or from an
// Offset or Cursor on. A Limit bounds their number. The resources come from one snapshot, in one response that is read as fast
// as the loop runs. The loop can be left at any time. Iteration ends after the first error.
//
// If the connection breaks, iteration continues after the last resource that was received. No resource is returned twice or
// left out; the remaining resources come from a new snapshot. A sorted list is continued at the last resource: if that resource
// was deleted meanwhile, the loop ends with problem.CodeUnknownCursor.
func (c *Collection[T]) All(ctx context.Context, given ...params.Param) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		q, err := c.begin(given)
		if err == nil {
			f := &forward[T]{collection: c, query: q, left: math.MaxInt64, page: c.client.mostAtOnce(math.MaxInt64)}
			if q.Limit != nil {
				f.left = *q.Limit
			}
			err = f.run(ctx, yield)
		}
		endLoop(err, yield)
	}
}

func (c *Collection[T]) begin(given []params.Param) (*params.Query, error) {
	q, err := c.newQuery(given)
	switch {
	case c.err != nil:
		return nil, c.err
	case err != nil:
		return nil, err
	case q.Limit != nil && *q.Limit < 0:
		return nil, ErrNegativeLimit
	}
	return q, nil
}

// ErrNegativeLimit is the error of a loop with a limit that counts back, which is for List.
var ErrNegativeLimit = errors.New("the limit of a loop is how often it runs, and cannot be negative: use Backward to count back")

var errLeft = errors.New("the loop was left")

// endLoop yields the error of a loop, unless the loop was left.
func endLoop[V any](err error, yield func(V, error) bool) {
	if err != nil && !errors.Is(err, errLeft) {
		var none V
		yield(none, err)
	}
}

// forward is a way through a collection from front to back.
type forward[T any] struct {
	collection *Collection[T]
	query      *params.Query
	left       int64  // resources that are still wanted
	page       int64  // the largest limit of a request
	last       string // id of the last resource that was yielded
	asked      int64  // limit of the latest request
	next       string // query of the next page; empty: a request after the last resource
}

func (f *forward[T]) run(ctx context.Context, yield func(T, error) bool) error {
	for failures := 0; f.left > 0; {
		before := f.left
		more, err := f.read(ctx, yield)
		if err == nil && !more {
			return nil
		}
		if err == nil {
			continue
		}
		if HasCode(err, problem.CodeLimitTooLarge) && f.page > 1 {
			f.page = f.collection.client.atOnce(f.page)
			continue
		}
		if f.left < before {
			failures = 0 // it came further
		}
		failures++
		if errors.Is(err, errLeft) || !errors.As(err, new(*brokenError)) || ctx.Err() != nil {
			return err
		}
		pause, again := f.collection.client.pause(&lostError{err}, failures)
		if !again || !sleep(ctx, pause) {
			return err
		}
	}
	return nil
}

// mostAtOnce is the limit of a request for a number of resources: the number, or the largest limit that the server is known to
// allow.
func (c *Client) mostAtOnce(wanted int64) int64 {
	if known := c.page.Load(); known > 0 {
		return min(wanted, known)
	}
	return wanted
}

// atOnce returns a smaller limit after the server has refused one.
func (c *Client) atOnce(refused int64) int64 {
	page := int64(pageSize)
	if refused <= pageSize {
		page = max(1, refused/2)
	}
	c.page.Store(page)
	return page
}

// request returns the next request: from the start, for the next page, or from the last resource that was received.
func (f *forward[T]) request() Request {
	if f.next != "" {
		return f.collection.listing(f.next, false)
	}
	q := *f.query
	limit := min(f.left, f.page)
	if f.last != "" {
		q.Offset, q.Cursor, q.Since = nil, f.last, ""
		if limit < f.page {
			limit++ // the last one comes again, if it still exists
		}
	}
	q.Limit, f.asked = &limit, limit
	return f.collection.listing(q.Encode(), false)
}

// read yields the resources of one response. More reports whether another request follows.
func (f *forward[T]) read(ctx context.Context, yield func(T, error) bool) (more bool, err error) {
	request := f.request()
	f.next = ""
	answer, err := f.collection.client.open(ctx, request)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	before, came := f.last, int64(0)
	err = eachItem(answer.Body, func(item json.RawMessage) error {
		came++
		id, err := idOf(item)
		if err != nil {
			return fmt.Errorf("a resource of %s: %w", f.collection.name, err)
		}
		if id == f.last || f.left == 0 {
			return nil
		}
		var value T
		if err := decode(item, &value); err != nil {
			return fmt.Errorf("%s/%s: %w", f.collection.name, id, err)
		}
		f.last = id
		f.left--
		if !yield(value, nil) {
			return errLeft
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if f.page == math.MaxInt64 || f.left == 0 {
		return false, nil // everything was asked for
	}
	linked := links(answer.Header)
	next, hasNext := linked["next"]
	// If the query is long, the server leaves links out: the links to the ends before the others.
	_, complete := linked["first"]
	switch {
	case !hasNext && (complete || came < f.asked):
		return false, nil
	case !hasNext && f.last == before:
		return false, errNoProgress
	case strings.Contains(next, "cursor="): // by an offset it would drift with what others write
		f.next = next
	}
	return true, nil
}

// errNoProgress is the error of a loop over pages of one resource, each of which begins
// with the resource that is known already.
var errNoProgress = errors.New("the server gives one resource at a time and, as the query is long, no links to the next: " +
	"give fewer filters, or raise max_limit of the server to 2 at least")

// brokenError is the error of a response that ended too early.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return "the list was broken off: " + e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// eachItem hands the items of the envelope of a list to a function, one by one. It is a
// brokenError if the end is missing.
func eachItem(body io.Reader, item func(json.RawMessage) error) error {
	decoder := json.NewDecoder(body)
	for _, want := range []json.Token{json.Delim('{'), "data", json.Delim('[')} {
		token, err := decoder.Token()
		if err != nil {
			return broken(err)
		}
		if token != want {
			return fmt.Errorf("the answer is not the envelope of a list: it has %v in place of %v", token, want)
		}
	}
	parts := bufio.NewScanner(io.MultiReader(decoder.Buffered(), body))
	parts.Buffer(make([]byte, 64<<10), math.MaxInt)
	parts.Split(new(itemSplitter).split)
	first, ended := true, false
	for parts.Scan() {
		part := parts.Bytes()
		value, end := bytes.TrimSpace(part[:len(part)-1]), part[len(part)-1]
		switch {
		case ended && end == '}' && len(value) == 0:
			return nil
		case ended || end == '}':
			return fmt.Errorf("the answer is not the envelope of a list: it has %.200s%c where the items or the envelope should end", value, end)
		case first && end == ']' && len(value) == 0: // an empty list
		case !json.Valid(value):
			return fmt.Errorf("the answer is not JSON: %w", json.Unmarshal(value, new(json.RawMessage)))
		default:
			if err := item(value); err != nil {
				return err
			}
		}
		first, ended = false, end == ']'
	}
	return &brokenError{cmp.Or(parts.Err(), io.ErrUnexpectedEOF)}
}

// itemSplitter splits the text after the start of an array into parts that end with a comma or a bracket. It does not check the
// parts. With a json.Decoder, an item costs 1.7 times as much. An incomplete part is continued where it stopped: an item of many
// megabytes arrives in hundreds of pieces.
type itemSplitter struct {
	at, depth       int // how much of the part was read, and how many brackets are open there
	quoted, escaped bool
}

func (s *itemSplitter) split(data []byte, _ bool) (advance int, part []byte, err error) {
	for ; s.at < len(data); s.at++ {
		c := data[s.at]
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted:
			s.escaped, s.quoted = c == '\\', c != '"'
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.depth++
		case s.depth == 0 && (c == ',' || c == '}' || c == ']'):
			end := s.at + 1
			s.at = 0
			return end, data[:end], nil
		case c == '}' || c == ']':
			s.depth--
		}
	}
	return 0, nil, nil
}

// broken is the error of a response that cannot be read: the connection broke, unless the text is not JSON.
func broken(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && !strings.Contains(syntax.Error(), "unexpected end") {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	return &brokenError{err}
}

// Backward iterates over the collection from the last resource to the first, or from the resource before an Offset or Cursor. A
// Limit bounds their number. It reads pages with a negative limit. If no index serves the sort, All with the opposite sort is
// faster.
func (c *Collection[T]) Backward(ctx context.Context, given ...params.Param) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		q, err := c.begin(given)
		if err == nil {
			err = c.backward(ctx, q, yield)
		}
		endLoop(err, yield)
	}
}

func (c *Collection[T]) backward(ctx context.Context, q *params.Query, yield func(T, error) bool) error {
	left, page := int64(math.MaxInt64), c.client.mostAtOnce(pageSize)
	if q.Limit != nil {
		left = *q.Limit
	}
	for left > 0 {
		limit := -min(left, page)
		q.Limit = &limit
		items, err := getList[json.RawMessage](ctx, c.client, c.listing(q.Encode(), false))
		if HasCode(err, problem.CodeLimitTooLarge) && page > 1 {
			page = c.client.atOnce(page)
			continue
		}
		if err == nil && len(items) == 0 && q.Offset != nil && *q.Offset > 0 {
			q.Offset = nil // it is so far behind the end that no page from there reaches it
			continue
		}
		if err != nil || len(items) == 0 {
			return err
		}
		for _, item := range slices.Backward(items) {
			var value T
			if err := decode(item, &value); err != nil {
				return err
			}
			if !yield(value, nil) {
				return errLeft
			}
		}
		left -= int64(len(items))
		first, err := idOf(items[0])
		if err != nil {
			return err
		}
		q.Offset, q.Cursor, q.Since = nil, first, ""
	}
	return nil
}

// getList sends a request whose response is a list.
func getList[T any](ctx context.Context, c *Client, request Request) ([]T, error) {
	items, _, err := readList[T](ctx, c, request)
	return items, err
}

// readList sends a request for a list, and also returns the header of the response.
func readList[T any](ctx context.Context, c *Client, request Request) (items []T, header http.Header, err error) {
	answer, err := c.Do(ctx, request)
	if err != nil {
		return nil, nil, err
	}
	if answer.Status != http.StatusOK {
		return nil, nil, fmt.Errorf("the answer is %d, and not a list", answer.Status)
	}
	items, err = decodeList[T](answer.Body)
	return items, answer.Header, err
}
