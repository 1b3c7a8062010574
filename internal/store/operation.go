package store

import (
	"context"
	"slices"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/problem"
)

// An operation is two rows: a resource that clients read, and its job in the queue until it has ended.

// CheckBacklog refuses another operation when so many are unfinished, or the caller has their share of them. The operations of the caller
// are counted only if they can be so many.
func (t *Tx) CheckBacklog(callerID string, most, share int64) error {
	unfinished, err := t.Backlog(most)
	if err != nil {
		return err
	}
	if unfinished >= most {
		return fault.New(problem.CodeBacklogFull, "The queue is full: %d operations are pending. Try again later.", unfinished)
	}
	if unfinished < share {
		return nil
	}
	own, err := t.BacklogOf(callerID, share)
	if err == nil && own >= share {
		err = fault.New(problem.CodeTooManyRequests, "%d of your operations are pending, and a caller may have no more. Try again later.", own)
	}
	return err
}

// AddOperation adds an operation on a resource of a collection, under its name in the version of the job. It waits for others, and its
// caller has an id.
func (t *Tx) AddOperation(job Job, of *model.Collection, callerID string, awaited []model.ID) error {
	c := t.store.schema.Operations()
	record := make(model.Record, len(c.Columns()))
	record[model.IDColumn] = model.IDValue(job.Operation)
	record[c.Field("status").Column] = model.TextValue("pending")
	record[c.Field("method").Column] = model.TextValue(job.Method)
	record[c.Field("resource").Column] = model.TextValue(`{"id":"` + job.Resource.String() + `","type":"` + of.Name + `"}`)
	record[c.Field("attempts").Column] = model.IntValue(0)
	record[c.CallerColumn()] = model.TextValue(callerID)
	record[c.CreatedColumn()], record[c.UpdatedColumn()] = t.at, t.at
	if _, err := t.Insert(c, record); err != nil {
		return err
	}
	return t.Enqueue(job, awaited)
}

// SetStatus stores the progress of an operation for clients.
func (t *Tx) SetStatus(job Job, status string, failed problem.Errors) error {
	c := t.store.schema.Operations()
	before, err := t.Get(c, nil, job.Operation)
	if err != nil || before == nil {
		return err
	}
	after := slices.Clone(before)
	after[c.Field("status").Column] = model.TextValue(status)
	after[c.Field("attempts").Column] = model.IntValue(job.Attempt)
	if len(failed) > 0 {
		after[c.Field("errors").Column] = model.TextValue(string(fault.JSON(failed)))
	}
	after[c.UpdatedColumn()] = t.at
	_, err = t.Update(c, before, after)
	return err
}

// EndOperation ends an operation, which has failed if there is an error.
func (t *Tx) EndOperation(job Job, failed error) error {
	status, faults := "succeeded", problem.Errors(nil)
	if failed != nil {
		status, faults = "failed", fault.From(failed)
	}
	if err := t.SetStatus(job, status, faults); err != nil {
		return err
	}
	return t.Finish(job)
}

// DeleteOldOperations removes operations that ended longer ago than age.
func (s *Store) DeleteOldOperations(ctx context.Context, age time.Duration) error {
	c := s.schema.Operations()
	old := query.And{
		query.In{Column: c.Field("status").Column, Values: []model.Value{model.TextValue("succeeded"), model.TextValue("failed")}},
		query.Compare{Column: c.UpdatedColumn(), Op: query.Less, Value: model.TimeValue(model.FormatTime(time.Now().Add(-age)))},
	}
	return s.deleteInBatches(ctx, func(t *Tx) (removed int, err error) {
		rows, err := t.Select(c, statement.Selection{Plan: statement.Plan{Filter: old}, Order: statement.NewOrder(nil), Take: deleteBatch})
		if err != nil {
			return 0, err
		}
		var ids []model.ID
		more, err := rows.Next()
		for ; more && err == nil; more, err = rows.Next() {
			ids = append(ids, rows.ID(model.IDColumn))
		}
		rows.Close()
		if err != nil {
			return 0, err
		}
		return t.DeleteSet(Set{Collection: c, IDs: ids})
	})
}
