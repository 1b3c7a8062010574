package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/problem"
)

// OnError is what an import does at a bad row.
type OnError string

// Stop ends the import ahead of the first bad row. Skip leaves bad rows out.
const (
	StopOnError OnError = "stop"
	SkipOnError OnError = "skip"
)

// OnConflict is what an import does with a row whose id exists.
type OnConflict string

// Such a row is bad, is left out, or replaces what is there.
const (
	FailOnConflict    OnConflict = "fail"
	SkipOnConflict    OnConflict = "skip"
	ReplaceOnConflict OnConflict = "replace"
)

// Import imports the rows of a file into a collection. Rows without an id get one here, not
// from the server: so a request whose response was lost can be sent again, and its ids show
// whether it succeeded.
type Import struct {
	Client     *client.Client
	Collection client.Description
	Rows       Reader

	OnError    OnError
	OnConflict OnConflict

	// DryRun writes nothing, and goes to the end whatever OnError says: every array is sent with
	// the id of its last resource twice, so that the server must refuse it.
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

	// Accepted are those that a server will replace asynchronously.
	Accepted int64

	// Timed: the file had created_at or updated_at, which are ignored.
	Timed bool

	// Next is the number of the first row that is neither imported nor skipped.
	Next int64
}

// ErrStopped is the end of an import at a bad row, of which Bad has been told.
var ErrStopped = errors.New("a row was refused")

// ErrNoSuchRow is that of an import which is to begin behind the end of its file.
var ErrNoSuchRow = errors.New("there is no row")

// An array is what a server takes by default; one that takes less says so.
const (
	batchRows  = 1000
	batchBytes = 1<<20 - 64<<10
)

// batch is rows that are sent together.
type batch struct {
	rows []Row
	bad  *Row  // the one behind them, which ended it
	err  error // why there are no more rows; io.EOF at the end
}

// importer is an import under way.
type importer struct {
	*Import
	done    Imported
	most    int   // rows in an array
	replace []Row // whose ids exist

	// Of the goroutine that reads:
	minter minter
	passed int64 // the number of the last row that was read

	// Of the one that collects:
	overflow *Row // did not fit into the last batch
}

