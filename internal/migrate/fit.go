package migrate

import (
	"context"
	"fmt"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Fit creates the tables of an empty database, and checks those of any other. If they differ,
// it migrates them if all steps are additive and applied is not nil, and calls applied with
// each step; otherwise it returns a *db.MisfitError. Ready is called in a transaction in which
// the database has the schema; it may be called more than once.
func Fit(ctx context.Context, b db.Database, s *model.Schema, startedAt time.Time, applied func(*Step), ready func(db.Conn) error) error {
	different, err := startIfFits(ctx, b, s, ready)
	if err != nil || different == nil {
		return err
	}
	accept := func(p *plan) error {
		if !p.isFirst() && (applied == nil || !p.additive()) {
			return misfitOf(p, applied != nil)
		}
		return refusal(p, false) // values that cannot be computed
	}
	if err := accept(different); err != nil {
		return err
	}
	// Plan again: another server may have migrated the database since.
	steps, err := planAndApply(ctx, b, s, serve, startedAt, accept)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if !different.isFirst() {
			applied(step)
		}
	}
	if different, err = startIfFits(ctx, b, s, ready); err == nil && different != nil {
		err = misfitOf(different, applied != nil)
	}
	return err
}

// startIfFits calls ready if the database has the schema, and otherwise returns the plan of its migration.
// It is one transaction, so that ready sees the schema that was found, and one that writes, as ready does.
func startIfFits(ctx context.Context, b db.Database, s *model.Schema, ready func(db.Conn) error) (different *plan, err error) {
	err = db.Write(ctx, b, func(c db.Conn) (err error) {
		if different, err = makePlan(c, b, s, serve); err != nil {
			return err
		}
		if different == nil {
			return ready(c)
		}
		return (&survey{plan: different, conn: c, dialect: b, traits: b.Traits()}).easeEmpty()
	})
	return different, err
}

// misfitOf lists the steps of a plan that was not applied when the database was opened. MayAdd: additive steps would have been.
func misfitOf(p *plan, mayAdd bool) *db.MisfitError {
	e := &db.MisfitError{Problem: db.Misfit}
	for _, step := range p.steps {
		e.Differences = append(e.Differences, fmt.Sprintf("%s (%s)", step.Text, step.Class))
	}
	e.Advice = `"plural migrate --plan" shows the steps in detail, and "plural migrate" applies them.`
	if back := p.earlierVersion(); back != "" {
		e.Advice = back + `. Start the server with the current schema. "plural migrate" would migrate back, with the steps above.`
	} else if !mayAdd && p.additive() {
		e.Advice = `"plural migrate" changes the database. With "--migrate additive" the server applies such steps itself.`
	}
	return e
}
