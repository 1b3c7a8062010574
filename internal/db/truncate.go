package db

import (
	"strconv"

	"github.com/plural-go/plural/internal/model"
)

// TruncateText is a column of dates or date-times that are texts of a fixed width, truncated to a unit that is a part of the
// text, or to a quarter.
func TruncateText(column string, kind model.Kind, unit string) string {
	const quarter = 5 // the length of a year and a dash
	rest := RestOfTime(kind)
	if unit == "quarter" {
		first := "substr('010101040404070707101010', 2 * CAST(substr(" + column + ", 6, 2) AS integer) - 1, 2)"
		return "substr(" + column + ", 1, " + strconv.Itoa(quarter) + ") || " + first + " || '" + rest[quarter+2:] + "'"
	}
	length := map[string]int{"year": 4, "month": 7, "day": 10, "hour": 13}[unit]
	return "substr(" + column + ", 1, " + strconv.Itoa(length) + ") || '" + rest[length:] + "'"
}

// RestOfTime is the first value of a kind, whose end follows what is left of a truncated one.
func RestOfTime(kind model.Kind) string {
	if kind == model.KindDate {
		return "0000-01-01"
	}
	return "0000-01-01T00:00:00.000Z"
}
