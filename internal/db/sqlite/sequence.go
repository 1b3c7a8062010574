package sqlite

import (
	"context"

	"github.com/plural-go/plural/internal/db"
)

// AssignNumbers: changes are committed in the order of their revisions, which are the numbers.
func (b *Database) AssignNumbers(ctx context.Context) (last int64, err error) {
	c, release, err := b.Read(ctx, db.OneQuery)
	if err != nil {
		return 0, err
	}
	defer release()
	return db.Int(c, b.LastGiven())
}

// Notify: SQLite does not notify of the writes of other processes.
func (b *Database) Notify(ctx context.Context, changed func()) error {
	b.changed.Each(ctx, changed)
	return nil
}
