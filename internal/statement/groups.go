package statement

import (
	"math"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
)

// Groups selects groups of resources: their keys, their counts and their values. ReadGroup reads the rows, after
// GroupOverflow has read the first one.
func (t *Tables) Groups(c *model.Collection, plan Plan, groups *query.Groups, skip, take int64) *Statement {
	s := t.Statement(c)
	if groups.Having != nil || slices.ContainsFunc(ranked(groups), groupValue.isSum) {
		s.comparedGroups(plan, groups, skip, take)
		return s
	}
	s.grouped(plan, groups)
	s.groupOrder(groups)
	s.groupRange(skip, take)
	return s
}

// CountGroups selects the number of groups. It is negative if they cannot be compared: GroupOverflow says why.
func (t *Tables) CountGroups(c *model.Collection, plan Plan, groups *query.Groups) *Statement {
	s := t.Statement(c)
	if groups.Having != nil || CanOverflow(groups) {
		s.countCompared(plan, groups)
		return s
	}
	s.Write("SELECT count(*) FROM (SELECT ")
	s.groupKeys(groups.By)
	s.from(plan, groups.By)
	s.Write(") AS _all")
	return s
}

// CanOverflow reports whether groups are sorted or kept by values that may be out of range.
func CanOverflow(groups *query.Groups) bool { return len(rankedSums(groups)) > 0 }

// GroupOverflow is the error of the first row of Groups, if a value that groups are sorted or kept by is out of range.
func GroupOverflow(groups *query.Groups, row model.Row) error {
	column := len(groups.By) + 1
	for i := range groups.Values {
		column += valueOf(groups, i).columns()
	}
	for rank, value := range rankedSums(groups) {
		if row.Null(column + rank) {
			return value.outOfRange()
		}
	}
	return nil
}

// ReadGroup reads a row of Groups. A sum that is out of range is an error for the client.
func ReadGroup(groups *query.Groups, row model.Row) (*query.Group, error) {
	group, column := &query.Group{}, 0
	for _, key := range groups.By {
		value := key.Kind.Read(row, column)
		if !key.Holds(value) {
			return nil, fault.Parameter("by", problem.CodeOutOfRange, "The first days of the year 0 are in a week that begins before it. Filter, so that %s is later.", key.Name)
		}
		group.By = append(group.By, value)
		column++
	}
	group.Count = row.Int(column)
	column++
	for i := range groups.Values {
		value := valueOf(groups, i)
		computed, ok := value.read(row, column)
		if !ok {
			return nil, value.outOfRange()
		}
		group.Values = append(group.Values, computed)
		column += value.columns()
	}
	return group, nil
}

// grouped writes a SELECT of all groups.
func (s *Statement) grouped(plan Plan, groups *query.Groups) {
	s.Write("SELECT ")
	s.groupKeys(groups.By)
	s.Write(db.Choose(len(groups.By) > 0, ", ", ""), "count(*) AS _count")
	for i := range groups.Values {
		s.groupValue(valueOf(groups, i))
	}
	s.from(plan, groups.By)
}

// groupKeys writes the expressions that make the groups, as columns of a SELECT.
func (s *Statement) groupKeys(by []query.GroupKey) {
	s.List(len(by), ", ", "", func(i int) {
		key := s.operand(by[i].Operand)
		if by[i].Unit != "" {
			key = s.dialect.Truncate(key, by[i].Kind, string(by[i].Unit))
		}
		s.Write(key, " AS ", keyAlias(i))
	})
}

// keyAlias is the name of a key. No column begins with an underscore.
func keyAlias(key int) string { return "_by" + strconv.Itoa(key) }

// from writes which resources are grouped, by the first columns of the SELECT.
func (s *Statement) from(plan Plan, by []query.GroupKey) {
	s.Write(" FROM ", s.table.Name)
	for _, key := range by {
		s.Write(s.Joins(key.Operand))
	}
	s.where(s.conditions(plan))
	for i := range by {
		s.Write(db.Choose(i == 0, " GROUP BY ", ", "), strconv.Itoa(i+1))
	}
}

// groupValue is a value of a group as columns of a query.
type groupValue struct {
	query.GroupValue
	at int // in the list of all values
}

func valueOf(groups *query.Groups, i int) groupValue { return groupValue{groups.Values[i], i} }

// ranked lists the values by which groups are sorted or kept.
func ranked(groups *query.Groups) (values []groupValue) {
	for _, i := range groups.Ranked() {
		values = append(values, valueOf(groups, i))
	}
	return values
}

// rankedSums lists those of them that can be out of range.
func rankedSums(groups *query.Groups) []groupValue {
	return slices.DeleteFunc(ranked(groups), func(v groupValue) bool { return !v.canOverflow() })
}

// alias is the name of its first column.
func (v groupValue) alias() string { return "_value" + strconv.Itoa(v.at) }

