package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/model"
)

// Plan compares the schema in force with another one and reads what stands in
// the way of it. It changes nothing. An empty plan means that they are the same.
func Plan(ctx context.Context, url string, s *model.Schema) (steps []*Step, err error) {
	b, err := connectExisting(ctx, url)
	if err != nil {
		return nil, explained(err)
	}
	defer func() { err = explained(errors.Join(err, b.close())) }()
	c, release, err := b.read(ctx, atLength)
	if err != nil {
		return nil, err
	}
	defer release()
	found, err := describe(c, b)
	if err != nil {
		return nil, err
	}
	p := firstPlan(s)
	if len(found) > 0 {
		stored, err := storedSchema(c, b, found)
		if err != nil {
			return nil, err
		}
		p = newPlan(stored, s)
	}
	err = (&survey{plan: p, conn: c, dialect: b}).run() // which may add steps
	return p.steps, err
}

// MigrateOptions says how a database is migrated.
type MigrateOptions struct {
	// AllowLoss permits to give up what the new schema has no place for.
	AllowLoss bool
	// Backup is a file that an SQLite database is copied to first: exactly what
	// is then changed. Empty: none.
	Backup string
}

// Migrate brings a database to a schema, in one transaction, and returns the
// steps that it took. Without permission it refuses, with a *RefusedError, to give
// up anything that is stored.
func Migrate(ctx context.Context, url string, s *model.Schema, o MigrateOptions) (steps []*Step, err error) {
	b, err := connectExisting(ctx, url)
	if err != nil {
		return nil, explained(err)
	}
	defer func() { err = explained(errors.Join(err, b.close())) }()
	return migrate(ctx, b, s, time.Now(), func(p *plan) error {
		err := refusal(p, o.AllowLoss)
		if err == nil && o.Backup != "" {
			err = backUp(ctx, url, o.Backup)
		}
		return err
	})
}

// explained says more of what SQLite says in two words, to whoever runs a command or opens
// a server.
func explained(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultBusy, sqlite.ResultLocked, sqlite.ResultProtocol:
		return inUse(err)
	case sqlite.ResultIOErr:
		return fmt.Errorf("a file of the database cannot be read or written: look at its disk and file system, and try again: %w", err)
	}
	return err
}

// inUse explains an error that comes of others who use the database.
func inUse(err error) error {
	return fmt.Errorf("others are using the database, so that it cannot be used for this now: try again, or stop them: %w", err)
}

// migrate plans, asks accept, and carries out what it accepts.
func migrate(ctx context.Context, b backend, s *model.Schema, now time.Time, accept func(*plan) error) (steps []*Step, err error) {
	at := model.TimeValue(model.FormatTime(now))
	err = b.migrate(ctx, func(c conn) error {
		found, err := describe(c, b)
		if err != nil {
			return err
		}
		p := firstPlan(s)
		if len(found) > 0 {
			stored, err := storedSchema(c, b, found)
			if err != nil || bytes.Equal(stored.Document(), s.Document()) {
				return err
			}
			if p, err = planFrom(c, stored, s); err != nil {
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
			if err := createTables(c, b, s, at); err != nil {
				return fmt.Errorf("making the tables: %w", err)
			}
			return nil
		}
		return m.apply()
	})
	return steps, err
}

// connectExisting connects to a database without making a file for it.
func connectExisting(ctx context.Context, url string) (backend, error) {
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		if err := checkFile(file); err != nil {
			return nil, err
		}
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("there is no database %s", file)
		}
	}
	return connect(ctx, url)
}

// RefusedError says why a migration was not carried out.
type RefusedError struct {
	Steps []*Step // that are in the way
	// Blocked: not even permission to lose something would help.
	Blocked bool
	// Back tells that the schema is an earlier one; empty if it is not.
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
	return fmt.Sprintf("%s in the way: %s%s (%s)", counted(s.Violations, "resource")+choose(s.Violations == 1, " is", " are"), strings.Join(ids, ", "), more, s.Problem)
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
		return &RefusedError{Steps: blocked, Blocked: true, Back: p.goesBack()}
	case len(losing) > 0 && !allowLoss:
		return &RefusedError{Steps: losing, Back: p.goesBack()}
	}
	return nil
}

// misfitOf lists a plan that was not carried out when the database was opened.
func misfitOf(p *plan, additive bool) *MisfitError {
	e := &MisfitError{Problem: misfit}
	for _, step := range p.steps {
		e.Differences = append(e.Differences, fmt.Sprintf("%s (%s)", step.Text, step.Class))
	}
	e.Advice = `"plural migrate --plan" shows what it takes to change the database, and "plural migrate" does it.`
	if back := p.goesBack(); back != "" {
		e.Advice = back + `: start with that one. "plural migrate" would go back, by the steps above.`
	} else if !additive && p.additive() {
		e.Advice = `"plural migrate" changes the database. With "--migrate additive" the server does it by itself.`
	}
	return e
}
