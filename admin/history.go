// Package admin works on a database by its URL, "sqlite:plural.db" or "postgres://…", without a server: backups, copies,
// checks, migrations and API keys. Servers may be using the database meanwhile; each function says what they notice.
package admin

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/model"
)

// RenewHistory gives a database another history id, which is part of every ETag and every
// position in the change log: those that were given before are refused from then on. Restore and
// Copy do it by themselves. Call it when the database was put back by other means, after which it
// gives the same revisions again for something else: a foreign pg_restore, or a failover to a
// standby that did not have everything. Servers that use the database notice it.
func RenewHistory(ctx context.Context, database string) error {
	return databases.With(ctx, database, func(b db.Database) error {
		return b.Migrate(ctx, func(c db.Conn) error {
			if _, err := catalog.Require(c, b); err != nil {
				return err
			}
			return renewHistoryNow(c, b)
		})
	})
}

func renewHistoryNow(c db.Conn, d db.Dialect) error {
	return catalog.RenewHistory(c, d, model.TimeValue(model.FormatTime(time.Now())))
}
