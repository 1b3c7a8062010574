package migrate

import (
	"maps"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// saveNewSchema makes the new schema the current one.
func (m *migration) saveNewSchema() error {
	last, err := db.Int(m.conn, m.dialect.LastGiven())
	if err != nil {
		return err
	}
	numbers := m.plan.state.Numbers
	m.plan.number(numbers, last)
	if numbers.Target = nil; m.plan.goal != nil {
		numbers.Target = m.plan.target(numbers)
	}
	return catalog.Save(m.conn, m.plan.to, numbers, m.at)
}

// number changes the numbers of the old schema into those of the new one. Last is the last revision before the new schema.
func (p *plan) number(n *catalog.Numbering, last int64) {
	before := n.Collections
	n.Collections = map[string]catalog.NumberedCollection{model.OperationsName: before[model.OperationsName]}
	for _, pair := range p.pairs {
		n.Collections[pair.to.Name] = pair.number(n, before[pair.from.Name], last)
	}
	for _, c := range p.added {
		n.Add(c)
	}
	if n.Ended == nil {
		n.Ended = map[int][]catalog.Reason{}
	}
	maps.Copy(n.Ended, p.ended)
}

// number keeps the numbers of a collection and of its attributes, and assigns new ones to the attributes that are added, or computed
// with another type.
func (p *pair) number(n *catalog.Numbering, before catalog.NumberedCollection, last int64) catalog.NumberedCollection {
	numbered := catalog.NumberedCollection{Number: before.Number, Attributes: map[string]catalog.NumberedAttribute{}}
	first, end := p.to.AttributeColumns()
	for column := first; column < end; column++ {
		a := p.to.Columns()[column].Attribute
		var kept catalog.NumberedAttribute
		sameKind := false
		if p.source[column] != noSource {
			source := p.from.Columns()[p.source[column]]
			kept, sameKind = before.Attributes[source.Name], source.Kind == p.to.Columns()[column].Kind
		}
		c := p.changeOf(column)
		if renewed := c != nil && c.renewed(); p.source[column] != noSource && !renewed {
			if !sameKind {
				kept.Fill = nil // it has the former type, and no entry of the log needs it: see convertsHistory
			}
			numbered.Attributes[a.Name] = kept
			continue
		}
		// For the history, an attribute whose values are computed anew begins here: the log has what the former rule computed.
		added := catalog.NumberedAttribute{Number: kept.Number, AddedAfter: last}
		if !sameKind {
			added.Number = n.Assign()
		}
		if fill := a.DefaultValue(); !fill.IsNull() {
			added.Fill = p.to.Columns()[column].Kind.AppendValue(nil, model.Record{fill}, 0)
		}
		numbered.Attributes[a.Name] = added
	}
	return numbered
}
