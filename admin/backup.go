package admin

import (
	"context"

	"github.com/plural-go/plural/internal/maintain"
)

// Backup copies an SQLite database into a new file, and checks the copy. The
// database may be in use: the copy is as it was at one moment. An existing file
// is never overwritten.
func Backup(ctx context.Context, database, file string) error {
	return maintain.Backup(ctx, database, file)
}

// RestoreOptions says what Restore may do.
type RestoreOptions struct {
	// Overwrite replaces a database that is not empty. Without it such a database is refused.
	Overwrite bool
}

// Restore replaces an SQLite database by a backup, which is checked first. The database may be
// in use: readers see the old or the new state.
func Restore(ctx context.Context, database, file string, options RestoreOptions) error {
	return maintain.Restore(ctx, database, file, options.Overwrite)
}
