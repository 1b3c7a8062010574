package admin

import (
	"context"
	"fmt"

	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// MigrationStep is one difference between the schema that a database has and the one that it will have.
type MigrationStep struct {
	// Class is additive (all stored values stay as they are, so that a server may apply the step when it starts), rewriting
	// (values are kept, under another name or converted, except for those of Complaint) or losing (stored
	// values are deleted, operations in the queue that the new schema may not allow, or a version of the interface ends).
	Class string
	Text  string // what changes
	Cost  string // how many resources are read, written or indexed
	// Complaint lists stored resources that violate the new schema. Empty: there are none.
	Complaint string
	// Warning lists resources in a state of a lifecycle that nothing leads to. They stay as they are. Empty: there are none.
	Warning string
	// Samples are some of the values that the step computes, each with the id of the resource, the value before it and the one
	// after it.
	Samples []string
	// Loses: the class is losing, or there is a Complaint, whose values would become null. Only AllowLoss permits it.
	Loses bool
	// Blocked: not even AllowLoss permits the step, because null violates the new schema as well. The resources
	// of Complaint must be changed first.
	Blocked bool
}

func migrationSteps(steps []*migrate.Step) []MigrationStep {
	public := make([]MigrationStep, len(steps))
	for i, step := range steps {
		public[i] = MigrationStep{Class: string(step.Class), Text: step.Text, Cost: step.Cost, Loses: step.Loses(), Blocked: step.Blocked, Warning: step.Warning()}
		for _, sample := range step.Samples {
			public[i].Samples = append(public[i].Samples, fmt.Sprintf("%s %s -> %s", sample.ID, sample.Before, sample.After))
		}
		if step.Violations > 0 {
			public[i].Complaint = step.Complaint()
		}
	}
	return public
}

// MigrationPart is a part of a migration that is made while servers with the old and the new schema use the database.
type MigrationPart string

// The parts of a migration.
const (
	// WholeMigration is what is left of the migration.
	WholeMigration MigrationPart = ""
	// Expand is the first part, which servers with the old schema can obey. After it, servers with the new schema can start.
	Expand MigrationPart = "expand"
	// Contract is the second part. It comes when no server with the old schema is left, and those with the new one continue.
	Contract MigrationPart = "contract"
)

// PlanMigration lists the steps that migrate a database to a schema. It changes nothing. No steps means that the database
// has this schema.
func PlanMigration(ctx context.Context, database string, to *schema.Schema) ([]MigrationStep, error) {
	steps, _, err := PlanMigrationPart(ctx, database, to, WholeMigration)
	return steps, err
}

// PlanMigrationPart lists the steps of a part. After those of Expand, later are the steps that Contract would have now.
func PlanMigrationPart(ctx context.Context, database string, to *schema.Schema, part MigrationPart) (steps, later []MigrationStep, err error) {
	now, left, err := migrate.Plan(ctx, database, (*model.Schema)(to), migrate.Part(part))
	return migrationSteps(now), migrationSteps(left), err
}

// MigrateOptions says how a database is migrated.
type MigrateOptions struct {
	// Part is the part that is made. Default: WholeMigration.
	Part MigrationPart
	// AllowLoss allows steps that lose stored values, or end a version of the interface. Blocked steps are always refused.
	AllowLoss bool
	// Backup is a new file that an SQLite database is copied to first. No other
	// process can write between the copy and the migration. Empty: none.
	Backup string
}

// Migrate migrates a database to a schema, in one transaction, and returns the steps. If it refuses, nothing has changed.
// Servers with the old schema must be restarted afterwards, except for Expand.
func Migrate(ctx context.Context, database string, to *schema.Schema, options MigrateOptions) ([]MigrationStep, error) {
	o := migrate.Options{Part: migrate.Part(options.Part), AllowLoss: options.AllowLoss}
	if options.Backup != "" {
		o.Before = func() error { return Backup(ctx, database, options.Backup) }
	}
	steps, err := migrate.Run(ctx, database, (*model.Schema)(to), o)
	return migrationSteps(steps), err
}
