package migrate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// survey finds the resources that a plan affects, and notes them in the steps of the plan. It writes nothing to the database.
type survey struct {
	plan    *plan
	conn    db.Conn
	dialect db.Dialect
	traits  db.Traits
	at      model.Value // the time of the migration
}

// maxExamples limits how many of the violating resources are named.
const maxExamples = 10

// run fills in the costs and violations of the steps.
func (s *survey) run() error {
	for _, step := range s.plan.steps {
		if step.cost == nil {
			step.Cost = "touches no resource"
			continue
		}
		var err error
		if step.Cost, err = step.cost(s); err != nil {
			return err
		}
	}
	for _, pair := range s.plan.pairs {
		if err := s.check(pair); err != nil {
			return err
		}
	}
	if err := s.easeEmpty(); err != nil {
		return err
	}
	return s.operations()
}

// operations adds a step for pending operations that were accepted under the old schema and
// may be invalid under the new one.
func (s *survey) operations() error {
	accepted := "" // by servers with another schema than the new one
	switch {
	case s.plan.former != nil:
		accepted = " AND accepted_by <= " + strconv.FormatInt(s.plan.state.FormerVersion, 10)
	case s.plan.state.Target != nil:
		accepted = " AND accepted_by > " + strconv.FormatInt(s.plan.state.FormerVersion, 10)
	}
	affected := slices.Clone(s.plan.removed)
	for _, pair := range s.plan.pairs {
		if pair.affectsRequests() || s.plan.former == nil && s.plan.state.Target != nil {
			affected = append(affected, pair.from)
		}
	}
	for _, c := range affected {
		waiting, err := db.Int(s.conn, "SELECT count(*) FROM "+db.QueueTable+" WHERE collection = $1"+accepted, model.TextValue(c.Name))
		if err != nil {
			return err
		}
		if waiting > 0 {
			step := s.plan.add(Losing, nil, "%s on %s may fail: accepted under the old schema", suggest.Counted(waiting, "pending operation"), c.Name)
			step.Cost = "let a server with the old schema finish them first"
		}
	}
	return nil
}

// affectsRequests reports whether a valid request of the old schema may be invalid in the new one. That a value must be unique does
// not count: the request stays valid, and fails with 409 only if the value is taken when it is executed. Nor do lifecycles and
// write-once attributes.
func (p *pair) affectsRequests() bool {
	for from, column := range p.from.Columns() {
		if to := slices.Index(p.source, from); to < 0 || p.to.Columns()[to].Name != column.Name {
			return true
		}
	}
	return p.newChecks || slices.ContainsFunc(p.changes, func(c *change) bool { return c.computed == nil || c.fromColumn != noSource })
}

// count counts the resources of a collection of from: all, those with a value in a column, or
// those without one.
func (s *survey) count(c *model.Collection, column int, nulls bool) (n int64, err error) {
	t := db.NewTable(s.dialect, c)
	sql := "SELECT count(*) FROM " + t.Name
	if column != allResources {
		sql += " WHERE " + t.Columns[column] + db.Choose(nulls, " IS NULL", " IS NOT NULL")
	}
	return db.Int(s.conn, sql)
}

// violate notes a resource that violates the step by some of its values.
func (s *Step) violate(id model.ID, values []stored, problem string, blocked bool) {
	s.Violations++
	s.Blocked = s.Blocked || blocked
	if first := s.example(id, values); first {
		s.Problem = problem
	}
}

// example names a resource, and reports whether it is the first one. Resources are found in any order. Those with the lowest ids
// are named.
func (s *Step) example(id model.ID, values []stored) (first bool) {
	at, _ := slices.BinarySearchFunc(s.Examples, id, func(e Example, id model.ID) int { return e.ID.Compare(id) })
	if at < maxExamples {
		texts := make([]string, len(values))
		for i, value := range values {
			texts[i] = value.shown()
		}
		s.Examples = slices.Insert(s.Examples, at, Example{id, strings.Join(texts, " and ")})
		s.Examples = s.Examples[:min(len(s.Examples), maxExamples)]
	}
	return at == 0
}

// longestShown is how many characters of a value are shown.
const longestShown = 60

// stored is the value of a column.
type stored struct {
	kind   model.Kind
	row    model.Row
	column int
}

// shown is the value as JSON, for users. A long one is shortened.
func (s stored) shown() string {
	return shorten(string(s.kind.AppendValue(nil, s.row, s.column)))
}

func shorten(text string) string {
	runes := []rune(text)
	if len(runes) > longestShown {
		runes = append(runes[:longestShown], '…')
	}
	return string(runes)
}
