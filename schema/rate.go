package schema

import (
	"strconv"
	"strings"
	"time"
)

// Rate is how many requests may come in a time. The zero value is any number.
type Rate struct {
	Requests int64
	Per      time.Duration
}

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

// ParseRate reads a rate such as 10/s, 600/m or 5000/h.
func ParseRate(text string) (Rate, bool) {
	number, unit, _ := strings.Cut(text, "/")
	n, err := strconv.ParseInt(number, 10, 32)
	per, known := rateUnits[unit]
	return Rate{n, per}, err == nil && n > 0 && known
}

// String is the rate as ParseRate reads it, or none.
func (r Rate) String() string {
	for unit, per := range rateUnits {
		if r.Per == per {
			return strconv.FormatInt(r.Requests, 10) + "/" + unit
		}
	}
	return "none"
}
