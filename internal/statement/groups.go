package statement

import (
	"math"
	"math/big"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
)

// Groups selects groups of resources: their keys, their counts and their values. ReadGroup reads the rows.
func (t *Tables) Groups(c *model.Collection, plan Plan, groups query.Groups, skip, take int64) *Statement {
	s := t.Statement(c, "SELECT ")
	s.groupKeys(groups.By)
	s.Write(db.Choose(len(groups.By) > 0, ", ", ""), "count(*) AS _count")
	for _, value := range groups.Values {
		s.groupValue(value)
	}
	s.grouped(plan, groups.By)
	s.groupOrder(groups.Sort)
	s.Write(" LIMIT ")
	s.Arg(model.IntValue(take))
	s.Write(" OFFSET ")
	s.Arg(model.IntValue(skip))
	return s
}

// CountGroups selects the number of groups.
func (t *Tables) CountGroups(c *model.Collection, plan Plan, by []query.GroupKey) *Statement {
	s := t.Statement(c, "SELECT count(*) FROM (SELECT ")
	s.groupKeys(by)
	s.grouped(plan, by)
	s.Write(") AS _all")
	return s
}

// ReadGroup reads a row of Groups. A sum that is out of range is an error for the client.
func ReadGroup(groups query.Groups, row model.Row) (*query.Group, error) {
	group, column := &query.Group{}, 0
	for _, key := range groups.By {
		group.By = append(group.By, key.Kind.Read(row, column))
		column++
	}
	group.Count = row.Int(column)
	column++
	for _, each := range groups.Values {
		value := groupValue{each}
		computed, ok := value.read(row, column)
		if !ok {
			return nil, value.outOfRange()
		}
		group.Values = append(group.Values, computed)
		column += value.columns()
	}
	return group, nil
}

// groupKeys writes the expressions that make the groups, as columns of a SELECT.
func (s *Statement) groupKeys(by []query.GroupKey) {
	s.List(len(by), ", ", "", func(i int) {
		column := s.table.Columns[by[i].Column]
		switch {
		case by[i].Unit == "":
			s.Write(column)
		case by[i].Kind == model.KindDate: // a text of a fixed width
			const zero = "0000-01-01"
			length := map[query.Unit]int{"year": 4, "month": 7}[by[i].Unit]
			s.Write("substr(", column, ", 1, ", strconv.Itoa(length), ") || '", zero[length:], "'")
		default:
			s.Write(s.dialect.Truncate(column, string(by[i].Unit)))
		}
		s.Write(" AS ", groupAlias(i))
	})
}

// groupAlias is the name of a key; -1 is that of the count. No column begins with an underscore.
func groupAlias(key int) string {
	if key == query.ByCount {
		return "_count"
	}
	return "_by" + strconv.Itoa(key)
}

// grouped writes which resources are grouped, by the first columns of the SELECT.
func (s *Statement) grouped(plan Plan, by []query.GroupKey) {
	s.Write(" FROM ", s.table.Name)
	s.where(s.conditions(plan))
	for i := range by {
		s.Write(db.Choose(i == 0, " GROUP BY ", ", "), strconv.Itoa(i+1))
	}
}

func (s *Statement) groupOrder(keys []query.GroupSort) {
	for i, key := range keys {
		s.Write(db.Choose(i == 0, " ORDER BY ", ", "), groupAlias(key.Key), db.Choose(key.Descending, " DESC", ""), s.dialect.Nulls(key.Descending))
	}
}

// groupValue is a value of a group as columns of a query.
type groupValue struct{ query.GroupValue }

// isSum reports whether a value is made of a sum.
func (v groupValue) isSum() bool { return v.Function == query.Sum || v.Function == query.Avg }

// groupValue writes the columns that a value is made of, each after a comma. Sums are exact: the two
// halves of integers are added up separately, as their sum can exceed an int64 on its way. Large numbers
// are added up apart and scaled, as some databases fail when a sum exceeds a double, also in a group that
// the range does not have. Averages are divided here, so that they are the same on each database.
func (s *Statement) groupValue(value query.GroupValue) {
	column := s.table.Columns[value.Column]
	switch v := (groupValue{value}); {
	case !v.isSum():
		s.Write(", ", string(v.Function), "(", column, ")")
	case v.Kind == model.KindNumber:
		isLarge := "abs(" + column + ") >= CAST(" + largeNumber + " AS double precision)"
		s.Write(", sum(CASE WHEN ", isLarge, " THEN NULL ELSE ", column, " END)")
		s.Write(", sum(CASE WHEN ", isLarge, " THEN ", column, " / CAST(", numberScale, " AS double precision) END), count(", column, ")")
	default:
		s.Write(", CAST(sum(", column, " >> 32) AS bigint), CAST(sum(", column, " & 4294967295) AS bigint), count(", column, ")")
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
		return v.Kind.Read(row, column), true
	case v.Kind == model.KindNumber:
		return v.readNumber(row, column)
	}
	count := row.Int(column + 2)
	sum := new(big.Int)
	if count > 0 {
		sum.Add(sum.Lsh(big.NewInt(row.Int(column)), 32), big.NewInt(row.Int(column+1)))
	}
	switch {
	case v.Function == query.Sum:
		return model.IntValue(sum.Int64()), sum.IsInt64() && (!v.Kind.IsDecimal() || v.fits(sum.Int64()))
	case count == 0:
		return model.Null, true
	}
	divisor := big.NewInt(count)
	if v.Kind.IsDecimal() {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Kind.Scale())), nil)
		divisor.Mul(divisor, unit)
	}
	average, _ := new(big.Rat).SetFrac(sum, divisor).Float64()
	return model.FloatValue(average), true
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
