package api

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/feed"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/problem"
)

// logRequest is what a request on the change log asks for.
func (a *API) logRequest(t *target, q query.Query) feed.LogRequest {
	request := feed.LogRequest{Schema: a.Schema, Path: reads.Path{By: t.path.By}, Query: q}
	if t.history {
		request.Path, request.ID = t.path, t.id
	}
	return request
}

// logLimits bounds what a query of the change log may ask for. Collections that the caller may not
// know of do not exist.
func (a *API) logLimits(t *target) query.Limits {
	names := []string{}
	for _, c := range a.Schema.Collections() {
		if t.path.By.MayKnow(c) {
			names = append(names, c.Name)
		}
	}
	limits := a.QueryLimits
	limits.InBody = t.query
	limits.Choices = map[string][]string{
		model.ChangeCollection: names,
		"kind":                 {string(feed.Created), string(feed.Updated), string(feed.Deleted)},
	}
	return limits
}

// changes replies with a range of the change log, or of the history of one resource.
func (a *API) changes(r *http.Request, out *response, t *target) (*reply, error) {
	limits := a.logLimits(t)
	return a.replyWithList(r, out, t, query.OfChanges, a.Schema.Changes(), limits, func(p *listPage, q query.Query, exact bool) error {
		request := a.logRequest(t, q)
		request.Exact = exact
		changes, applied, err := a.awaitChanges(r, out, request)
		if err == nil {
			err = changes.Begin()
		}
		if err != nil {
			return err
		}
		p.rows, p.position, p.applied = logRows{changes}, changes.Link, applied
		if changes.Known {
			p.total = &changes.Total
		}
		if changes.CutAt != "" {
			p.header.Set("X-History-Since", changes.CutAt)
		}
		return nil
	})
}

// logRows is changes as the rows of a list.
type logRows struct{ *feed.Changes }

func (l logRows) Append(dst []byte) ([]byte, bool, error) { return l.Next(dst) }

func (l logRows) Extend() error { return nil } // each part is read in a transaction of its own

func (l logRows) Close() {}

// awaitChanges opens a range of the change log. If the client prefers to wait, it does so until
// the caller sees a change after the start of the range, or the time is over. A response that does not depend on
// changes, 304 or 412, is sent at once.
func (a *API) awaitChanges(r *http.Request, out *response, request feed.LogRequest) (page *feed.Changes, applied []string, err error) {
	page, err = a.Feed.Changes(r.Context(), request)
	q := request.Query
	wait, asked := waitOf(r)
	if err != nil || !asked || q.Since == "" && q.Range.Anchor != query.AtCursor || q.Range.Limit <= 0 || r.Method != http.MethodGet {
		return page, nil, err
	}
	condition, err := conditionOf(r)
	if err != nil {
		return page, nil, err
	}
	if unchanged, err := condition.AllowsReading(""); err != nil || unchanged {
		return page, nil, err
	}
	applied = []string{"wait=" + strconv.Itoa(int(wait/time.Second))}
	_ = http.NewResponseController(out.ResponseWriter).SetReadDeadline(time.Time{}) // of the request, which was read; it would end the wait
	ctx, cancel := a.untilDisconnectedOrStopped(r.Context())
	defer cancel()
	ctx, cancelWait := context.WithTimeout(ctx, wait)
	defer cancelWait()
	defer page.EndWait()
	for {
		if found, err := page.Later(); err != nil || found || wait == 0 {
			return page, applied, err
		}
		out.timer.Pause()
		err := page.Wait(ctx, out.context.reader.Key)
		out.timer.Restart()
		ended := (*feed.End)(nil)
		switch {
		case clientOf(r.Context()).Err() != nil:
			return page, applied, clientOf(r.Context()).Err()
		case errors.As(err, &ended), err != nil && ctx.Err() != nil: // the server stops, or the time is over
			return page, applied, a.Guard.CheckValid(r.Context(), request.Path.By)
		case err == nil:
			err = a.Guard.CheckValid(r.Context(), request.Path.By)
		}
		if err != nil {
			return page, applied, err
		}
	}
}

// readChange replies with one change.
func (a *API) readChange(r *http.Request, t *target) (*reply, error) {
	if err := query.ParseNone(r.URL.RawQuery); err != nil {
		return nil, err
	}
	condition, err := conditionOf(r)
	if err != nil {
		return nil, err
	}
	representation, number, found, err := a.Feed.Change(r.Context(), a.logRequest(t, query.Query{}), t.id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fault.New(problem.CodeNotFound, "There is no change %s here.", t.id)
	}
	return a.replyWithOne(condition, t, a.changeTag(number, representation), representation)
}

// changeTag is the ETag of a change. A change itself stays as it is, but the schema and what the
// caller may see do not. Each version of the interface has tags of its own.
func (a *API) changeTag(number int64, representation []byte) string {
	if version := a.Schema.Versions().Newest; version != 0 {
		representation = strconv.AppendInt(slices.Clip(representation), int64(version), 10)
	}
	sum := sha256.Sum256(representation)
	return `"` + strconv.FormatInt(number, 36) + "." + strconv.FormatUint(binary.BigEndian.Uint64(sum[:])|1<<63, 36) + `"`
}
