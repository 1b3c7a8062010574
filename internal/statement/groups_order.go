package statement

import (
	"math"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// comparedGroups writes groups that are kept by a condition, or sorted by sums. They come from a table expression that has
// all groups: each with the columns of its key, its count and its values, and with its ranks, which are sums as one column.
// A rank is null if its sum is out of range. Then groups cannot be compared, and first comes such a group, whatever the range.
func (s *Statement) comparedGroups(plan Plan, groups *query.Groups, skip, take int64) {
	s.allGroups(plan, groups)
	if sums := rankedSums(groups); len(sums) > 0 {
		s.Write("SELECT * FROM (SELECT * FROM _groups WHERE ")
		s.overflows(sums)
		for i := range groups.By {
			s.Write(db.Choose(i == 0, " ORDER BY ", ", "), keyAlias(i), s.dialect.Nulls(false))
		}
		s.Write(" LIMIT 1) AS _overflow UNION ALL ")
	}
	s.Write("SELECT * FROM (SELECT * FROM _groups")
	s.having(groups)
	s.groupOrder(groups)
	s.groupRange(skip, take)
	s.Write(") AS _range")
}

// countCompared writes the number of such groups. It is negative if a sum is out of range.
func (s *Statement) countCompared(plan Plan, groups *query.Groups) {
	s.allGroups(plan, groups)
	s.Write("SELECT CASE WHEN EXISTS (SELECT 1 FROM _groups WHERE ")
	s.overflows(rankedSums(groups))
	s.Write(") THEN -1 ELSE (SELECT count(*) FROM _groups")
	s.having(groups)
	s.Write(") END")
}

func (s *Statement) allGroups(plan Plan, groups *query.Groups) {
	s.Write("WITH _groups AS MATERIALIZED (SELECT _all.*")
	for _, value := range rankedSums(groups) {
		s.Write(", ", value.sum(), " AS ", value.rank())
	}
	s.Write(" FROM (")
	s.grouped(plan, groups)
	s.Write(") AS _all) ")
}

func (s *Statement) overflows(sums []groupValue) {
	s.List(len(sums), " OR ", "1=0", func(i int) { s.Write(sums[i].rank(), " IS NULL") })
}

func (s *Statement) having(groups *query.Groups) {
	if groups.Having == nil {
		return
	}
	source := &columnSource{}
	for column := range groups.CountColumn() + 1 + len(groups.Values) {
		source.columns = append(source.columns, s.groupColumn(groups, column))
	}
	s.Write(" WHERE ")
	s.in(source, func() { s.Condition(groups.Having, true) })
}

func (s *Statement) groupOrder(groups *query.Groups) {
	for i, key := range groups.Sort {
		s.Write(db.Choose(i == 0, " ORDER BY ", ", "), s.groupColumn(groups, key.Column), db.Choose(key.Descending, " DESC", ""), s.dialect.Nulls(key.Descending))
	}
}

func (s *Statement) groupRange(skip, take int64) {
	s.Write(" LIMIT ")
	s.Arg(model.IntValue(take))
	s.Write(" OFFSET ")
	s.Arg(model.IntValue(skip))
}

// groupColumn is a column of the Record of a group as SQL.
func (s *Statement) groupColumn(groups *query.Groups, column int) string {
	switch count := groups.CountColumn(); {
	case column < count:
		return keyAlias(column)
	case column == count:
		return "_count"
	default:
		column -= count + 1
	}
	value := valueOf(groups, column)
	switch {
	case value.Function == query.Sum:
		return value.rank()
	case value.Function != query.Avg:
		return value.alias()
	case value.Kind == model.KindNumber:
		return averageOf(value.rank(), value.count())
	}
	return s.dialect.Average(value.alias(), value.low(), value.count(), value.scale())
}

// sum is a sum as one column, null if it is out of range.
func (v groupValue) sum() string {
	if v.Kind == model.KindNumber {
		return sumOfNumbers(v.alias(), v.low())
	}
	high, low := "coalesce("+v.alias()+", 0)", "coalesce("+v.low()+", 0)"
	carried := "(" + high + " + (" + low + " >> 32))"
	sum := "(" + carried + " * 4294967296 + (" + low + " & 4294967295))"
	if v.Kind.IsDecimal() {
		most := strconv.FormatInt(model.MaxDecimalUnits, 10)
		sum = "CASE WHEN " + sum + " BETWEEN -" + most + " AND " + most + " THEN " + sum + " END"
	}
	return "CASE WHEN " + carried + " BETWEEN -2147483648 AND 2147483647 THEN " + sum + " END"
}

// sumOfNumbers adds the sums of small and of scaled large numbers. PostgreSQL fails where a result is out of the range of
// doubles, at either end of it. So half of the sum is compared with half of the largest double first.
func sumOfNumbers(small, large string) string {
	most := func(exponent int) string { return double(math.Ldexp(math.MaxFloat64, exponent)) }
	half := "(" + large + " * " + double(1<<63) + " + CASE WHEN abs(" + small + ") >= 1 THEN " + small + " * " + double(0.5) + " ELSE 0 END)"
	return "CASE WHEN " + large + " IS NULL THEN coalesce(" + small + ", 0) WHEN abs(" + large + ") > " + most(-64) + " THEN NULL WHEN abs(" + half + ") > " + most(-1) +
		" THEN NULL ELSE coalesce(" + small + ", 0) + " + large + " * " + double(1<<64) + " END"
}

// averageOf divides a sum of numbers. PostgreSQL fails where a quotient is too small for a double: that is zero.
func averageOf(sum, count string) string {
	// The sum in units of the smallest double is an integer, and half of a unit or less is rounded to zero.
	unit := double(math.Ldexp(1, 537))
	tiny := "CASE WHEN abs(" + sum + ") < " + double(1e-300) + " THEN abs(" + sum + ") * " + unit + " * " + unit + " * 2 <= " + count + " ELSE 1=0 END"
	return "CASE WHEN " + count + " = 0 THEN NULL WHEN " + tiny + " THEN 0 ELSE " + sum + " / " + count + " END"
}

func double(value float64) string {
	return "CAST(" + strconv.FormatFloat(value, 'g', -1, 64) + " AS double precision)"
}
