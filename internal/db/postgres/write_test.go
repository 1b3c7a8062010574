package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/pgtest"
)

// TestLostConnections: by whichever error it shows.
func TestLostConnections(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&pgconn.PgError{Code: "57P01"}, true},
		{&pgconn.PgError{Code: "25P03"}, true},
		{&pgconn.PgError{Code: "57P05"}, true},
		{fmt.Errorf("writing: %w", syscall.EPIPE), true},
		{io.ErrUnexpectedEOF, true},
		{&pgconn.PgError{Code: "23505"}, false},
		{context.DeadlineExceeded, false},
		{errors.Join(errUnknownOutcome, io.EOF), false},
		{errors.Join(errUnknownOutcome, &pgconn.PgError{Code: "57P01"}), false},
		{nil, false},
	} {
		if got := isLostConnection(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}

// TestErrorsAsAnswers: only an error that leaves the connection says that nothing was committed.
func TestErrorsAsAnswers(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "40001"}, true},
		{&pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, false},
		{&pgconn.PgError{SeverityUnlocalized: "PANIC", Code: "XX000"}, false},
		{io.EOF, false},
		{context.DeadlineExceeded, false},
	} {
		if got := isAnswer(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}

// TestDatabaseThatRounds: it is refused before anything is stored.
func TestDatabaseThatRounds(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), with(t, pgtest.URL(t), "extra_float_digits", "0"), db.Options{})
	if err == nil || !strings.Contains(err.Error(), "extra_float_digits of the database is 0") {
		t.Errorf("got %v", err)
	}
}