// Run imports all rows. If it fails, Imported.Next is where to begin again.
func (i *Import) Run(ctx context.Context) (Imported, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run := &importer{Import: i, most: batchRows, done: Imported{Next: max(1, i.FromRow)}}
	batches := run.read(ctx)
	for {
		var next batch
		select {
		case next = <-batches:
		case <-ctx.Done(): // the reader may be waiting for rows that do not come
			return run.done, ctx.Err()
		}
		// A request that was begun is waited for, so that it is known what became of it.
		err := run.importBatch(context.WithoutCancel(ctx), next)
		if err == nil {
			err = next.err
		}
		if err == io.EOF { // itself: a connection that is lost may have one inside
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

// UnknownError says that the answer to rows did not come. They were created, all of
// them, if the first of them exists.
type UnknownError struct {
	From, To int64  // numbers of the rows
	First    string // id of the first
	Err      error
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("it is not known whether rows %d to %d are in: %v", e.From, e.To, e.Err)
}

// Unwrap gives the reason.
func (e *UnknownError) Unwrap() error { return e.Err }

// read reads ahead while rows are sent.
func (i *importer) read(ctx context.Context) <-chan batch {
	rows, batches := make(chan readRow), make(chan batch, 1)
	go func() {
		for ended := false; !ended; {
			row, err := i.nextRow()
			ended = err != nil
			select {
			case rows <- readRow{row, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() {
		for ended := false; !ended; {
			next := i.next(ctx, rows)
			ended = next.err != nil
			select {
			case batches <- next:
			case <-ctx.Done():
				return
			}
		}
	}()
	return batches
}

// readRow is a row, or why there is none.
type readRow struct {
	row Row
	err error
}

// batchDelay is how long rows wait for others of the same batch: somebody may be typing them.
const batchDelay = time.Second

// next collects rows up to a bad one, or as many as fit, or as come in time.
func (i *importer) next(ctx context.Context, rows <-chan readRow) (next batch) {
	size := 0
	add := func(row Row) {
		size += len(row.Body) + 1
		next.rows = append(next.rows, row)
	}
	if i.overflow != nil {
		add(*i.overflow)
		i.overflow = nil
	}
	late := time.NewTimer(batchDelay)
	defer late.Stop()
	for len(next.rows) < batchRows {
		var read readRow
		select {
		case read = <-rows:
		case <-late.C:
			if len(next.rows) > 0 {
				return next
			}
			late.Reset(batchDelay)
			continue
		case <-ctx.Done():
			next.err = ctx.Err()
			return next
		}
		row := read.row
		switch {
		case read.err != nil:
			next.err = read.err
			return next
		case row.Bad != nil:
			next.bad = &row
			return next
		case len(next.rows) > 0 && size+len(row.Body) > batchBytes:
			i.overflow = &row
			return next
		}
		add(row)
	}
	return next
}

// nextRow reads the next row that counts, with an id.
func (i *importer) nextRow() (row Row, err error) {
	for row.Number < max(1, i.FromRow) {
		if row, err = i.Rows.Next(); err != nil {
			return row, err
		}
		i.passed = row.Number
	}
	if row.Bad == nil && !row.given {
		row.withID(i.minter.next(time.Now()))
	}
	return row, nil
}

// importBatch imports a batch.
func (i *importer) importBatch(ctx context.Context, next batch) error {
	for len(next.rows) > 0 {
		count := min(len(next.rows), i.most)
		if err := i.send(ctx, next.rows[:count]); err != nil {
			if errors.Is(err, errTooLarge) {
				i.most = max(1, count/2)
				continue
			}
			return err
		}
		next.rows = next.rows[count:]
	}
	if next.bad != nil {
		i.refuse(*next.bad, next.bad.Bad.Error())
		if i.stops() {
			return ErrStopped
		}
		i.done.Next = next.bad.Number + 1
	}
	if i.Progress != nil {
		i.Progress(i.done)
	}
	return nil
}

func (i *importer) refuse(row Row, reason string) {
	i.done.Bad++
	if i.Bad != nil {
		i.Bad(row, reason)
	}
}

var errTooLarge = errors.New("the server takes smaller arrays")

// send creates the resources of rows. Those that are bad or exist are taken out, and the
// rest is sent again, until it is taken as a whole.
func (i *importer) send(ctx context.Context, rows []Row) error {
	behind := rows[len(rows)-1].Number + 1
	stopped := false
	for len(rows) > 0 {
		for _, row := range rows {
			i.done.Timed = i.done.Timed || row.Timed
		}
		refused, err := i.post(ctx, rows)
		if err != nil {
			return err
		}
		if refused == nil {
			i.done.Created += int64(len(rows))
			break
		}
		left, stop, err := i.removeRefused(ctx, rows, refused)
		if err != nil {
			return err
		}
		if stop > 0 {
			stopped, behind = true, stop
		}
		rows = left
	}
	if err := i.replaceAll(ctx, behind); err != nil {
		return err
	}
	i.done.Next = behind
	if stopped {
		return ErrStopped
	}
	return nil
}

// post sends rows as an array. What is wrong with rows is returned as refused.
func (i *importer) post(ctx context.Context, rows []Row) (refused *client.Error, err error) {
	request := client.Request{Method: http.MethodPost, Path: "/" + i.Collection.Name, Body: i.body(rows), Repeatable: true}
	answer, err := i.Client.Do(ctx, request)
	switch {
	case err == nil && i.DryRun:
		return nil, fmt.Errorf("the server does not follow the convention: it has taken an array with one id twice, so rows %d to %d were written although this is a dry run",
			rows[0].Number, rows[len(rows)-1].Number)
	case err == nil && answer.Status != http.StatusCreated:
		return nil, fmt.Errorf("the server has answered %d, and not that the resources are created", answer.Status)
	case err == nil:
		return nil, nil
	case i.DryRun && !errors.As(err, &refused):
		return nil, err
	case client.HasCode(err, problem.CodeStorageFull) && errors.As(err, &refused) && refused.Tries == 1:
		return nil, err // nothing of it was stored
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
		// A rule of the server's may be about one row; otherwise no row would be taken.
		if _, _, ok := refused.Errors[0].Source.Item(); !ok {
			return nil, err
		}
	}
	if i.DryRun {
		refused = withoutItem(refused, len(rows))
	}
	return refused, nil
}

// body is rows as an array; in a dry run the last of them comes twice.
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

// withoutItem leaves out what is wrong with an item, and is nil if that is all.
func withoutItem(refused *client.Error, item int) *client.Error {
	var others problem.Errors
	for _, each := range refused.Errors {
		if at, _, ok := each.Source.Item(); !ok || at != item {
			others = append(others, each)
		}
	}
	if len(others) == 0 {
		return nil
	}
	left := *refused
	left.Errors = others
	return &left
}
