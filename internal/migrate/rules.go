package migrate

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/rules"
	"github.com/plural-go/plural/problem"
)

// read lists the columns of to with a source whose values are needed by conversions and rules, and some others.
func (p *pair) read(others []int) (columns []int) {
	read := make(model.ColumnSet, len(p.source))
	for _, to := range append(p.converted(), others...) {
		read[to] = true
	}
	for _, c := range p.changes {
		if c.computed != nil {
			read.Add(rules.Of(p.to).ComputedAt(c.toColumn).Reads)
		}
	}
	for _, check := range p.checks {
		read.Add(check.Reads)
	}
	for _, lifecycle := range p.lifecycles {
		read[lifecycle.column] = true
	}
	for to, has := range read {
		if has && to != model.IDColumn && p.source[to] != noSource {
			columns = append(columns, to)
		}
	}
	return columns
}

// applyRules computes values from the new state of resources, and judges that state. As for a write, there are no checks of a
// resource with a value that is not valid.
func (p *pair) applyRules(records []model.Record, note noter) {
	for _, record := range records {
		valid := p.fill(record, note)
		if note == nil {
			continue
		}
		if valid {
			p.check(record, note)
		}
		p.findUnreached(record)
	}
}

// fill computes the values of a resource, and reports whether all are valid.
func (p *pair) fill(record model.Record, note noter) bool {
	valid := true
	faults := rules.Of(p.to).Fill(record, func(column int) bool { c := p.changeOf(column); return c != nil && c.computed != nil })
	for _, c := range p.changes {
		if c.computed == nil {
			continue
		}
		id, name := record.ID(model.IDColumn), c.attribute.Name
		at := slices.IndexFunc(faults, func(e *problem.Error) bool { return e.Source.Pointer == "/"+name })
		switch {
		case at >= 0:
			valid = false
			note.note(c.computed, id, nil, strings.TrimSuffix(faults[at].Detail, "."), true)
		case record.Null(c.toColumn) && c.attribute.Required:
			valid = false
			note.note(c.computed, id, nil, "it has no value", true)
		}
	}
	return valid
}

// check evaluates the checks for the new state of a resource.
func (p *pair) check(record model.Record, note noter) {
	for _, check := range p.checks {
		wrong := check.Evaluate(rules.Change{After: record})
		if wrong == nil {
			continue
		}
		var values []stored
		for column, has := range check.Reads {
			if has && column != model.IDColumn {
				values = append(values, stored{p.to.Columns()[column].Kind, record, column})
			}
		}
		note.note(check.step, record.ID(model.IDColumn), values, strings.TrimSuffix(wrong.Detail, "."), true)
	}
}

// findUnreached notes the states of a resource that nothing leads to.
func (p *pair) findUnreached(record model.Record) {
	for _, lifecycle := range p.lifecycles {
		if state := record[lifecycle.column]; !state.IsNull() && !lifecycle.reached[state.Text()] {
			lifecycle.step.Unreached++
			lifecycle.step.example(record.ID(model.IDColumn), []stored{{p.to.Columns()[lifecycle.column].Kind, record, lifecycle.column}})
		}
	}
}

// maxSamples limits how many of the computed values are shown.
const maxSamples = 3

// addSamples shows values that rules compute, of the first resources in which they differ from the stored ones.
func (p *pair) addSamples(before, after model.Record) {
	for _, c := range p.changes {
		if c.computed == nil || len(c.computed.Samples) == maxSamples {
			continue
		}
		was := stored{c.attribute.Kind(), before, c.toColumn}
		if c.fromColumn != noSource {
			was.kind = p.from.Columns()[c.fromColumn].Kind
		}
		now := stored{c.attribute.Kind(), after, c.toColumn}
		if was.kind != now.kind && !before.Null(c.toColumn) || before[c.toColumn] != after[c.toColumn] {
			c.computed.Samples = append(c.computed.Samples, Sample{after.ID(model.IDColumn), was.shown(), now.shown()})
		}
	}
}
