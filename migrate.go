package plural

import (
	"context"

	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/store"
)

// MigrateMode says what a server does by itself to a database that was made for
// another schema.
type MigrateMode string

// The modes. In each, a database that still does not fit is refused.
const (
	// MigrateAdditive takes steps that leave all that is stored as it is: new
	// collections, new attributes that are optional or have a default, new
	// indexes, fewer restrictions.
	MigrateAdditive MigrateMode = "additive"
	// MigrateOff takes none.
	MigrateOff MigrateMode = "off"
)

func migrateOptions(config Config, observer *observe.Observer) []store.Option {
	if config.Migrate == MigrateOff {
		return nil
	}
	return []store.Option{store.MigrateAdditive(func(step *store.Step) { observer.Migrated(step.Text, step.Cost) })}
}

// MigrationStep is one difference between the schema of a database and another
// one, and what it takes to bridge it.
type MigrationStep struct {
	// Class is additive (what is stored stays as it is), rewriting (it is kept
	// in another form) or losing (it is given up).
	Class string
	Text  string // what changes
	Cost  string // how many resources are read or written
	// Complaint tells which resources the new schema does not allow as they
	// are. Empty: none.
	Complaint string
	// Loses: something that is stored would be given up.
	Loses bool
	// Blocked: the resources that Complaint tells of must be changed first.
	Blocked bool
}

func migrationSteps(steps []*store.Step) []MigrationStep {
	public := make([]MigrationStep, len(steps))
	for i, step := range steps {
		public[i] = MigrationStep{Class: string(step.Class), Text: step.Text, Cost: step.Cost, Loses: step.Loses(), Blocked: step.Blocked}
		if step.Violations > 0 {
			public[i].Complaint = step.Complaint()
		}
	}
	return public
}

// PlanMigration finds what it takes to bring the database of a configuration to
// its schema. It reads what is stored, and changes nothing. No steps means that
// the database has this schema.
func PlanMigration(ctx context.Context, config Config) ([]MigrationStep, error) {
	config = config.withDefaults()
	steps, err := store.Plan(ctx, config.Database, config.model())
	return migrationSteps(steps), err
}

// MigrateOptions says how a database is migrated.
type MigrateOptions struct {
	// AllowLoss permits steps that give up something that is stored. Those that
	// are blocked are refused always.
	AllowLoss bool
	// Backup is a new file that an SQLite database is copied to first. Nobody
	// writes between the copy and the migration. Empty: none.
	Backup string
}

// Migrate brings the database of a configuration to its schema, in one
// transaction, and returns the steps that it took. When it refuses, nothing has
// changed. Servers with the old schema must be restarted afterwards.
func Migrate(ctx context.Context, config Config, options MigrateOptions) ([]MigrationStep, error) {
	config = config.withDefaults()
	steps, err := store.Migrate(ctx, config.Database, config.model(), store.MigrateOptions(options))
	return migrationSteps(steps), err
}

// Backup copies an SQLite database into a new file, and checks the copy. The
// database may be in use: the copy is as it was at one moment. An existing file
// is never overwritten.
func Backup(ctx context.Context, database, file string) error {
	return store.Backup(ctx, database, file)
}

// RestoreOptions says what Restore may do.
type RestoreOptions struct {
	// Overwrite replaces a database that has tables. Without it such a database is
	// refused.
	Overwrite bool
}

// Restore makes an SQLite database what a backup is, once the backup has been
// checked. The database may be in use: a reader sees the old state or the new one.
func Restore(ctx context.Context, database, file string, options RestoreOptions) error {
	return store.Restore(ctx, database, file, options.Overwrite)
}
