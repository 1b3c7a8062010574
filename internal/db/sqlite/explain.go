package sqlite

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/db"
)

// Explain adds advice to an error of SQLite, for a person who runs a command or starts a server.
func Explain(err error) error {
	var already *explanation
	if errors.As(err, &already) {
		return err
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultBusy, sqlite.ResultLocked, sqlite.ResultProtocol:
		return &explanation{db.InUse(err)}
	case sqlite.ResultIOErr:
		return &explanation{fmt.Errorf("a file of the database cannot be read or written: check its disk and file system, and try again: %w", err)}
	}
	return err
}

// explanation is an error with advice.
type explanation struct{ error }

// Unwrap returns the original error.
func (e *explanation) Unwrap() error { return e.error }
