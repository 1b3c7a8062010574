package main

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/schema"
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
	return strconv.FormatInt(int64(*c.target), 10)
}

func (c count[T]) Type() string { return "int" }

// choice is a flag for one of a few words.
type choice[T ~string] struct {
	target *T
	words  []T
}

func oneOf[T ~string](target *T, words ...T) *choice[T] { return &choice[T]{target, words} }

var (
	logFormats = []string{"text", "json"}
	logLevels  = []string{"debug", "info", "warn", "error"}

	migrateModes = []string{string(plural.MigrateAdditive), string(plural.MigrateOff)}
)

func (c *choice[T]) Set(text string) error {
	if !slices.Contains(c.words, T(text)) {
		return fmt.Errorf("must be %s", suggest.OneOf(c.words))
	}
	*c.target = T(text)
	return nil
}

func (c *choice[T]) String() string { return string(*c.target) }
func (c *choice[T]) Type() string   { return "string" }

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

// orWord is a flag for a number, or a word that is stored as -1.
type orWord struct {
	pflag.Value        // of the number
	number      *int64 // the same
	word        string
	mistake     string // what must be given; empty: what the number says, with the word
}

func orOff(value pflag.Value, number *int64) orWord {
	return orWord{Value: value, number: number, word: "off"}
}

// retention is a flag for how long something is kept.
func retention(span *time.Duration) orWord {
	return orWord{(*duration)(span), (*int64)(span), "forever", "must be forever, or a time span such as 12h or 30d"}
}

func (f orWord) Set(text string) error {
	if text == f.word {
		*f.number = -1
		return nil
	}
	err := f.Value.Set(text)
	if err != nil && f.mistake != "" {
		return errors.New(f.mistake)
	}
	if err != nil {
		return fmt.Errorf("%w, or %s", err, f.word)
	}
	return nil
}

func (f orWord) String() string {
	if *f.number < 0 {
		return f.word
	}
	return f.Value.String()
}

// rate is a flag for requests in a time.
type rate schema.Rate

func (r *rate) Set(text string) error {
	if text == "none" {
		*r = rate{}
		return nil
	}
	parsed, ok := schema.ParseRate(text)
	if !ok {
		return errors.New("must be none, or requests in a second, minute or hour, such as 20/s, 600/m or 5000/h")
	}
	*r = rate(parsed)
	return nil
}

func (r *rate) String() string { return schema.Rate(*r).String() }
func (r *rate) Type() string   { return "rate" }

// prefixes is a flag for addresses and blocks of them, separated by commas.
type prefixes []netip.Prefix

func (p *prefixes) Set(text string) error {
	var all prefixes
	for each := range strings.SplitSeq(text, ",") {
		each = strings.TrimSpace(each)
		prefix, err := netip.ParsePrefix(each)
		if addr, failed := netip.ParseAddr(each); failed == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return errors.New("must be addresses such as 10.0.0.0/8 or ::1, separated by commas")
		}
		all = append(all, prefix)
	}
	*p = all
	return nil
}

func (p *prefixes) String() string {
	texts := make([]string, len(*p))
	for i, prefix := range *p {
		texts[i] = prefix.String()
	}
	return strings.Join(texts, ",")
}

func (p *prefixes) Type() string { return "addresses" }

// words is a flag for words, separated by commas.
type words []string

func (w *words) Set(text string) error {
	*w = nil
	for each := range strings.SplitSeq(text, ",") {
		if each = strings.TrimSpace(each); each != "" {
			*w = append(*w, each)
		}
	}
	return nil
}

func (w *words) String() string { return strings.Join(*w, ",") }
func (w *words) Type() string   { return "words" }
