package store

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
)

// violations is what a naive model finds in all rows, in the order of their ids.
type violations struct {
	steps []*migrate.Step
	found map[*migrate.Step]*migrate.Step
}

func (v *violations) step(prefixes ...string) *migrate.Step {
	for _, step := range v.steps {
		for _, prefix := range prefixes {
			if strings.HasPrefix(step.Text, prefix) {
				return step
			}
		}
	}
	return nil
}

func (v *violations) add(t *rapid.T, step *migrate.Step, id model.ID, value, problem string, blocked bool) {
	if step == nil {
		t.Fatalf("no step for %s: %s\n%s", id, problem, describeSteps(v.steps))
	}
	if v.found[step] == nil {
		v.found[step] = &migrate.Step{Problem: problem}
	}
	found := v.found[step]
	found.Violations++
	found.Blocked = found.Blocked || blocked
	if len(found.Examples) < 10 {
		found.Examples = append(found.Examples, migrate.Example{ID: id, Value: value})
	}
}

// asShown is a value as a plan shows it.
func asShown(kind model.Kind, value model.Value) string {
	text := string(kind.AppendValue(nil, model.Record{value}, 0))
	if shown := []rune(text); len(shown) > 60 {
		return string(shown[:60]) + "…"
	}
	return text
}

// expectViolations compares what a survey has found with a naive model.
func (w *dataset) expectViolations(t *rapid.T, steps []*migrate.Step, rows map[string][]model.Record) {
	v := &violations{steps, map[*migrate.Step]*migrate.Step{}}
	for _, c := range w.now.Collections() {
		if old := w.old.Collection(w.source[c.Name]); old != nil {
			w.judge(t, v, c, old, rows)
		}
	}
	show := func(s *migrate.Step) string {
		return fmt.Sprintf("%d violations (%s), %s, blocked: %t", s.Violations, s.Problem, s.Examples, s.Blocked)
	}
	for _, step := range steps {
		want := v.found[step]
		if want == nil {
			want = &migrate.Step{}
		}
		if got := show(step); got != show(want) {
			t.Fatalf("%s\ngot  %s\nwant %s\nfrom %s\nto %s", step.Text, got, show(want), w.old.Document(), w.now.Document())
		}
	}
}

func (w *dataset) judge(t *rapid.T, v *violations, c, old *model.Collection, rows map[string][]model.Record) {
	value := func(a *model.Attribute) *migrate.Step {
		return v.step(c.Name+": "+a.Name+" is converted from ", c.Name+": "+a.Name+" is restricted by ")
	}
	required := func(a *model.Attribute) *migrate.Step {
		return v.step(c.Name+": "+a.Name+" becomes required", c.Name+": new attribute "+a.Name+" (")
	}
	var after []model.Record
	for _, row := range rows[old.Name] {
		id := row.ID(model.IDColumn)
		record := make(model.Record, len(c.Columns()))
		for i, column := range c.Columns() {
			a := column.Attribute
			if record[i] = w.convert(c, old, column, row, rows); a == nil {
				continue
			}
			before, kind := model.Null, model.Kind(0)
			if field := old.Field(w.source[c.Name+"."+a.Name]); field != nil && field.Column != model.NoColumn {
				before, kind = row[field.Column], field.Kind
			}
			switch {
			case before.IsNull() && a.Required && record[i].IsNull():
				v.add(t, required(a), id, "", "it has no value", true)
			case !before.IsNull() && record[i].IsNull():
				converted, problem := a.Convert(kind, before)
				if problem != nil {
					v.add(t, value(a), id, asShown(kind, before), strings.TrimSuffix(problem.Detail, "."), a.Required)
				} else {
					v.add(t, v.step(c.Name+": "+a.Name+" refers to "), id, asShown(column.Kind, converted), "no resource of "+a.References.Collection+" has this id", a.Required)
				}
			}
		}
		for _, group := range c.UniqueGroups() {
			if !slices.ContainsFunc(after, func(other model.Record) bool { return !hasNull(group, record) && sameIn(group, other, record) }) {
				continue
			}
			var names, values []string
			for _, column := range group {
				name := c.Columns()[column].Name
				names = append(names, name)
				if old.Field(w.source[c.Name+"."+name]) != nil { // not of a new attribute, of which all have the default
					values = append(values, asShown(c.Columns()[column].Kind, record[column]))
				}
			}
			step := v.step(c.Name + ": values of " + strings.Join(names, ", ") + " must be unique")
			for i := 0; i < len(group) && step == nil; i++ {
				a := c.Columns()[group[i]].Attribute
				if step = value(a); step == nil {
					step = required(a)
				}
			}
			v.add(t, step, id, strings.Join(values, " and "), "another resource has the same value", true)
		}
		after = append(after, record)
	}
}
