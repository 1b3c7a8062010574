package reads

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// groupContent is what a range of groups gives.
type groupContent struct {
	groups         []*query.Group
	total          int64
	previous, next *query.Range
}

func (g groupContent) String() string {
	var text []string
	for _, group := range g.groups {
		text = append(text, fmt.Sprintf("%v: %d %v", group.By, group.Count, group.Values))
	}
	return fmt.Sprintf("%s total %d previous %+v next %+v", strings.Join(text, "; "), g.total, g.previous, g.next)
}

// TestGroupsEqualAModel compares random groups, under random rules, with a model that computes them one
// by one. Where in the stream they are checked makes no difference.
func TestGroupsEqualAModel(t *testing.T) {
	eachLibrary(t, func(t *testing.T, w *dataset) {
		rapid.Check(t, func(t *rapid.T) {
			w.populate(t, 14)
			for range 12 {
				path, exact := w.drawRuledPath(t), rapid.Bool().Draw(t, "exact")
				raw := w.drawGroups(t)
				seen := w.drawSeen(t)
				limits := limits
				limits.Related = func(*model.Relation) (model.ColumnSet, query.Filter, bool) {
					return nil, query.In{Column: w.albums.Field("name").Column, Values: seen}, true
				}
				q, err := query.Parse(query.OfGroups, w.tracks, raw, limits)
				if err != nil {
					t.Fatalf("%s: %v", raw, err)
				}
				want, fits := w.groupModel(path, q, exact)
				got, err := w.groups(path, q, exact, rapid.IntRange(0, 10).Draw(t, "rows"))
				if !fits {
					if faults := fault.From(err); err == nil || faults[0].Code != problem.CodeOutOfRange || faults[0].Source.Parameter != "sum" || faults[0].Status() != 400 {
						t.Fatalf("%s: a sum out of range gives %s, %v", raw, got, err)
					}
					continue
				}
				if err != nil || !equalGroups(q.Groups, got, want) {
					t.Fatalf("%s: %v\ngot  %s\nwant %s", raw, err, got, want)
				}
			}
		})
	})
}

// drawRuledPath draws a path, and a rule that hides some tracks from the caller.
func (w *dataset) drawRuledPath(t *rapid.T) Path {
	path := w.drawPath(t)
	rule := rapid.SampledFrom([]string{"", "resource.rank > 0", "resource.live", "resource.title == auth.sub", "!(resource.released == '2024-02-29')", "false"}).Draw(t, "rule")
	if rule == "" {
		return path
	}
	policy, err := auth.Compile(w.reader.store.Schema(), &schema.Access{Roles: []schema.Role{{Name: "a", Grants: []schema.Grant{{
		Collection: "tracks", Verbs: []schema.AccessVerb{schema.MayList, schema.MayRead}, Rules: map[schema.AccessVerb]schema.Rule{schema.MayRead: {Text: rule}},
	}}}}})
	if err != nil {
		t.Fatal(err)
	}
	path.By = policy.Permit(auth.Caller{ID: "x", Role: "a", Subject: "a"})
	return path
}

// drawSeen draws the names of the albums that the caller may see.
func (w *dataset) drawSeen(t *rapid.T) (names []model.Value) {
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(albumNames), 0, 2, rapid.ID).Draw(t, "seen") {
		names = append(names, model.TextValue(name))
	}
	return names
}

// keyOf is the value of a track that makes its group. What is not seen of its album is null.
func (w *dataset) keyOf(track model.Record, key query.GroupKey) model.Value {
	if key.Through == nil {
		return truncated(track[key.Column], key)
	}
	album := track[w.tracks.Field("album_id").Column]
	for i, id := range w.parents {
		name := model.TextValue(albumNames[i])
		switch {
		case album != model.IDValue(id) || !slices.Contains(key.Through.Scope.(query.In).Values, name):
		case key.Column == model.IDColumn:
			return album
		default:
			return name
		}
	}
	return model.Null
}

