package migrate

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// MaxKeys bounds how many values of unique groups are in memory at a time. A variable, so that tests need fewer
// resources.
var MaxKeys int64 = 1 << 19

// checkConverted judges the values that must be converted or computed, unique groups with such values, and new checks and
// lifecycles, also if nothing is converted. If the groups have
// too many values for the memory, the rows are read several times, each time for another part of the values.
func (s *survey) checkConverted(p *pair, unique []uniqueChange) error {
	if !p.needsGo() {
		return nil
	}
	var columns []int // of the groups, besides those that are read anyway
	parts := uint64(1)
	if len(unique) > 0 {
		n, err := s.count(p.from, allResources, false)
		if err != nil {
			return err
		}
		parts += uint64(n * int64(len(unique)) / MaxKeys) // #nosec G115 -- not negative
		for _, u := range unique {
			columns = append(columns, u.group...)
		}
	}
	var note noter = (*Step).violate
	for part := range parts {
		seen := make([]map[groupKey]struct{}, len(unique))
		for i := range seen {
			seen[i] = map[groupKey]struct{}{}
		}
		err := s.eachConverted(p, columns, note, func(before, after []model.Record) error {
			for i, record := range after {
				if note != nil {
					p.addSamples(before[i], record)
				}
				for i, u := range unique {
					key, ok := keyOf(u.group, record)
					if !ok || binary.BigEndian.Uint64(key[:])%parts != part {
						continue
					}
					if _, taken := seen[i][key]; taken {
						u.step.violate(record.ID(model.IDColumn), u.values(p, record), notUnique, true)
					}
					seen[i][key] = struct{}{}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		note = nil
	}
	return nil
}

// noter records a violation of a step. Nil: violations are known.
type noter func(step *Step, id model.ID, values []stored, problem string, blocked bool)

func (n noter) note(step *Step, id model.ID, values []stored, problem string, blocked bool) {
	if n != nil {
		n(step, id, values, problem, blocked)
	}
}

// needsGo reports whether the values of the resources must be read.
func (p *pair) needsGo() bool { return len(p.converted())+len(p.checks)+len(p.lifecycles) > 0 }

// converted lists the columns of to whose values must be converted, or computed.
func (p *pair) converted() (columns []int) {
	for _, c := range p.changes {
		if c.inGo() {
			columns = append(columns, c.toColumn)
		}
	}
	return columns
}

// eachConverted calls visit with batches of the values of resources in the columns of to that must be converted, or are read by
// rules, and in some others: as they are before that, and after it. The survey and the migration both use it, so that what is
// written is what was checked.
func (s *survey) eachConverted(p *pair, others []int, note noter, visit func(before, after []model.Record) error) error {
	query, columns := &db.Builder{}, p.read(others)
	query.Write(s.id(p))
	for _, to := range columns {
		query.Write(", ")
		s.value(query, p, to)
	}
	defaults := make(model.Record, len(p.source))
	for to, from := range p.source {
		switch a := p.to.Columns()[to].Attribute; {
		case from != noSource:
		case a == nil:
			defaults[to] = s.at
		default:
			defaults[to] = a.DefaultValue()
		}
	}
	scan := func(row model.Row) model.Record {
		record := slices.Clone(defaults)
		record[model.IDColumn] = model.IDValue(row.ID(0))
		for i, to := range columns {
			record[to] = p.from.Columns()[p.source[to]].Kind.Read(row, i+1)
		}
		return record
	}
	return db.EachBatchOf(s.conn, db.NewTable(s.dialect, p.from), query, scan, func(batch []model.Record) error {
		converted := make([]model.Record, len(batch))
		for i, before := range batch {
			converted[i] = slices.Clone(before)
		}
		for _, c := range p.changes {
			if c.valueStep == nil {
				continue
			}
			for _, record := range converted {
				c.convert(p, record, note)
			}
			if err := s.dropMissing(c, converted, note); err != nil {
				return err
			}
		}
		p.applyRules(converted, note)
		return visit(batch, converted)
	})
}

// convert converts the value of a resource. One that cannot be kept becomes null.
func (c *change) convert(p *pair, record model.Record, note noter) {
	id, value := record.ID(model.IDColumn), record[c.toColumn]
	switch {
	case !value.IsNull():
		from := p.from.Columns()[c.fromColumn].Kind
		converted, problem := c.attribute.Convert(from, value)
		if problem != nil {
			note.note(c.valueStep, id, []stored{{from, model.Record{value}, 0}}, strings.TrimSuffix(problem.Detail, "."), c.attribute.Required)
		}
		record[c.toColumn] = converted
	case c.requiredStep != nil:
		if record[c.toColumn] = c.attribute.DefaultValue(); record[c.toColumn].IsNull() {
			note.note(c.requiredStep, id, nil, "it has no value", true)
		}
	}
}

// dropMissing drops converted references to resources that do not exist.
func (s *survey) dropMissing(c *change, records []model.Record, note noter) error {
	if c.linkStep == nil {
		return nil
	}
	exist, err := s.existing(c.target, records, c.toColumn)
	if err != nil {
		return err
	}
	for _, record := range records {
		if value := record[c.toColumn]; !value.IsNull() && !exist[value] {
			note.note(c.linkStep, record.ID(model.IDColumn), []stored{{c.attribute.Kind(), model.Record{value}, 0}}, c.refersToNothing(), c.attribute.Required)
			record[c.toColumn] = model.Null
		}
	}
	return nil
}

// existing finds which resources of a collection of to exist, of those that records refer to.
func (s *survey) existing(c *model.Collection, records []model.Record, column int) (map[model.Value]bool, error) {
	exist := map[model.Value]bool{}
	pair := s.plan.pairOf(c)
	if pair == nil {
		return exist, nil // a new collection
	}
	var ids []model.ID
	for _, record := range records {
		if !record.Null(column) {
			ids = append(ids, record.ID(column))
		}
	}
	t := db.NewTable(s.dialect, pair.from)
	id := t.Columns[model.IDColumn]
	err := db.Each(s.conn, func(row model.Row) {
		exist[model.IDValue(row.ID(0))] = true
	}, "SELECT "+id+" FROM "+t.Name+" WHERE "+s.dialect.InIDs(id, "$1"), db.IDs(s.dialect, ids))
	return exist, err
}

// values are those of a resource in the group, without those of new columns of which all resources have the default.
func (u uniqueChange) values(p *pair, record model.Record) (values []stored) {
	for _, to := range u.group {
		if p.source[to] != noSource || p.converts(to) {
			values = append(values, stored{p.to.Columns()[to].Kind, record, to})
		}
	}
	return values
}

// groupKey is a hash of the values of a unique group.
type groupKey [16]byte

// keyOf returns the key of a resource, or false if one of its values is null, as null equals nothing.
func keyOf(group []int, record model.Record) (key groupKey, ok bool) {
	var values []byte
	for _, column := range group {
		if record[column].IsNull() {
			return key, false
		}
		values = record[column].AppendDistinct(values)
	}
	hash := sha256.Sum256(values)
	return groupKey(hash[:len(key)]), true
}
