package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural"
)

// count is a flag for a whole number with a minimum: a zero must never silently mean the
// default.
type count[T int | int64] struct {
	target *T
	least  T
}

func (c count[T]) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, strconv.IntSize)
	if err != nil || T(n) < c.least {
		return fmt.Errorf("must be a whole number of at least %d", c.least)
	}
	*c.target = T(n)
	return nil
}

func (c count[T]) String() string {
	if c.target == nil { // pflag calls it on a zero value
		return "0"
	}
	return strconv.FormatInt(int64(*c.target), 10)
}

func (c count[T]) Type() string { return "int" }

// choice is a flag for one of a few words.
type choice struct {
	target *string
	words  []string
}

var (
	logFormats = []string{"text", "json"}
	logLevels  = []string{"debug", "info", "warn", "error"}

	migrateModes = []string{string(plural.MigrateAdditive), string(plural.MigrateOff)}
)

func (c *choice) Set(text string) error {
	if !slices.Contains(c.words, text) {
		last := len(c.words) - 1
		return fmt.Errorf("must be %s or %s", strings.Join(c.words[:last], ", "), c.words[last])
	}
	*c.target = text
	return nil
}

func (c *choice) String() string {
	if c.target == nil { // pflag asks a zero value what it would show
		return ""
	}
	return *c.target
}

func (c *choice) Type() string { return "string" }

// byteSize is a flag for a number of bytes, such as 1MiB.
type byteSize int64

// byteUnits is in descending order, and ends with no unit.
var byteUnits = []struct {
	suffix string
	factor int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

func (b *byteSize) Set(text string) error {
	for _, unit := range byteUnits {
		number, ok := strings.CutSuffix(text, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || n > math.MaxInt64/unit.factor {
			break
		}
		*b = byteSize(n * unit.factor)
		return nil
	}
	return errors.New("must be a number of bytes such as 65536, 512KiB or 1MiB")
}

func (b *byteSize) String() string {
	for _, unit := range byteUnits[:3] {
		if n := int64(*b); n > 0 && n%unit.factor == 0 {
			return strconv.FormatInt(n/unit.factor, 10) + unit.suffix
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *byteSize) Type() string { return "size" }

// optionalSize is a flag for a number of bytes that may be "off", which is negative.
type optionalSize byteSize

func (c *optionalSize) Set(text string) error {
	if text == "off" {
		*c = -1
		return nil
	}
	if err := (*byteSize)(c).Set(text); err != nil {
		return fmt.Errorf("%w, or off", err)
	}
	return nil
}

func (c *optionalSize) String() string {
	if *c < 0 {
		return "off"
	}
	return (*byteSize)(c).String()
}

func (c *optionalSize) Type() string { return "size" }

// duration is a flag for a time span, which unlike Go's may be in days.
type duration time.Duration

const day = 24 * time.Hour

func (d *duration) Set(text string) error {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 64)
		if err == nil && n > 0 && n <= int64(math.MaxInt64/day) {
			*d = duration(time.Duration(n) * day)
			return nil
		}
	}
	span, err := time.ParseDuration(text)
	if err != nil || span <= 0 {
		return errors.New("must be a time span such as 30s, 2m or 7d")
	}
	*d = duration(span)
	return nil
}

func (d *duration) String() string {
	span := time.Duration(*d)
	if span > 0 && span%day == 0 {
		return strconv.FormatInt(int64(span/day), 10) + "d"
	}
	return span.String()
}

func (d *duration) Type() string { return "duration" }

// optionalDuration is a flag for a time span that may be "off", which is negative.
type optionalDuration duration

func (d *optionalDuration) Set(text string) error {
	if text == "off" {
		*d = -1
		return nil
	}
	if err := (*duration)(d).Set(text); err != nil {
		return fmt.Errorf("%w, or off", err)
	}
	return nil
}

func (d *optionalDuration) String() string {
	if *d < 0 {
		return "off"
	}
	return (*duration)(d).String()
}

func (d *optionalDuration) Type() string { return "duration" }

// retention is a flag for a time span that may also be forever.
type retention time.Duration

func (r *retention) Set(text string) error {
	if text == "forever" {
		*r = -1
		return nil
	}
	if (*duration)(r).Set(text) != nil {
		return errors.New("must be forever, or a time span such as 12h or 30d")
	}
	return nil
}

func (r *retention) String() string {
	if *r < 0 {
		return "forever"
	}
	return (*duration)(r).String()
}

func (r *retention) Type() string { return "duration" }