// drawGroups draws a query string of groups.
func (w *dataset) drawGroups(t *rapid.T) string {
	var parts, keys []string
	fields := map[query.Function][]string{}
	for _, name := range w.tracks.FieldNames() {
		field := w.tracks.Field(name)
		if field.Column == model.NoColumn || field.Kind == model.KindJSON {
			continue
		}
		keys = append(keys, name)
		for _, unit := range query.Units(field.Kind) {
			keys = append(keys, name+":"+string(unit))
		}
		for _, function := range query.Functions {
			if function.AppliesTo(field.Kind) {
				fields[function] = append(fields[function], name)
			}
		}
	}
	keys = append(keys, "album.name", "album.id")
	by := rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 3, rapid.ID).Draw(t, "by")
	if len(by) > 0 {
		parts = append(parts, "by="+strings.Join(by, ","))
	}
	for _, function := range query.Functions {
		if chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(fields[function]), 0, 2, rapid.ID).Draw(t, string(function)); len(chosen) > 0 {
			parts = append(parts, string(function)+"="+strings.Join(chosen, ","))
		}
	}
	columns := append(slices.Clone(by), "count")
	for i, part := range parts {
		function, list, _ := strings.Cut(part, "=")
		for name := range strings.SplitSeq(list, ",") {
			if i > 0 || len(by) == 0 {
				columns = append(columns, function+"."+name)
			}
		}
	}
	sort := rapid.SliceOfNDistinct(rapid.SampledFrom(columns), 0, 2, rapid.ID).Draw(t, "sort")
	for i := range sort {
		sort[i] = rapid.SampledFrom([]string{"", "-"}).Draw(t, "direction") + sort[i]
	}
	if len(sort) > 0 {
		parts = append(parts, "sort="+strings.Join(sort, ","))
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(columns[len(by):]), 0, 2, rapid.ID).Draw(t, "having") {
		op := rapid.SampledFrom([]string{"", "[eq]", "[ne]", "[lt]", "[lte]", "[gt]", "[gte]"}).Draw(t, "operator")
		parts = append(parts, "having["+name+"]"+op+"="+w.drawBound(t, name))
	}
	if rapid.Bool().Draw(t, "filtered") {
		parts = append(parts, drawFilter(t, w.tracks.Field(rapid.SampledFrom(w.tracks.FieldNames()).Draw(t, "field"))))
	}
	if rapid.IntRange(0, 5).Draw(t, "limited") > 0 {
		parts = append(parts, "limit="+rapid.SampledFrom([]string{"0", "1", "2", "5", "100", "-1", "-3", "99999999999999999999", "-99999999999999999999"}).Draw(t, "limit"))
	}
	if rapid.Bool().Draw(t, "anchored") {
		parts = append(parts, "offset="+rapid.SampledFrom([]string{"0", "1", "3", "9", "99999999999999999999"}).Draw(t, "offset"))
	}
	return strings.Join(parts, "&")
}

// drawBound draws a value that groups are compared with.
func (w *dataset) drawBound(t *rapid.T, name string) string {
	function, of, _ := strings.Cut(name, ".")
	kind := model.KindInteger
	if of != "" {
		kind = query.GroupValue{Function: query.Function(function), Kind: w.tracks.Field(of).Kind}.ResultKind()
	}
	switch {
	case kind == model.KindInteger:
		return rapid.SampledFrom([]string{"0", "1", "2", "-3", "9223372036854775807", "-9223372036854775808"}).Draw(t, "integer")
	case kind == model.KindNumber:
		return rapid.SampledFrom([]string{"0", "1.5", "-2", "1e300", "0.1"}).Draw(t, "number")
	case kind.IsDecimal():
		return rapid.SampledFrom([]string{"0", "1", "-7"}).Draw(t, "decimal")
	case kind == model.KindDate:
		return "2024-02-29"
	case kind == model.KindDateTime:
		return "2024-02-29T12:00:00Z"
	}
	return rapid.SampledFrom([]string{"", "a", "B"}).Draw(t, "text")
}

