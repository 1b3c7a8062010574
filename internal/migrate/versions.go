package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/internal/versions"
)

// refuseVersion refuses a schema whose version is before that of the database.
func refuseVersion(from, to *model.Schema) error {
	before, after := from.Versions().Newest, to.Versions().Newest
	if after >= before {
		return nil
	}
	has := "has no version"
	if after > 0 {
		has = fmt.Sprintf("has version %d", after)
	}
	return fmt.Errorf("the schema %s, but the interface of the database is at version %d, and versions never decrease or disappear: use the current schema, or write version: %d or a later one", has, before, before)
}

// compareVersions plans what the schemas declare of the versions of the interface. It comes after the steps of collections.
func (p *plan) compareVersions() {
	before, after := p.from.Versions(), p.to.Versions()
	switch {
	case after.Newest < before.Newest: // an expansion is undone; anything else is refused
		p.add(Additive, nil, "the interface goes back to version %d", after.Newest)
	case after.Newest > before.Newest && before.Newest == 0:
		p.newest = p.add(Additive, nil, "the interface has versions from now on, and this is version %d", after.Newest)
	case after.Newest > before.Newest:
		p.newest = p.add(Additive, nil, "the interface gets version %d", after.Newest)
	case after.Newest > 0 && len(p.steps) > 0 && p.former == nil: // servers serve the schema of a contraction before it
		p.newest = p.add(Additive, nil, "version %d of the interface changes in place", after.Newest)
	}
	dates := maps.Clone(before.Deprecated)
	if dates == nil {
		dates = map[int]string{}
	}
	maps.Copy(dates, after.Deprecated)
	for _, number := range slices.Sorted(maps.Keys(dates)) {
		switch date := after.Deprecated[number]; date {
		case before.Deprecated[number]:
		case "":
			p.add(Additive, nil, "version %d of the interface is no longer deprecated", number)
		default:
			p.add(Additive, nil, "version %d of the interface is deprecated, with the sunset %s", number, date)
		}
	}
}

// planVersions finds which versions that the database serves stay with the new schema, and which end.
func (p *plan) planVersions(c db.Conn) error {
	if p.to.Versions().Newest == 0 {
		return nil
	}
	all, current, err := versions.ReadDeclared(c)
	if err != nil {
		return err
	}
	numbers := *current // the last of all has the current ones
	served := p
	if p.goal != nil {
		served = p.goal // servers with the new schema serve it from the expansion on
	}
	served.number(&numbers, 0)
	after := versions.Shape{Schema: served.to, Numbers: &numbers}
	if p.newest != nil && p.from.Versions().Newest == 0 {
		before := versions.Shape{Schema: p.from, Numbers: current}
		p.newest.Text += served.breaks(after, before, "clients of the former schema", fmt.Sprintf("it stays if it gets version: %d first", max(p.to.Versions().Newest-1, 1)))
		return nil
	}
	var changed string
	var stay, end []string
	var ending []versions.Declared
	for _, each := range all {
		if each.Ended != nil {
			continue
		}
		if each.Number == p.to.Versions().Newest {
			changed = served.breaks(after, each.Shape, "its clients", fmt.Sprintf("it stays if this is version: %d", each.Number+1))
			continue
		}
		if _, each.Ended = versions.View(after, each.Shape); each.Ended != nil {
			ending = append(ending, each)
			end = append(end, fmt.Sprint(each.Number))
		} else {
			stay = append(stay, fmt.Sprint(each.Number))
		}
	}
	if p.newest != nil && len(stay) > 0 {
		p.newest.Text += "; these stay: " + strings.Join(stay, ", ")
		if served.restricts() {
			p.newest.Text += ", with the new restrictions"
		}
	}
	if p.newest != nil {
		p.newest.Text += changed
	}
	if p.goal != nil { // the contraction ends them in the database
		if p.newest != nil && len(end) > 0 {
			p.newest.Text += "; servers with the new schema do not serve these any more: " + strings.Join(end, ", ")
		}
		return nil
	}
	p.ended = map[int][]versions.Reason{}
	last := map[placeInLog]int{} // version that loses an attribute
	for _, each := range ending {
		p.ended[each.Number] = each.Ended
		for _, reason := range each.Ended {
			last[numberOf(each, reason)] = each.Number
		}
	}
	for _, each := range ending {
		p.add(Losing, costOfVersion(each.Number), "version %d of the interface ends: %s%s", each.Number, shownReasons(each.Ended), p.untilAdvice(each, current.Collections, last))
	}
	return nil
}