// A sum has two more: its lower half, or large numbers, and how many values there are.
func (v groupValue) low() string   { return v.alias() + "l" }
func (v groupValue) count() string { return v.alias() + "n" }

// rank is the name of a sum as one column.
func (v groupValue) rank() string { return "_rank" + strconv.Itoa(v.at) }

// isSum reports whether a value is made of a sum.
func (v groupValue) isSum() bool { return v.Function == query.Sum || v.Function == query.Avg }

// canOverflow reports whether a value can be out of range. The average of integers cannot.
func (v groupValue) canOverflow() bool {
	return v.Function == query.Sum || v.Function == query.Avg && v.Kind == model.KindNumber
}

// scale is how many fraction digits the integers have that are added up.
func (v groupValue) scale() int {
	if v.Kind.IsDecimal() {
		return v.Kind.Scale()
	}
	return 0
}

// groupValue writes the columns that a value is made of, each after a comma. Sums are exact: the two
// halves of integers are added up separately, as their sum can exceed an int64 on its way. Large numbers
// are added up apart and scaled, as some databases fail when a sum exceeds a double, also in a group that
// the range does not have. Averages are divided here, so that they are the same on each database.
func (s *Statement) groupValue(v groupValue) {
	column, first, second, count := s.table.Columns[v.Column], v.alias(), v.low(), v.count()
	switch {
	case v.Function == query.Distinct:
		s.Write(", count(DISTINCT ", column, ") AS ", first)
	case !v.isSum():
		s.Write(", ", string(v.Function), "(", column, ") AS ", first)
	case v.Kind == model.KindNumber:
		isLarge := "abs(" + column + ") >= CAST(" + largeNumber + " AS double precision)"
		s.Write(", sum(CASE WHEN ", isLarge, " THEN NULL ELSE ", column, " END) AS ", first)
		s.Write(", sum(CASE WHEN ", isLarge, " THEN ", column, " / CAST(", numberScale, " AS double precision) END) AS ", second, ", count(", column, ") AS ", count)
	default:
		s.Write(", CAST(sum(", column, " >> 32) AS bigint) AS ", first, ", CAST(sum(", column, " & 4294967295) AS bigint) AS ", second, ", count(", column, ") AS ", count)
	}
}

// columns is how many columns a value is made of.
func (v groupValue) columns() int {
	if v.isSum() {
		return 3
	}
	return 1
}

// largeNumber is from where on numbers are scaled before they are added up, and numberScale what they are
// divided by: a power of two, so that no digit is lost. No database has so many rows that the sum of
// smaller numbers, or of scaled ones, exceeds a double.
const (
	largeNumber = "1e290"
	numberScale = "18446744073709551616"
)

// read makes the value of its columns. False: it is out of range.
func (v groupValue) read(row model.Row, column int) (value model.Value, ok bool) {
	switch {
	case !v.isSum():
		return v.ResultKind().Read(row, column), true
	case v.Kind == model.KindNumber:
		return v.readNumber(row, column)
	}
	count := row.Int(column + 2)
	switch {
	case v.Function == query.Avg && count == 0:
		return model.Null, true
	case v.Function == query.Avg:
		return model.FloatValue(db.Average(row.Int(column), row.Int(column+1), count, v.scale())), true
	case count == 0:
		return model.IntValue(0), true
	}
	sum := db.Sum(row.Int(column), row.Int(column+1))
	return model.IntValue(sum.Int64()), sum.IsInt64() && (!v.Kind.IsDecimal() || v.fits(sum.Int64()))
}

// fits reports whether a decimal has no more digits than decimals can have.
func (v groupValue) fits(units int64) bool {
	return units <= model.MaxDecimalUnits && units >= -model.MaxDecimalUnits
}

// readNumber reads the sums of small and of scaled large numbers, and the count of both.
func (v groupValue) readNumber(row model.Row, column int) (value model.Value, ok bool) {
	count, sum := row.Int(column+2), 0.0
	if !row.Null(column) {
		sum = row.Float(column)
	}
	if !row.Null(column + 1) {
		sum += math.Ldexp(row.Float(column+1), 64)
	}
	switch {
	case math.IsInf(sum, 0):
		return model.Null, false
	case v.Function == query.Sum:
		return model.FloatValue(sum), true
	case count == 0:
		return model.Null, true
	}
	return model.FloatValue(sum / float64(count)), true
}

// outOfRange is the error of a value that no JSON number or decimal of its kind has.
func (v groupValue) outOfRange() error {
	what := "64 bits"
	switch {
	case v.Kind.IsDecimal():
		what = strconv.Itoa(model.MaxDecimalDigits) + " digits"
	case v.Kind == model.KindNumber:
		what = "a double"
	}
	return fault.Parameter(string(v.Function), problem.CodeOutOfRange, "The sum of the field %q does not fit into %s for some group. Filter, or group by more fields, so that the groups are smaller.", v.Name, what)
}
