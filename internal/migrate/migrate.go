// Package migrate changes the tables of a database from one schema to another: it stores
// schemas, compares them, plans steps, surveys the affected rows, and applies the steps.
package migrate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/model"
)

// Plan compares the schema of a database with another one, and finds the rows that violate it.
// It changes nothing. An empty plan means that they are equal.
func Plan(ctx context.Context, url string, s *model.Schema) (steps []*Step, err error) {
	err = databases.With(ctx, url, func(b db.Database) error {
		c, release, err := b.Read(ctx, db.LongRead)
		if err != nil {
			return err
		}
		defer release()
		p, err := makePlan(c, b, s)
		if err != nil || p == nil {
			return err
		}
		err = (&survey{plan: p, conn: c, dialect: b}).run() // which may add steps
		steps = p.steps
		return err
	})
	return steps, err
}

// Options configures a migration.
type Options struct {
	// AllowLoss permits dropping values that are invalid in the new schema.
	AllowLoss bool
	// Before is called before anything is changed, while no other process can write. Its error
	// ends the migration. Nil: not called.
	Before func() error
}

// Run migrates a database to a schema, in one transaction, and returns the steps it applied.
// Without AllowLoss it refuses, with a *RefusedError, to lose stored values.
func Run(ctx context.Context, url string, s *model.Schema, o Options) (steps []*Step, err error) {
	err = databases.With(ctx, url, func(b db.Database) error {
		steps, err = planAndApply(ctx, b, s, time.Now(), func(p *plan) error {
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
func planAndApply(ctx context.Context, b db.Database, s *model.Schema, now time.Time, accept func(*plan) error) (steps []*Step, err error) {
	at := model.TimeValue(model.FormatTime(now))
	err = b.Migrate(ctx, func(c db.Conn) error {
		p, err := makePlan(c, b, s)
		if err != nil || p == nil {
			return err
		}
		m := &migration{survey: survey{plan: p, conn: c, dialect: b}, at: at}
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

// RefusedError says why a migration was refused.
type RefusedError struct {
	Steps []*Step // that are refused
	// Blocked: AllowLoss would not help.
	Blocked bool
	// Back says that the schema is an earlier one; empty if it is not.
	Back string
}

// Error lists the steps, with the violating resources.
func (e *RefusedError) Error() string {
	var b strings.Builder
	b.WriteString("the migration is refused, and nothing was changed:")
	for _, step := range e.Steps {
		b.WriteString("\n  - " + step.Text)
		if step.Violations > 0 {
			b.WriteString(": " + step.Complaint())
		} else {
			b.WriteString(": it " + step.Cost)
		}
	}
	if e.Back != "" {
		b.WriteString("\n" + e.Back + ". To continue, use the current schema.")
	}
	if e.Blocked {
		b.WriteString("\nChange these resources first, or the schema.")
	} else {
		b.WriteString("\n\"plural migrate --allow-loss\" permits it; values that would be invalid become null.")
	}
	return b.String()
}

// Complaint names the resources that violate the step, and the reason.
func (s *Step) Complaint() string {
	ids := make([]string, len(s.Examples))
	for i, id := range s.Examples {
		ids[i] = id.String()
	}
	more := ""
	if rest := s.Violations - int64(len(ids)); rest > 0 {
		more = fmt.Sprintf(" and %d more", rest)
	}
	return fmt.Sprintf("%s this: %s%s (%s)", Counted(s.Violations, "resource")+db.Choose(s.Violations == 1, " violates", " violate"), strings.Join(ids, ", "), more, s.Problem)
}

// refusal returns nil if the steps may be applied. Steps that AllowLoss cannot permit are
// reported first.
func refusal(p *plan, allowLoss bool) error {
	var blocked, losing []*Step
	for _, step := range p.steps {
		if step.Blocked {
			blocked = append(blocked, step)
		} else if step.Loses() {
			losing = append(losing, step)
		}
	}
	switch {
	case len(blocked) > 0:
		return &RefusedError{Steps: blocked, Blocked: true, Back: p.earlierVersion()}
	case len(losing) > 0 && !allowLoss:
		return &RefusedError{Steps: losing, Back: p.earlierVersion()}
	}
	return nil
}

// misfitOf lists the steps of a plan that was not applied when the database was opened.
func misfitOf(p *plan, additive bool) *db.MisfitError {
	e := &db.MisfitError{Problem: db.Misfit}
	for _, step := range p.steps {
		e.Differences = append(e.Differences, fmt.Sprintf("%s (%s)", step.Text, step.Class))
	}
	e.Advice = `"plural migrate --plan" shows the steps in detail, and "plural migrate" applies them.`
	if back := p.earlierVersion(); back != "" {
		e.Advice = back + `. Start the server with the current schema. "plural migrate" would migrate back, with the steps above.`
	} else if !additive && p.additive() {
		e.Advice = `"plural migrate" changes the database. With "--migrate additive" the server applies such steps itself.`
	}
	return e
}

// Fit creates the tables of an empty database, and checks those of any other. If they differ,
// it migrates them if all steps are additive and applied is not nil, and calls applied with
// each step; otherwise it returns a *MisfitError. Ready is called in a transaction in which
// the database has the schema; it may be called more than once.
func Fit(ctx context.Context, b db.Database, s *model.Schema, now time.Time, applied func(*Step), ready func(db.Conn) error) error {
	different, err := differences(ctx, b, s, ready)
	if err != nil || different == nil {
		return err
	}
	accept := func(p *plan) error {
		if !p.isFirst() && (applied == nil || !p.additive()) {
			return misfitOf(p, applied != nil)
		}
		return nil
	}
	if err := accept(different); err != nil {
		return err
	}
	// Plan again: another server may have migrated the database since.
	steps, err := planAndApply(ctx, b, s, now, accept)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if !different.isFirst() {
			applied(step)
		}
	}
	if different, err = differences(ctx, b, s, ready); err == nil && different != nil {
		err = misfitOf(different, applied != nil)
	}
	return err
}

// differences plans the migration of the database. It returns nil if the database has the schema
// and ready succeeded.
func differences(ctx context.Context, b db.Database, s *model.Schema, ready func(db.Conn) error) (different *plan, err error) {
	err = db.Write(ctx, b, func(c db.Conn) (err error) {
		if different, err = makePlan(c, b, s); err == nil && different == nil {
			err = ready(c)
		}
		return err
	})
	return different, err
}
