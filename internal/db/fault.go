package db

import (
	"context"
	"errors"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// Fault turns every error of a database into a problem, except the end of the caller's context.
func Fault(ctx context.Context, d Database, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var list problem.Errors
	var single *problem.Error
	if errors.As(err, &list) || errors.As(err, &single) {
		return err
	}
	if errors.Is(err, ErrClosed) {
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "The server is shutting down. Try again later.", Cause: err}
	}
	if errors.Is(err, ErrBusy) {
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "All database connections are in use. Try again later.", Cause: err}
	}
	if known := d.Fault(err); known != nil {
		return known
	}
	return fault.Internal(err)
}
