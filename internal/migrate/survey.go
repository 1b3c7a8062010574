package migrate

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// survey finds the resources that a plan affects. It changes nothing.
type survey struct {
	plan    *plan
	conn    db.Conn
	dialect db.Dialect
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
	return s.operations()
}

// operations adds a step for pending operations that were accepted under the old schema and
// may be invalid under the new one.
func (s *survey) operations() error {
	affected := slices.Clone(s.plan.removed)
	for _, pair := range s.plan.pairs {
		if pair.affectsRequests() {
			affected = append(affected, pair.from)
		}
	}
	for _, c := range affected {
		var waiting int64
		_, err := db.One(s.conn, func(row model.Row) { waiting = row.Int(0) },
			"SELECT count(*) FROM "+db.QueueTable+" WHERE collection = $1", model.TextValue(c.Name))
		if err != nil {
			return err
		}
		if waiting > 0 {
			step := s.plan.add(Losing, nil, "%s on %s may fail: accepted under the old schema", Counted(waiting, "pending operation"), c.Name)
			step.Cost = "let a server with the old schema finish them first"
		}
	}
	return nil
}

// affectsRequests reports whether a valid request of the old schema may be invalid in the new one.
func (p *pair) affectsRequests() bool {
	for from, column := range p.from.Columns() {
		if to := slices.Index(p.source, from); to < 0 || p.to.Columns()[to].Name != column.Name {
			return true
		}
	}
	return len(p.changes) > 0
}

// count counts the resources of a collection of from: all, those with a value in a column, or
// those without one.
func (s *survey) count(c *model.Collection, column int, nulls bool) (n int64, err error) {
	t := db.NewTable(s.dialect, c)
	sql := "SELECT count(*) FROM " + t.Name
	if column != noSource {
		sql += " WHERE " + t.Columns[column] + db.Choose(nulls, " IS NULL", " IS NOT NULL")
	}
	_, err = db.One(s.conn, func(row model.Row) { n = row.Int(0) }, sql)
	return n, err
}

// batchSize is how many resources are in memory at a time.
const batchSize = 500

// check records in the steps of a pair which resources violate them.
func (s *survey) check(p *pair) error {
	if len(p.changes) == 0 && len(p.unique) == 0 {
		return nil
	}
	seen := make([]map[[sha256.Size]byte]struct{}, len(p.unique))
	for i := range seen {
		seen[i] = map[[sha256.Size]byte]struct{}{}
	}
	return s.eachTransformed(p, func(before, after model.Record) error {
		for i, u := range p.unique {
			key, ok := groupKey(u.group, after)
			if !ok {
				continue
			}
			if _, taken := seen[i][key]; taken {
				u.step.violate(before.ID(model.IDColumn), "another resource has the same value", true)
			}
			seen[i][key] = struct{}{}
		}
		return nil
	})
}

// eachTransformed calls visit with each resource of a pair, as it is and as it will be. The survey and the
// migration both use it, so that what is written is what was checked. It counts violations from zero.
func (s *survey) eachTransformed(p *pair, visit func(before, after model.Record) error) error {
	for _, c := range p.changes {
		for _, step := range []*Step{c.value, c.required, c.link} {
			if step != nil {
				step.reset()
			}
		}
	}
	return db.EachBatch(s.conn, db.NewTable(s.dialect, p.from), batchSize, func(batch []model.Record) error {
		for _, before := range batch {
			after, err := s.transform(p, before)
			if err != nil {
				return err
			}
			if err := visit(before, after); err != nil {
				return err
			}
		}
		return nil
	})
}

// transform returns a resource as it will be. A value that cannot be kept becomes null, and
// is recorded in the step that refuses it.
func (s *survey) transform(p *pair, before model.Record) (model.Record, error) {
	id := before.ID(model.IDColumn)
	after := make(model.Record, len(p.source))
	for to, from := range p.source {
		if from != noSource {
			after[to] = before[from]
		} else if a := p.to.Columns()[to].Attribute; a != nil {
			after[to] = a.DefaultValue()
		}
	}
	for _, c := range p.changes {
		value := after[c.toColumn]
		if value.IsNull() {
			if c.required != nil {
				if after[c.toColumn] = c.attribute.DefaultValue(); after[c.toColumn].IsNull() {
					c.required.violate(id, "it has no value", true)
				}
			}
			continue
		}
		if c.value != nil {
			converted, problem := c.attribute.Convert(p.from.Columns()[c.fromColumn].Kind, value)
			if problem != nil {
				c.value.violate(id, strings.TrimSuffix(problem.Detail, "."), c.attribute.Required)
			}
			value = converted
		}
		if c.link != nil && !value.IsNull() {
			exists, err := s.exists(c.target, value)
			if err != nil {
				return nil, err
			}
			if !exists {
				c.link.violate(id, "it refers to "+value.ID().String()+", which is not in "+c.target.Name, c.attribute.Required)
				value = model.Null
			}
		}
		after[c.toColumn] = value
	}
	return after, nil
}

// exists looks for a resource of a collection of to in the tables of from.
func (s *survey) exists(c *model.Collection, id model.Value) (bool, error) {
	pair := s.plan.pairOf(c)
	if pair == nil {
		return false, nil // a new collection
	}
	t := db.NewTable(s.dialect, pair.from)
	return db.One(s.conn, nil, "SELECT 1 FROM "+t.Name+" WHERE "+t.Columns[model.IDColumn]+" = $1", id)
}

// groupKey returns a key for the values of a group, or false if one is null, as null equals
// nothing. The key is a hash, so that many long values fit into memory.
func groupKey(group []int, record model.Record) (key [sha256.Size]byte, ok bool) {
	hash := sha256.New()
	for _, column := range group {
		if record[column].IsNull() {
			return key, false
		}
		record[column].Bind(hashBinder{hash})
	}
	return [sha256.Size]byte(hash.Sum(nil)), true
}

func (s *Step) reset() { s.Violations, s.Examples, s.Problem, s.Blocked = 0, nil, "", false }

func (s *Step) violate(id model.ID, problem string, blocked bool) {
	if s.Violations == 0 {
		s.Problem = problem
	}
	if s.Violations++; len(s.Examples) < maxExamples {
		s.Examples = append(s.Examples, id)
	}
	s.Blocked = s.Blocked || blocked
}
