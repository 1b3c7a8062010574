package move

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// removeRefused removes the refused rows, and returns the others. Stop is the number of the
// first bad row, if the import ends there: then later rows are not returned.
func (i *importer) removeRefused(ctx context.Context, rows []Row, refused *client.Error) (left []Row, stop int64, err error) {
	wrong, open := map[int]problem.Errors{}, map[int]bool{}
	for _, each := range refused.Errors {
		item, rest, ok := each.Source.Item()
		if !ok || item >= len(rows) {
			if len(rows) > 1 {
				return i.halve(ctx, rows)
			}
			item, rest = 0, each.Source.Pointer
		}
		if i.isOpen(each, rest) {
			open[item] = true
			continue
		}
		inRow := *each
		inRow.Source.Pointer = rest
		wrong[item] = append(wrong[item], &inRow)
	}
	if refused.Tries > 1 && i.OnConflict != UpdateOnConflict && allExist(wrong, len(rows)) {
		// A request whose response was lost may have created them all.
		return nil, 0, i.resolveLost(rows)
	}
	for n, row := range rows {
		conflict := exists(wrong[n]) && (i.OnConflict == SkipOnConflict || i.OnConflict == ReplaceOnConflict)
		switch {
		case wrong[n] != nil && !conflict:
			i.refuse(row, i.reasons(row, wrong[n]))
			if stop == 0 && i.stops() {
				stop = row.Number
			}
		case stop > 0:
		case conflict && i.OnConflict == SkipOnConflict:
			i.done.Skipped++
		case conflict:
			i.replace = append(i.replace, row)
		case open[n]:
			i.done.Created++ // probably
		default:
			left = append(left, row)
		}
	}
	return left, stop, nil
}

// halve sends the halves of rows one after the other: something is wrong with them, and
// the server does not say with which.
func (i *importer) halve(ctx context.Context, rows []Row) (left []Row, stop int64, err error) {
	half := len(rows) / 2
	return rows[half:], 0, i.send(ctx, rows[:half])
}

// isOpen: in a dry run nothing is there yet that rows of the same file refer to.
func (i *importer) isOpen(refused *problem.Error, place string) bool {
	if !i.DryRun || refused.Code != problem.CodeUnknownReference {
		return false
	}
	return slices.ContainsFunc(i.Collection.Attributes, func(a client.Attribute) bool {
		return place == "/"+a.Name && a.References == i.Collection.Name
	})
}

func exists(wrong problem.Errors) bool {
	return slices.ContainsFunc(wrong, func(each *problem.Error) bool { return each.Code == problem.CodeIDExists })
}

func allExist(wrong map[int]problem.Errors, count int) bool {
	for _, each := range wrong {
		if !exists(each) {
			return false
		}
	}
	return len(wrong) == count
}

// resolveLost handles rows that all exist after a request whose response was lost.
func (i *importer) resolveLost(rows []Row) error {
	given := slices.ContainsFunc(rows, func(row Row) bool { return !row.minted })
	switch {
	case !given || i.OnConflict == SkipOnConflict:
		i.done.Created += int64(len(rows)) // generated ids, or conflicts are ignored
	case i.OnConflict == ReplaceOnConflict:
		i.replace = append(i.replace, rows...)
	default:
		return fmt.Errorf("the connection was lost, and now rows %d to %d all exist: they were created then, or had been there before", rows[0].Number, rows[len(rows)-1].Number)
	}
	return nil
}

// reasons is what is wrong with a row, for people, with the values that are wrong.
func (i *importer) reasons(row Row, wrong problem.Errors) string {
	texts := make([]string, len(wrong))
	for n, each := range wrong {
		texts[n] = strings.TrimSuffix(each.Detail, moreErrors)
		if place := strings.TrimPrefix(each.Source.Pointer, "/"); place != "" {
			value := scalarAt(row.Body, each)
			texts[n] = i.Columns.shown(place) + shownValue(value) + ": " + texts[n] + i.Columns.formOf(place, value, each)
		}
	}
	return strings.Join(texts, " ")
}

// moreErrors ends the last error of a response that lists problem.MaxErrors. The import asks again for the others.
const moreErrors = " There are more errors than are listed."

// longestShown is how many characters of a value are shown.
const longestShown = 60

// shownValue is a value after a space.
func shownValue(value jsontext.Value) string {
	if value == nil {
		return ""
	}
	return " " + shorten(string(value))
}

// scalarAt is the value that a problem is about. It is nil if there is none, if it has many parts, and if the problem shows it
// already.
func scalarAt(body []byte, wrong *problem.Error) jsontext.Value {
	switch wrong.Code {
	case problem.CodeUnknownAttribute, problem.CodeUnknownReference, problem.CodeIDExists:
		return nil
	}
	value := jsontext.Value(body)
	for token := range jsontext.Pointer(wrong.Source.Pointer).Tokens() {
		var members map[string]jsontext.Value
		var items []jsontext.Value
		switch n, err := strconv.Atoi(token); {
		case json.Unmarshal(value, &members) == nil:
			value = members[token]
		case err == nil && json.Unmarshal(value, &items) == nil && n >= 0 && n < len(items):
			value = items[n]
		default:
			return nil
		}
	}
	switch value.Kind() {
	case '{', '[', 'n', jsontext.KindInvalid:
		return nil
	}
	return value
}

