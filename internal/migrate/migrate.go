// Package migrate changes the tables of a database from one schema to another: it compares the
// schemas, plans steps, surveys the affected rows, and applies the steps.
package migrate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/model"
)

// Plan compares the schema of a database with another one, and finds the rows that violate it.
// It changes nothing. An empty plan means that they are equal. After the steps of an expansion, later are those that a contraction will
// have, as far as they do not follow from resources that will be written until then.
func Plan(ctx context.Context, url string, s *model.Schema, part Part) (steps, later []*Step, err error) {
	err = databases.Read(ctx, url, func(b db.Database, c db.Conn) error {
		p, err := makePlan(c, b, s, part)
		if err != nil || p == nil {
			return err
		}
		examine := func(p *plan) error { // it may add steps
			return (&survey{plan: p, conn: c, dialect: b, traits: b.Traits(), at: timeOf(time.Now())}).run()
		}
		err = examine(p)
		if steps = p.steps; err != nil || p.goal == nil {
			return err
		}
		p.goal.state = p.state
		if err := p.goal.planVersions(c); err != nil {
			return err
		}
		left := p.goal.contracted() // before the survey makes steps that affect no value additive
		err = examine(p.goal)
		later = slices.DeleteFunc(slices.Clone(p.goal.steps), func(step *Step) bool { return !slices.Contains(left, step) })
		return err
	})
	return steps, later, err
}

// Options configures a migration.
type Options struct {
	Part Part
	// AllowLoss permits losing steps: removing collections and attributes, dropping values that are invalid in the new
	// schema, ending versions of the interface, and accepted operations that may fail. Blocked steps stay refused.
	AllowLoss bool
	// Before is called before anything is changed, while no other process can write. Its error
	// ends the migration. Nil: not called.
	Before func() error
}

// Run migrates a database to a schema, in one transaction, and returns the steps it applied.
// Without AllowLoss it refuses, with a *RefusedError, to lose stored values.
func Run(ctx context.Context, url string, s *model.Schema, o Options) (steps []*Step, err error) {
	err = databases.With(ctx, url, func(b db.Database) error {
		steps, err = planAndApply(ctx, b, s, o.Part, time.Now(), func(p *plan) error {
			err := refusal(p, o.AllowLoss)
			if err == nil && o.Before != nil {
				err = o.Before()
			}
			return err
		})
		return err
	})
	return steps, err
}

// planAndApply plans, surveys the rows, calls accept with the plan, and applies it unless accept
// returns an error.
func planAndApply(ctx context.Context, b db.Database, s *model.Schema, part Part, startedAt time.Time, accept func(*plan) error) (steps []*Step, err error) {
	at := timeOf(startedAt)
	err = b.Migrate(ctx, func(c db.Conn) error {
		p, err := makePlan(c, b, s, part)
		if err != nil || p == nil {
			return err
		}
		m := &migration{survey: survey{plan: p, conn: c, dialect: b, traits: b.Traits(), at: at}}
		if err := m.survey.run(); err != nil {
			return err
		}
		steps = p.steps
		if err := accept(p); err != nil {
			return err
		}
		if p.isFirst() {
			if err := createAll(c, b, s, at); err != nil {
				return fmt.Errorf("creating the tables: %w", err)
			}
			return nil
		}
		return m.apply()
	})
	return steps, err
}

func timeOf(t time.Time) model.Value { return model.TimeValue(model.FormatTime(t)) }
