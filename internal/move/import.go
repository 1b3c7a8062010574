package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/problem"
)

// OnError is what an import does at a bad row.
type OnError string

// StopOnError ends the import before the first bad row. SkipOnError leaves bad rows out.
const (
	StopOnError OnError = "stop"
	SkipOnError OnError = "skip"
)

// OnConflict is what an import does with a row whose resource exists.
type OnConflict string

// A row whose id exists is bad, is left out, or replaces the resource. With UpdateOnConflict, a row
// changes the resource that has its values of the Key, and only the attributes that it has.
const (
	FailOnConflict    OnConflict = "fail"
	SkipOnConflict    OnConflict = "skip"
	ReplaceOnConflict OnConflict = "replace"
	UpdateOnConflict  OnConflict = "update"
)

// Import imports the rows of a file into a collection. Rows without an id get one here, not
// from the server: so a request whose response was lost can be sent again, and its ids show
// whether it succeeded.
type Import struct {
	Client     *client.Client
	Collection client.Description
	Rows       Reader
	Columns    *Columns // of the Rows, for messages

	OnError    OnError
	OnConflict OnConflict

	// Key is a unique attribute, or all of a unique group with commas between them, by which
	// UpdateOnConflict finds a resource. Default: id.
	Key string

	// DryRun writes nothing and reads all rows, whatever OnError is: every array contains its last
	// resource twice, so that the server must refuse it.
	DryRun bool

	// FromRow is the number of the first row to import.
	FromRow int64

	// Bad is called with every bad row.
	Bad func(row Row, reason string)

	// Progress is called after every request.
	Progress func(Imported)
}

// Imported counts the rows of a file by result.
type Imported struct {
	Created, Replaced, Skipped, Bad int64

	// Upserted counts the rows of arrays in which at least one resource existed: each was created or
	// updated.
	Upserted int64

	// Accepted counts the rows that a server will replace asynchronously.
	Accepted int64

	// Timed reports that the file has created_at or updated_at, which are ignored.
	Timed bool

	// Computed lists the attributes of the file that are ignored, because the server computes them.
	Computed []string

	// Next is the number of the first row that is neither imported nor skipped.
	Next int64
}

// ignores notes what is ignored of a row.
func (d *Imported) ignores(row Row) {
	d.Timed = d.Timed || row.Timed
	for _, name := range row.Computed {
		if at, found := slices.BinarySearch(d.Computed, name); !found {
			d.Computed = slices.Insert(d.Computed, at, name)
		}
	}
}

// ErrStopped is the error of an import that ended at a bad row. Bad was called with the row.
var ErrStopped = errors.New("a row was refused")

// ErrNoSuchRow is the error of an import whose FromRow is after the end of the file.
var ErrNoSuchRow = errors.New("there is no row")

// The largest arrays that servers accept by default. A server with smaller limits answers 413.
const (
	batchRows  = 1000
	batchBytes = 1<<20 - 64<<10
)

// batch is a number of rows that are sent together.
type batch struct {
	rows []Row
	bad  []Row // that no request is made for: one after the rows if the import stops at it, else anywhere among them
	err  error // why there are no more rows; io.EOF at the end
}

// importer is a running import.
type importer struct {
	*Import
	done    Imported
	most    int       // rows in one array
	replace []Row     // whose ids exist
	refused []refusal // of a batch, which are reported in the order of the file

	passed int64 // the number of the last row that was read; used only by the goroutine that reads rows
}

// Run imports all rows. If it fails, another import can continue at Imported.Next.
func (i *Import) Run(ctx context.Context) (Imported, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run := &importer{Import: i, most: batchRows, done: Imported{Next: max(1, i.FromRow)}}
	batches := run.read(ctx)
	for {
		var next batch
		select {
		case next = <-batches:
		case <-ctx.Done(): // the reader may be blocked in Rows.Next
			return run.done, ctx.Err()
		}
		if next.err == io.EOF && run.passed > 0 && i.Columns != nil {
			if err := i.Columns.checkMembers(); err != nil {
				return run.done, err
			}
		}
		// A started request is completed, so that its result is known.
		err := run.importBatch(context.WithoutCancel(ctx), next)
		if err == nil {
			err = next.err
		}
		if err == io.EOF { // not errors.Is: the error of a lost connection may wrap io.EOF
			return run.done, run.checkStart()
		}
		if err != nil {
			return run.done, err
		}
	}
}

