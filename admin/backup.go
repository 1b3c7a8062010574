package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// Backup copies an SQLite database into a new file. The database may be in use: the copy is as it was at one moment. It is
// checked before it gets its name, so a file with that name is always complete. An existing file is never overwritten.
func Backup(ctx context.Context, database, file string) error {
	return databases.Explain(databases.BackUp(ctx, database, file, checkBackup))
}

// RestoreOptions says what Restore may do.
type RestoreOptions struct {
	// Overwrite replaces a database that is not empty. Without it such a database is refused.
	Overwrite bool
}

// Restore replaces an SQLite database by a backup, which is checked first. The database may be in use: one transaction
// replaces everything, so readers see the old or the new state. The database gets another history id.
func Restore(ctx context.Context, database, file string, options RestoreOptions) error {
	steps := databases.RestoreSteps{Check: checkBackup, MayReplace: requireEmpty, Prepare: renewHistoryNow}
	if options.Overwrite {
		steps.MayReplace = nil
	}
	return databases.Explain(databases.Restore(ctx, database, file, steps))
}

// checkBackup checks that a database is one of Plural: its tables match its schema, nothing else is in it that statements
// could execute, and the stored totals match the numbers of resources. It is the same for both commands, so that no backup
// is written that cannot be restored.
func checkBackup(c db.Conn, d db.Dialect) error {
	found, err := db.Describe(c, d)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("it is empty")
	}
	state, err := catalog.Open(c, d, found)
	if err != nil {
		return err
	}
	stored := state.Schema
	create := func(c db.Conn, d db.Dialect) error { return migrate.CreateTables(c, d, stored) }
	if err := databases.CheckObjects(c, create); err != nil {
		return err
	}
	for _, collection := range stored.All() {
		kept, err := db.Int(c, "SELECT total FROM "+lists.AllTotals()+" WHERE collection = $1 AND parent = ''", model.TextValue(collection.Name))
		if err != nil {
			return err
		}
		there, err := db.Int(c, "SELECT count(*) FROM "+db.Quote(d, collection.Name))
		if err != nil {
			return err
		}
		if kept != there {
			return fmt.Errorf("%s should have %s, but has %d", collection.Name, suggest.Counted(kept, "resource"), there)
		}
	}
	return nil
}

// requireEmpty refuses a database that holds data.
func requireEmpty(c db.Conn, d db.Dialect, name string) error {
	found, err := db.Describe(c, d)
	if err != nil || len(found) == 0 {
		return err
	}
	if found[db.TotalsTable] == nil {
		return fmt.Errorf("%s has tables that Plural did not create (%s)", name, strings.Join(db.SortedNames(found), ", "))
	}
	resources, err := db.Int(c, "SELECT coalesce(sum(total), 0) FROM "+lists.AllTotals()+" WHERE parent = ''")
	if err == nil && resources > 0 {
		err = fmt.Errorf("%s has %s, which would be replaced; --force permits it", name, suggest.Counted(resources, "resource"))
	}
	return err
}
