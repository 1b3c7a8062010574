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

// checkConverted judges the values that must be converted, and unique groups with such values. If the groups have
// too many values for the memory, the rows are read several times, each time for another part of the values.
func (s *survey) checkConverted(p *pair, unique []uniqueChange) error {
	columns := p.converted()
	if len(columns) == 0 {
		return nil
	}
	parts := uint64(1)
	if len(unique) > 0 {
		n, err := s.count(p.from, allResources, false)
		if err != nil {
			return err
		}
		parts += uint64(n * int64(len(unique)) / MaxKeys) // #nosec G115 -- not negative
		for _, u := range unique {
			for _, to := range u.group {
				if p.source[to] != noSource && !slices.Contains(columns, to) {
					columns = append(columns, to)
				}
			}
		}
	}
	note := (*Step).violate
	for part := range parts {
		seen := make([]map[groupKey]struct{}, len(unique))
		for i := range seen {
			seen[i] = map[groupKey]struct{}{}
		}
		err := s.eachConverted(p, columns, note, func(_, after []model.Record) error {
			for _, record := range after {
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
		note = noteNothing
	}
	return nil
}

// noter records a violation of a step.
type noter func(step *Step, id model.ID, values []stored, problem string, blocked bool)

func noteNothing(*Step, model.ID, []stored, string, bool) {}

// converted lists the columns of to whose values must be converted.
func (p *pair) converted() (columns []int) {
	for _, c := range p.changes {
		if c.valueStep != nil {
			columns = append(columns, c.toColumn)
		}
	}
	return columns
}

// eachConverted calls visit with batches of the values of resources in some columns of to, those that must be converted
// among them: as they are before that, and after it. The survey and the migration both use it, so that what is
// written is what was checked.
func (s *survey) eachConverted(p *pair, columns []int, note noter, visit func(before, after []model.Record) error) error {
	query := &db.Builder{}
	query.Write(s.id(p))
	for _, to := range columns {
		query.Write(", ")
		s.value(query, p, to)
	}
	defaults := make(model.Record, len(p.source))
	for to, from := range p.source {
		if a := p.to.Columns()[to].Attribute; from == noSource && a != nil {
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
			note(c.valueStep, id, []stored{{from, model.Record{value}, 0}}, strings.TrimSuffix(problem.Detail, "."), c.attribute.Required)
		}
		record[c.toColumn] = converted
	case c.requiredStep != nil:
		if record[c.toColumn] = c.attribute.DefaultValue(); record[c.toColumn].IsNull() {
			note(c.requiredStep, id, nil, "it has no value", true)
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
			note(c.linkStep, record.ID(model.IDColumn), []stored{{c.attribute.Kind(), model.Record{value}, 0}}, c.refersToNothing(), c.attribute.Required)
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

// values are those of a resource in the group, without those of new columns, of which all resources have the default.
func (u uniqueChange) values(p *pair, record model.Record) (values []stored) {
	for _, to := range u.group {
		if p.source[to] != noSource {
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
