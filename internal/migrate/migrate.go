// Package migrate changes the tables of a database from one schema to another: it stores
// schemas, compares them, plans steps, surveys the affected rows, and applies the steps.
package migrate

import (
	"bytes"
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
		found, err := db.Describe(c, b)
		if err != nil {
			return err
		}
		p := firstPlan(s)
		if len(found) > 0 {
			stored, old, err := AnyStoredSchema(c, b, found)
			if err != nil {
				return err
			}
			if p = newPlan(stored, s); old {
				p.upgradeStep()
			}
		}
		err = (&survey{plan: p, conn: c, dialect: b}).run() // which may add steps
		steps = p.steps
		return err
	})
	return steps, err
}

// Options says how a database is migrated.
type Options struct {
	// AllowLoss allows to lose values that the new schema does not allow.
	AllowLoss bool
	// Before is called before anything is changed, when nobody else writes any more. Its error
	// ends the migration. Nil: nothing is done.
	Before func() error
}

// Run brings a database to a schema, in one transaction, and returns the
// steps that it took. Without permission it refuses, with a *RefusedError, to give
// up anything that is stored.
func Run(ctx context.Context, url string, s *model.Schema, o Options) (steps []*Step, err error) {
	err = databases.With(ctx, url, func(b db.Database) error {
		steps, err = run(ctx, b, s, time.Now(), func(p *plan) error {
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

// run plans, asks accept, and carries out what it accepts.
func run(ctx context.Context, b db.Database, s *model.Schema, now time.Time, accept func(*plan) error) (steps []*Step, err error) {
	at := model.TimeValue(model.FormatTime(now))
	err = b.Migrate(ctx, func(c db.Conn) error {
		found, err := db.Describe(c, b)
		if err != nil {
			return err
		}
		p := firstPlan(s)
		if len(found) > 0 {
			stored, old, err := AnyStoredSchema(c, b, found)
			if err != nil || !old && bytes.Equal(stored.Document(), s.Document()) {
				return err
			}
			if p, err = planFrom(c, stored, s, old); err != nil {
				return err
			}
		}
		m := &migration{survey: survey{plan: p, conn: c, dialect: b}, at: at}
		if err := m.run(); err != nil {
			return err
		}
		steps = p.steps
		if err := accept(p); err != nil {
			return err
		}
		if p.first() {
			if err := createAll(c, b, s, at); err != nil {
				return fmt.Errorf("making the tables: %w", err)
			}
			return nil
		}
		return m.apply()
	})
	return steps, err
}

// RefusedError says why a migration was not carried out.
type RefusedError struct {
	Steps []*Step // that are in the way
	// Blocked: AllowLoss would not help.
	Blocked bool
	// Back says that the schema is an earlier one; empty if it is not.
	Back string
}

// Error lists the steps, with the resources that are in the way.
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
		b.WriteString("\n" + e.Back + ". To go on, use the schema of that version.")
	}
	if e.Blocked {
		b.WriteString("\nChange these resources first, or the schema.")
	} else {
		b.WriteString("\n\"plural migrate --allow-loss\" permits it; values that would not be valid become null.")
	}
	return b.String()
}

// Complaint tells which resources are in the way of the step, and why.
func (s *Step) Complaint() string {
	ids := make([]string, len(s.Examples))
	for i, id := range s.Examples {
		ids[i] = id.String()
	}
	more := ""
	if rest := s.Violations - int64(len(ids)); rest > 0 {
		more = fmt.Sprintf(" and %d more", rest)
	}
	return fmt.Sprintf("%s in the way: %s%s (%s)", Counted(s.Violations, "resource")+db.Choose(s.Violations == 1, " is", " are"), strings.Join(ids, ", "), more, s.Problem)
}

// refusal is nil when the steps can be taken. What nothing could permit comes
// before what could.
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

// misfitOf lists a plan that was not carried out when the database was opened.
func misfitOf(p *plan, additive bool) *db.MisfitError {
	e := &db.MisfitError{Problem: db.Misfit}
	for _, step := range p.steps {
		e.Differences = append(e.Differences, fmt.Sprintf("%s (%s)", step.Text, step.Class))
	}
	e.Advice = `"plural migrate --plan" shows what it takes to change the database, and "plural migrate" does it.`
	if back := p.earlierVersion(); back != "" {
		e.Advice = back + `: start with that one. "plural migrate" would go back, by the steps above.`
	} else if !additive && p.additive() {
		e.Advice = `"plural migrate" changes the database. With "--migrate additive" the server does it by itself.`
	}
	return e
}

// Fit makes the tables of an empty database, and checks those of another. If they differ, it
// migrates them if that is additive and applied is not nil, and reports each step to that; else it
// refuses them with a *MisfitError. Ready is called in a transaction that has found that
// the database has the schema; it may be called more than once.
func Fit(ctx context.Context, b db.Database, s *model.Schema, now time.Time, applied func(*Step), ready func(db.Conn) error) error {
	different, err := differences(ctx, b, s, ready)
	if err != nil || different == nil {
		return err
	}
	accept := func(p *plan) error {
		if !p.first() && (applied == nil || !p.additive()) {
			return misfitOf(p, applied != nil)
		}
		return nil
	}
	if err := accept(different); err != nil {
		return err
	}
	// Compared again: another server may have migrated it.
	steps, err := run(ctx, b, s, now, accept)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if !different.first() {
			applied(step)
		}
	}
	if different, err = differences(ctx, b, s, ready); err == nil && different != nil {
		err = misfitOf(different, applied != nil)
	}
	return err
}

// differences finds how the schema of the database differs, nil if it does not and is ready.
func differences(ctx context.Context, b db.Database, s *model.Schema, ready func(db.Conn) error) (different *plan, err error) {
	err = db.Write(ctx, b, func(c db.Conn) error {
		different = nil
		found, err := db.Describe(c, b)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			different = firstPlan(s)
			return nil
		}
		stored, old, err := AnyStoredSchema(c, b, found)
		if err != nil {
			return err
		}
		if !old && bytes.Equal(stored.Document(), s.Document()) {
			return ready(c)
		}
		different, err = planFrom(c, stored, s, old)
		return err
	})
	return different, err
}