// groups reads a range of groups, which is checked behind the given number of rows.
func (w *dataset) groups(path Path, q query.Query, exact bool, rows int) (content groupContent, err error) {
	groups, err := w.reader.Groups(context.Background(), path, q, exact)
	if err != nil {
		return content, err
	}
	defer groups.Close()
	if exact {
		content.total = groups.Total
	}
	for {
		if len(content.groups) == rows {
			if _, _, err := groups.Neighbours(); err != nil {
				return content, err
			}
		}
		group, err := groups.Next()
		if err != nil {
			return content, err
		}
		if group == nil {
			content.previous, content.next, err = groups.Neighbours()
			return content, err
		}
		content.groups = append(content.groups, group)
	}
}

// groupModel is what a range of groups must give. False: a sum is out of range.
func (w *dataset) groupModel(path Path, q query.Query, exact bool) (content groupContent, fits bool) {
	rule := path.By.Scope(w.tracks)
	var all []*modelGroup
	if len(q.Groups.By) == 0 {
		all = append(all, &modelGroup{})
	}
	for _, record := range w.matching(path, query.Query{Filter: query.Both(rule, q.Filter)}) {
		by := model.Record{}
		for _, key := range q.Groups.By {
			by = append(by, w.keyOf(record, key))
		}
		at := slices.IndexFunc(all, func(g *modelGroup) bool { return slices.Equal(g.by, by) || len(by) == 0 })
		if at < 0 {
			at = len(all)
			all = append(all, &modelGroup{by: by})
		}
		all[at].members = append(all[at].members, record)
	}
	for _, group := range all {
		group.computed = &query.Group{By: group.by, Count: int64(len(group.members))}
		for i, value := range q.Groups.Values {
			result, ok := group.compute(value)
			if !ok && slices.Contains(q.Groups.Ranked(), i) {
				return content, false
			}
			group.fits = append(group.fits, ok)
			group.computed.Values = append(group.computed.Values, result)
		}
	}
	all = slices.DeleteFunc(all, func(g *modelGroup) bool {
		return q.Groups.Having != nil && !q.Groups.Having.Match(g.computed.Record())
	})
	slices.SortFunc(all, func(a, b *modelGroup) int {
		for _, key := range q.Groups.Sort {
			order := model.Compare(a.computed.Record()[key.Column], b.computed.Record()[key.Column])
			if key.Descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
	r, size, count := q.Range, q.Range.Size(), int64(len(all))
	anchor := r.Offset
	if r.Anchor != query.AtOffset && r.Limit < 0 {
		anchor = count
	}
	anchor = min(anchor, 1<<40)
	from, to := anchor, anchor+max(min(r.Limit, 1<<41), -1<<41)
	if to < from {
		from, to = to, from
	}
	from, to = min(max(from, 0), count), min(max(to, 0), count)
	if exact {
		content.total = count
	}
	if size > 0 && from > 0 {
		content.previous = &query.Range{Anchor: query.AtOffset, Offset: from, Limit: -size}
	}
	if size > 0 && to < count {
		content.next = &query.Range{Anchor: query.AtOffset, Offset: to, Limit: size}
	}
	if size == 0 {
		return content, true
	}
	for _, group := range all[from:to] {
		if slices.Contains(group.fits, false) {
			return content, false
		}
		content.groups = append(content.groups, group.computed)
	}
	return content, true
}

type modelGroup struct {
	by       model.Record
	members  []model.Record
	computed *query.Group
	fits     []bool // of each value: it is in range
}

func truncated(value model.Value, key query.GroupKey) model.Value {
	if value.IsNull() || key.Unit == "" {
		return value
	}
	if key.Unit == "week" || key.Unit == "quarter" {
		return truncatedDay(value, key)
	}
	kept := map[query.Unit]string{"year": "-01-01T00:00:00.000Z", "month": "-01T00:00:00.000Z", "day": "T00:00:00.000Z", "hour": ":00:00.000Z"}[key.Unit]
	length := len("2026-11-14T09:30:00.123Z") - len(kept)
	if key.Kind == model.KindDate {
		return model.TextValue(value.Text()[:length] + kept[:len("2026-11-14")-length])
	}
	return model.TimeValue(value.Text()[:length] + kept)
}

// truncatedDay computes a week or a quarter by the calendar.
func truncatedDay(value model.Value, key query.GroupKey) model.Value {
	day, err := time.Parse(time.DateOnly, value.Text()[:len(time.DateOnly)])
	if err != nil {
		panic(err)
	}
	if key.Unit == "quarter" {
		day = time.Date(day.Year(), (day.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	} else {
		day = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	}
	if key.Kind == model.KindDate {
		return model.TextValue(day.Format(time.DateOnly))
	}
	return model.TimeValue(model.FormatTime(day))
}

// compute computes a value with numbers of any size.
func (g *modelGroup) compute(v query.GroupValue) (value model.Value, ok bool) {
	sum, count, different := new(big.Rat), int64(0), map[model.Value]bool{}
	unit := big.NewRat(1, 1)
	if v.Kind.IsDecimal() {
		for range v.Kind.Scale() {
			unit.Mul(unit, big.NewRat(10, 1))
		}
	}
	for _, member := range g.members {
		each := member[v.Column]
		if each.IsNull() {
			continue
		}
		count++
		different[each] = true
		switch {
		case v.Function == query.Min && (value.IsNull() || model.Compare(each, value) < 0), v.Function == query.Max && (value.IsNull() || model.Compare(each, value) > 0):
			value = each
		case v.Kind == model.KindNumber:
			sum.Add(sum, new(big.Rat).SetFloat64(each.Float()))
		case v.Kind.IsDecimal() || v.Kind == model.KindInteger:
			sum.Add(sum, new(big.Rat).SetInt64(each.Int()))
		}
	}
	switch {
	case v.Function == query.Distinct:
		return model.IntValue(int64(len(different))), true
	case v.Function == query.Min || v.Function == query.Max:
		return value, true
	case v.Function == query.Avg && count == 0:
		return model.Null, true
	case v.Function == query.Avg:
		average, _ := sum.Quo(sum, unit.Mul(unit, big.NewRat(count, 1))).Float64()
		return model.FloatValue(average), true
	case v.Kind == model.KindNumber:
		float, _ := sum.Float64()
		return model.FloatValue(float), true
	}
	units := sum.Num()
	if v.Kind.IsDecimal() && len(new(big.Int).Abs(units).String()) > 18 {
		return model.Null, false
	}
	return model.IntValue(units.Int64()), units.IsInt64()
}

// equalGroups compares all values, those made of sums of doubles but for their last digits.
func equalGroups(wanted *query.Groups, a, b groupContent) bool {
	return a.total == b.total && equalRanges(a.previous, b.previous) && equalRanges(a.next, b.next) && slices.EqualFunc(a.groups, b.groups, func(a, b *query.Group) bool {
		if !slices.Equal(a.By, b.By) || a.Count != b.Count || len(a.Values) != len(b.Values) {
			return false
		}
		for i, value := range wanted.Values {
			near := value.Kind == model.KindNumber && (value.Function == query.Sum || value.Function == query.Avg)
			x, y := a.Values[i], b.Values[i]
			if x != y && !(near && !x.IsNull() && !y.IsNull() && math.Abs(x.Float()-y.Float()) <= 1e-12*(1+max(math.Abs(x.Float()), math.Abs(y.Float())))) {
				return false
			}
		}
		return true
	})
}
