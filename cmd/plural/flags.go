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

	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/schema"
)

// parsed is a flag whose text is parsed by a function, which refuses what would silently mean the default.
type parsed[T any] struct {
	target *T
	kind   string // for the help
	parse  func(text string) (T, error)
	format func(T) string
}

// Set is that of a pflag.Value.
func (f parsed[T]) Set(text string) error {
	value, err := f.parse(text)
	if err == nil {
		*f.target = value
	}
	return err
}

func (f parsed[T]) String() string { return f.format(*f.target) }

// Type is that of a pflag.Value.
func (f parsed[T]) Type() string { return f.kind }

// count is a flag for a whole number with a minimum.
func count[T int | int64](target *T, least T) parsed[T] {
	return parsed[T]{target, "int", func(text string) (T, error) {
		n, err := strconv.ParseInt(text, 10, strconv.IntSize)
		if err != nil || T(n) < least {
			return 0, fmt.Errorf("must be a whole number of at least %d", least)
		}
		return T(n), nil
	}, func(n T) string { return strconv.FormatInt(int64(n), 10) }}
}

// oneOf is a flag for one of a few words.
func oneOf[T ~string](target *T, words ...T) parsed[T] {
	return parsed[T]{target, "string", func(text string) (T, error) {
		if !slices.Contains(words, T(text)) {
			return "", fmt.Errorf("must be %s", suggest.OneOf(words))
		}
		return T(text), nil
	}, func(word T) string { return string(word) }}
}

// byteUnits is in descending order, and ends with no unit.
var byteUnits = []struct {
	suffix string
	factor int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

// bytesOf is a flag for a number of bytes, such as 1MiB.
func bytesOf(target *int64) parsed[int64] {
	return parsed[int64]{target, "size", parseBytes, formatBytes}
}

func parseBytes(text string) (int64, error) {
	for _, unit := range byteUnits {
		number, ok := strings.CutSuffix(text, unit.suffix)
		if !ok {
			continue
		}
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n > 0 && n <= math.MaxInt64/unit.factor {
			return n * unit.factor, nil
		}
		break
	}
	return 0, errors.New("must be a number of bytes such as 65536, 512KiB or 1MiB")
}

func formatBytes(n int64) string {
	for _, unit := range byteUnits[:3] {
		if n > 0 && n%unit.factor == 0 {
			return strconv.FormatInt(n/unit.factor, 10) + unit.suffix
		}
	}
	return strconv.FormatInt(n, 10)
}

const day = 24 * time.Hour

// span is a flag for a time span, which unlike Go's may be in days.
func span(target *time.Duration) parsed[time.Duration] {
	return parsed[time.Duration]{target, "duration", parseSpan, formatSpan}
}

func parseSpan(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseInt(days, 10, 64); err == nil && n > 0 && n <= int64(math.MaxInt64/day) {
			return time.Duration(n) * day, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("must be a time span such as 30s, 2m or 7d")
	}
	return d, nil
}

func formatSpan(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return d.String()
}

// orWord allows a word in place of a number. It is stored as -1.
func orWord[T ~int64](number parsed[T], word string) parsed[T] {
	either := number
	either.parse = func(text string) (T, error) {
		if text == word {
			return -1, nil
		}
		n, err := number.parse(text)
		if err != nil {
			err = fmt.Errorf("%w, or %s", err, word)
		}
		return n, err
	}
	either.format = func(n T) string {
		if n < 0 {
			return word
		}
		return number.format(n)
	}
	return either
}

// rate is a flag for requests in a time.
func rate(target *schema.Rate) parsed[schema.Rate] {
	return parsed[schema.Rate]{target, "rate", func(text string) (schema.Rate, error) {
		if text == "none" {
			return schema.Rate{}, nil
		}
		given, ok := schema.ParseRate(text)
		if !ok {
			return given, errors.New("must be none, or requests in a second, minute or hour, such as 20/s, 600/m or 5000/h")
		}
		return given, nil
	}, schema.Rate.String}
}

// prefixes is a flag for addresses and blocks of them, separated by commas.
func prefixes(target *[]netip.Prefix) parsed[[]netip.Prefix] {
	return parsed[[]netip.Prefix]{target, "addresses", func(text string) (all []netip.Prefix, _ error) {
		for each := range strings.SplitSeq(text, ",") {
			each = strings.TrimSpace(each)
			prefix, err := netip.ParsePrefix(each)
			if addr, failed := netip.ParseAddr(each); failed == nil {
				prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
			}
			if err != nil {
				return nil, errors.New("must be addresses such as 10.0.0.0/8 or ::1, separated by commas")
			}
			all = append(all, prefix)
		}
		return all, nil
	}, func(all []netip.Prefix) string {
		texts := make([]string, len(all))
		for i, prefix := range all {
			texts[i] = prefix.String()
		}
		return strings.Join(texts, ",")
	}}
}

// words is a flag for words, separated by commas.
func words(target *[]string) parsed[[]string] {
	return parsed[[]string]{target, "words", func(text string) (all []string, _ error) {
		for each := range strings.SplitSeq(text, ",") {
			if each = strings.TrimSpace(each); each != "" {
				all = append(all, each)
			}
		}
		return all, nil
	}, func(all []string) string { return strings.Join(all, ",") }}
}