// shorten is the beginning of a long text.
func shorten(text string) string {
	if shown := []rune(text); len(shown) > longestShown {
		return string(shown[:longestShown]) + "…"
	}
	return text
}

// replacers is how many resources are replaced at the same time.
const replacers = 16

// replaceAll replaces the resources of rows that exist, up to a row.
func (i *importer) replaceAll(ctx context.Context, behind int64) error {
	var rows, others []Row
	for _, row := range i.replace {
		if row.Number < behind {
			rows = append(rows, row)
		} else {
			others = append(others, row)
		}
	}
	i.replace = others
	if i.DryRun {
		i.done.Replaced += int64(len(rows))
		return nil
	}
	answers, failures := make([]*client.Response, len(rows)), make([]error, len(rows))
	free := make(chan struct{}, replacers)
	var all sync.WaitGroup
	for n, row := range rows {
		free <- struct{}{}
		all.Go(func() {
			answers[n], failures[n] = i.Client.Do(ctx, client.Request{
				Method: http.MethodPut, Path: "/" + i.Collection.Name + "/" + row.ID, Body: row.Body, Repeatable: true,
				Header: http.Header{"If-Match": {"*"}}, // some collections require If-Match
			})
			<-free
		})
	}
	all.Wait()
	stopped := false
	for n, err := range failures {
		refused := (*client.Error)(nil)
		switch {
		case err == nil && answers[n].Status == http.StatusAccepted:
			i.done.Accepted++
		case err == nil:
			i.done.Replaced++
		case errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusUnauthorized:
			i.refuse(rows[n], i.reasons(rows[n], refused.Errors))
			stopped = stopped || i.stops()
		default:
			return err
		}
	}
	if stopped {
		return ErrStopped
	}
	return nil
}

// minted makes the ids of all imports, so that a later import continues after an earlier one, whatever the clock does.
var minted minter

// now is the clock. Tests replace it.
var now = time.Now

// minter makes UUIDv7 ids, each larger than the one before: 48 bits of milliseconds, 12
// bits that count within one, 62 random bits.
type minter struct {
	mutex sync.Mutex
	last  uint64
}

func (m *minter) next(now time.Time) (id model.ID) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	_, _ = rand.Read(id[:])                             // which never fails
	m.last = max(m.last+1, uint64(now.UnixMilli())<<12) // #nosec G115 -- it is after 1970
	binary.BigEndian.PutUint64(id[:8], m.last>>12<<16|0x7000|m.last&0xfff)
	id[8] = id[8]&0x3f | 0x80
	return id
}

// refusal is a bad row, and what is wrong with it.
type refusal struct {
	row    Row
	reason string
}

func (i *importer) refuse(row Row, reason string) {
	i.done.Bad++
	i.refused = append(i.refused, refusal{row, reason})
}

// report reports the bad rows of a batch.
func (i *importer) report() {
	slices.SortFunc(i.refused, func(a, b refusal) int { return cmp.Compare(a.row.Number, b.row.Number) })
	for _, each := range i.refused {
		if i.Bad != nil {
			i.Bad(each.row, each.reason)
		}
	}
	i.refused = i.refused[:0]
}

func (i *importer) refuseBad(rows []Row) {
	for _, row := range rows {
		i.refuse(row, row.Bad.Error())
	}
}

// after are the rows after the last one that a response lists.
func after(rows []Row, refused *client.Error) []Row {
	last := -1
	for _, each := range refused.Errors {
		if item, _, ok := each.Source.Item(); ok {
			last = max(last, item)
		}
	}
	return rows[min(last+1, len(rows)):]
}

// countBad finds the bad rows after those that a response lists, and stores none of the others: an import that ends says how
// many rows of the array are bad.
func (i *importer) countBad(ctx context.Context, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	attempt := *i.Import
	attempt.DryRun = true
	counting := &importer{Import: &attempt, most: i.most}
	err := counting.sendAll(ctx, rows)
	i.done.Bad += counting.done.Bad
	i.refused = append(i.refused, counting.refused...)
	return err
}

// withoutItem removes the errors of one item. It returns nil if there are no others.
func withoutItem(refused *client.Error, item int) *client.Error {
	left := *refused
	left.Errors = slices.DeleteFunc(slices.Clone(refused.Errors), func(each *problem.Error) bool {
		at, _, ok := each.Source.Item()
		return ok && at == item
	})
	if len(left.Errors) == 0 {
		return nil
	}
	return &left
}