// breaks says what some clients lose who know a shape that does not stay as a version, and what would keep it. Empty: nothing.
func (p *plan) breaks(after, shape versions.Shape, clients, advice string) string {
	_, reasons := versions.View(after, shape)
	if len(reasons) > 0 {
		advice = ""
	}
	for _, pair := range p.pairs {
		if pair.from.Name != pair.to.Name {
			reasons = append(reasons, versions.Reason{Collection: pair.from.Name, Text: "is renamed"})
		}
		first, end := pair.to.AttributeColumns()
		for column := first; column < end; column++ {
			source := pair.source[column]
			if source == noSource || pair.to.Columns()[column].Attribute.Until > 0 {
				continue
			}
			if name := pair.from.Columns()[source].Name; name != pair.to.Columns()[column].Name {
				reasons = append(reasons, versions.Reason{Collection: pair.from.Name, Attribute: name, Text: "is renamed"})
			}
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	if advice != "" {
		advice = "; " + advice
	}
	return "; " + clients + " break: " + shownReasons(reasons) + advice
}

// restricts reports whether writes that the former schema accepts may be refused, in every version of the interface.
func (p *plan) restricts() bool {
	return slices.ContainsFunc(p.pairs, func(pair *pair) bool {
		return pair.newChecks || len(pair.lifecycles) > 0 || len(pair.unique) > 0 || slices.ContainsFunc(pair.changes, func(c *change) bool {
			return c.valueStep != nil || c.requiredStep != nil && c.fromColumn != noSource
		})
	})
}

// maxReasons limits how many of the reasons are shown by which a version ends.
const maxReasons = 5

func shownReasons(reasons []versions.Reason) string {
	var shown []string
	for _, reason := range reasons[:min(len(reasons), maxReasons)] {
		shown = append(shown, reason.String())
	}
	if more := len(reasons) - maxReasons; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, "; ")
}

// placeInLog is an attribute of a collection, by the numbers that the log has for both.
type placeInLog struct{ collection, attribute int64 }

// numberOf finds what a reason is about, zero if that is no attribute of the version.
func numberOf(v versions.Declared, reason versions.Reason) placeInLog {
	c := v.Shape.Numbers.Collections[reason.Collection]
	return placeInLog{c.Number, c.Attributes[reason.Attribute].Number}
}

// untilAdvice says which attributes would keep a version if they stayed with until. Former has the numbers of from, and last the
// last version that an attribute is needed for. Empty: something else ends the version as well.
func (p *plan) untilAdvice(v versions.Declared, former map[string]catalog.NumberedCollection, last map[placeInLog]int) string {
	var advice []string
	free := ""
	for _, reason := range v.Ended {
		number := numberOf(v, reason)
		c, a := p.leaves(number, former)
		if a == nil {
			return ""
		}
		advice = append(advice, fmt.Sprintf("%s.%s is declared with until: %d", c.Name, a.Name, last[number]))
		if a.Required && a.DefaultValue().IsNull() {
			free = ", optional or with a default"
		}
	}
	return "; it stays if " + strings.Join(advice, " and ") + free
}

// leaves finds an attribute that the plan removes, or keeps for too few versions, and its collection in to. Nil: it could not have until.
func (p *plan) leaves(number placeInLog, former map[string]catalog.NumberedCollection) (*model.Collection, *model.Attribute) {
	for _, pair := range p.pairs {
		if former[pair.from.Name].Number != number.collection {
			continue
		}
		first, end := pair.from.AttributeColumns()
		for column := first; column < end; column++ {
			a := pair.from.Columns()[column].Attribute
			if former[pair.from.Name].Attributes[a.Name].Number != number.attribute {
				continue
			}
			parent := pair.from.ParentLink()
			if a.IsComputed() || parent != nil && parent.Column == column {
				return nil, nil
			}
			if to := slices.Index(pair.source, column); to >= 0 {
				a = pair.to.Columns()[to].Attribute
				if a.Until == 0 {
					return nil, nil
				}
			}
			return pair.to, a
		}
	}
	return nil, nil
}

// costOfVersion says which keys are pinned to a version.
func costOfVersion(number int) func(*survey) (string, error) {
	return func(s *survey) (string, error) {
		keys, err := db.All(s.conn, func(row model.Row) string { return row.Text(0) + " (" + row.Text(1) + ")" },
			"SELECT prefix, name FROM "+db.KeysTable+" WHERE version = $1 AND revoked IS NULL AND (expires IS NULL OR expires > $2) ORDER BY at, prefix",
			model.IntValue(int64(number)), timeOf(time.Now()))
		if err != nil {
			return "", err
		}
		if len(keys) == 0 {
			return "refuses its clients; no API key is pinned to it", nil
		}
		return fmt.Sprintf("refuses its clients; %s pinned to it: %s", suggest.Counted(int64(len(keys)), "API key")+db.Choose(len(keys) == 1, " is", " are"), strings.Join(keys, ", ")), nil
	}
}

// Ends finds which versions that a database serves would end with another schema, and why. It changes nothing.
func Ends(c db.Conn, d db.Dialect, to *model.Schema) (map[int][]versions.Reason, error) {
	p, err := makePlan(c, d, to, Whole)
	if p == nil {
		return nil, err
	}
	return p.ended, err
}