// checkStart returns an error if the file ends before FromRow. The row after the last is
// accepted: the import was complete.
func (i *importer) checkStart() error {
	if i.FromRow > i.passed+1 {
		return fmt.Errorf("%w %d to begin with: the last one is row %d", ErrNoSuchRow, i.FromRow, i.passed)
	}
	return nil
}

// stops reports whether an import ends at a bad row.
func (i *importer) stops() bool { return i.OnError == StopOnError && !i.DryRun }

// UnknownError says that the response to a request was lost. If its first row exists, all of its
// rows were created; otherwise none.
type UnknownError struct {
	From, To int64  // numbers of the rows
	First    string // id of the first
	Err      error
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("it is not known whether rows %d to %d are in: %v", e.From, e.To, e.Err)
}

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// batchDelay is how long a batch waits for more rows: a person may be typing them. Tests change it.
var batchDelay = time.Second

// read starts to read rows into batches, while other batches are sent.
func (i *importer) read(ctx context.Context) <-chan batch {
	type result struct {
		row Row
		err error
	}
	results, batches := make(chan result), make(chan batch, 1)
	delay := batchDelay // the goroutines may end after the import
	go func() {
		for read := (result{}); read.err == nil; {
			read.row, read.err = i.nextRow()
			select {
			case results <- read:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() {
		var next batch
		var bytes int             // of its rows
		var late <-chan time.Time // when it has waited for long enough; nil: it is empty
		send := func() {
			select {
			case batches <- next:
			case <-ctx.Done():
			}
			next, bytes, late = batch{}, 0, nil
		}
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-late:
				send()
			case read := <-results:
				row, size := read.row, read.row.size()
				if bytes+size > batchBytes && len(next.rows) > 0 {
					send()
				}
				switch {
				case read.err != nil:
					next.err = read.err
				case row.Bad != nil:
					next.bad = append(next.bad, row)
				default:
					next.rows, bytes = append(next.rows, row), bytes+size
				}
				if late == nil {
					late = time.After(delay)
				}
				if next.err != nil || next.bad != nil && i.stops() || len(next.rows)+len(next.bad) == batchRows {
					send()
				}
				if read.err != nil {
					return
				}
			}
		}
	}()
	return batches
}

// nextRow reads the next row, from FromRow on. It gives an id to a row without one.
func (i *importer) nextRow() (row Row, err error) {
	for row.Number < max(1, i.FromRow) {
		if row, err = i.Rows.Next(); err != nil {
			return row, err
		}
		i.passed = row.Number
	}
	if row.Bad == nil && !row.given && !i.findsByKey() {
		row.withID(minted.next(now()))
	}
	return row, nil
}

// findsByKey reports whether rows belong to resources by other attributes than the id. Such a row gets no
// id here, as its resource may have one. It can be sent again: it finds what it has created.
func (i *importer) findsByKey() bool {
	return i.OnConflict == UpdateOnConflict && i.Key != "" && i.Key != "id"
}

// importBatch imports a batch: it finds what the rows refer to, and sends them.
func (i *importer) importBatch(ctx context.Context, next batch) error {
	defer i.report()
	if !i.stops() {
		i.refuseBad(next.bad)
	}
	for rows := next.rows; len(rows) > 0; {
		ready, waiting, stopped, err := i.lookUp(ctx, rows)
		if err == nil {
			err = i.sendAll(ctx, ready)
		}
		if err != nil {
			return err
		}
		if stopped {
			return ErrStopped
		}
		if len(waiting) == 0 {
			i.done.Next = rows[len(rows)-1].Number + 1
		}
		rows = waiting
	}
	if next.bad != nil && i.stops() {
		i.refuseBad(next.bad)
		return ErrStopped
	}
	if next.bad != nil {
		i.done.Next = max(i.done.Next, next.bad[len(next.bad)-1].Number+1)
	}
	if i.Progress != nil {
		i.Progress(i.done)
	}
	return nil
}

// sendAll sends rows, in smaller arrays if the server refuses large ones.
func (i *importer) sendAll(ctx context.Context, rows []Row) error {
	for len(rows) > 0 {
		count := min(len(rows), i.most)
		switch err := i.send(ctx, rows[:count]); {
		case errors.Is(err, errTooLarge):
			i.most = max(1, count/2)
		case err != nil:
			return err
		default:
			rows = rows[count:]
		}
	}
	return nil
}

var errTooLarge = errors.New("the server takes smaller arrays")

// send creates the resources of rows. If the server refuses the array, send removes the rows that
// are bad or exist, and sends the rest again, until the server accepts the whole array.
func (i *importer) send(ctx context.Context, rows []Row) error {
	behind := rows[len(rows)-1].Number + 1
	stopped := false
	var unread []Row // after the errors that a response lists
	for len(rows) > 0 {
		for _, row := range rows {
			i.done.ignores(row)
		}
		refused, err := i.post(ctx, rows)
		if err != nil {
			return err
		}
		if refused == nil {
			break // post has counted them
		}
		left, stop, err := i.removeRefused(ctx, rows, refused)
		if err != nil {
			return err
		}
		if stop > 0 {
			stopped, behind = true, stop
			if unread == nil && len(refused.Errors) >= problem.MaxErrors {
				unread = after(rows, refused)
			}
		}
		rows = left
	}
	if err := i.replaceAll(ctx, behind); err != nil {
		return err
	}
	i.done.Next = behind
	if stopped {
		return cmp.Or(i.countBad(ctx, unread), ErrStopped)
	}
	return nil
}

// post sends rows as an array. Refused is the response to bad rows; err is any other error.
func (i *importer) post(ctx context.Context, rows []Row) (refused *client.Error, err error) {
	request := client.Request{Method: http.MethodPost, Path: "/" + i.Collection.Name, Body: i.body(rows), Repeatable: true}
	if i.OnConflict == UpdateOnConflict {
		request.Query = "on_conflict=" + url.QueryEscape(cmp.Or(i.Key, "id"))
	}
	answer, err := i.Client.Do(ctx, request)
	switch {
	case err == nil && i.DryRun:
		return nil, fmt.Errorf("the server does not follow the convention: it has taken an array with one id twice, so rows %d to %d were written although this is a dry run",
			rows[0].Number, rows[len(rows)-1].Number)
	case err == nil && answer.Status == http.StatusOK && i.OnConflict == UpdateOnConflict:
		i.done.Upserted += int64(len(rows))
		return nil, nil
	case err == nil && answer.Status != http.StatusCreated:
		return nil, fmt.Errorf("the server has answered %d, and not that the resources are created", answer.Status)
	case err == nil:
		i.done.Created += int64(len(rows))
		return nil, nil
	case i.DryRun && !errors.As(err, &refused):
		return nil, err
	case client.HasCode(err, problem.CodeStorageFull) && errors.As(err, &refused) && refused.Tries == 1:
		return nil, err // nothing was stored
	case !errors.As(err, &refused) || refused.Status >= 500:
		return nil, &UnknownError{rows[0].Number, rows[len(rows)-1].Number, rows[0].ID, err}
	}
	switch refused.Status {
	case http.StatusRequestEntityTooLarge:
		if len(rows) > 1 {
			return nil, errTooLarge
		}
		return refused, nil
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
	default:
		// An access rule may refuse one row. Otherwise the server refuses all rows.
		if _, _, ok := refused.Errors[0].Source.Item(); !ok {
			return nil, err
		}
	}
	if i.DryRun {
		if refused = withoutItem(refused, len(rows)); refused == nil {
			i.done.Created += int64(len(rows))
		}
	}
	return refused, nil
}

// body is a JSON array of rows. In a dry run it contains the last row twice.
func (i *importer) body(rows []Row) []byte {
	size := 2
	for _, row := range rows {
		size += len(row.Body) + 1
	}
	last := rows[len(rows)-1]
	body := append(make([]byte, 0, size+len(last.Body)), '[')
	for n, row := range rows {
		if n > 0 {
			body = append(body, ',')
		}
		body = append(body, row.Body...)
	}
	if i.DryRun {
		body = append(append(body, ','), last.Body...)
	}
	return append(body, ']')
}
