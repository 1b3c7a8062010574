package plural

import (
	"context"

	"github.com/plural-go/plural/internal/maintain"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/store"
)

// MigrateMode is what Open does with a database that has another schema.
type MigrateMode string

// The modes. In each, a database that still does not fit is refused.
const (
	// MigrateAdditive applies steps that leave all stored values unchanged: new collections, new
	// attributes that are optional or have a default and are not unique, new indexes, fewer restrictions.
	MigrateAdditive MigrateMode = "additive"
	// MigrateOff applies none.
	MigrateOff MigrateMode = "off"
)

func storeOptions(config Config, observer *observe.Observer) []store.Option {
	options := []store.Option{store.ListenAt(config.DatabaseDirect)}
	if config.Migrate == MigrateOff {
		return options
	}
	return append(options, store.MigrateAdditive(func(step *migrate.Step) { observer.Migrated(step.Text, step.Cost) }))
}

// MigrationStep is one difference between the schema that a database has and the one that it will have.
type MigrationStep struct {
	// Class is additive (all stored values stay as they are, so that Open may apply the step), rewriting
	// (values are kept, under another name or converted, except for those of Complaint) or losing (stored
	// values are deleted, or operations in the queue that the new schema may not allow).
	Class string
	Text  string // what changes
	Cost  string // how many resources are read, written or indexed
	// Complaint lists stored resources that violate the new schema. Empty: there are none.
	Complaint string
	// Loses: the class is losing, or there is a Complaint, whose values would become null. Only AllowLoss permits it.
	Loses bool
	// Blocked: not even AllowLoss permits the step, because null violates the new schema as well. The resources
	// of Complaint must be changed first.
	Blocked bool
}

func migrationSteps(steps []*migrate.Step) []MigrationStep {
	public := make([]MigrationStep, len(steps))
	for i, step := range steps {
		public[i] = MigrationStep{Class: string(step.Class), Text: step.Text, Cost: step.Cost, Loses: step.Loses(), Blocked: step.Blocked}
		if step.Violations > 0 {
			public[i].Complaint = step.Complaint()
		}
	}
	return public
}

// PlanMigration lists the steps that migrate the database of a configuration to its schema. It
// changes nothing. No steps means that the database has this schema.
func PlanMigration(ctx context.Context, config Config) ([]MigrationStep, error) {
	config = config.withDefaults()
	steps, err := migrate.Plan(ctx, config.Database, config.model())
	return migrationSteps(steps), err
}

// MigrateOptions says how a database is migrated.
type MigrateOptions struct {
	// AllowLoss allows steps that lose stored values. Blocked steps are always refused.
	AllowLoss bool
	// Backup is a new file that an SQLite database is copied to first. No other
	// process can write between the copy and the migration. Empty: none.
	Backup string
}

// Migrate migrates the database of a configuration to its schema, in one transaction, and
// returns the steps. If it refuses, nothing has changed. Servers with the old schema must be
// restarted afterwards.
func Migrate(ctx context.Context, config Config, options MigrateOptions) ([]MigrationStep, error) {
	config = config.withDefaults()
	o := migrate.Options{AllowLoss: options.AllowLoss}
	if options.Backup != "" {
		o.Before = func() error { return maintain.Backup(ctx, config.Database, options.Backup) }
	}
	steps, err := migrate.Run(ctx, config.Database, config.model(), o)
	return migrationSteps(steps), err
}

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
