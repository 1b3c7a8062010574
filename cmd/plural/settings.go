package main

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// settings is what can be set by flags, the environment and the schema file.
type settings struct {
	addr       string
	schemaFile string
	logFormat  string
	logLevel   string
	config     plural.Config
}

// register declares the flags. Their names are those of everything else too:
// see variable and key.
func (s *settings) register(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8080", "address to listen on")
	flags.StringVar(&s.schemaFile, "schema", "", "schema file (default plural.yaml if there is one, else a built-in example)")
	flags.StringVar(&s.config.Database, "database", "sqlite:plural.db", "database `URL`")
	flags.StringVar(&s.logFormat, "log-format", "text", "text or json")
	flags.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.Int64Var(&s.config.DefaultLimit, "default-limit", 100, "resources of a collection when the request gives no limit")
	flags.Int64Var(&s.config.MaxLimit, "max-limit", 0, "largest limit a request may give (0 is none)")
	s.config.MaxBody = 1 << 20
	flags.Var((*byteSize)(&s.config.MaxBody), "max-body", "largest request body")
	flags.IntVar(&s.config.MaxDepth, "max-depth", 64, "deepest nesting of a request body")
	flags.IntVar(&s.config.MaxItems, "max-items", 1000, "most resources that one array creates")
	durations := []struct {
		target   *time.Duration
		name     string
		fallback time.Duration
		usage    string
	}{
		{&s.config.HeaderTimeout, "header-timeout", 10 * time.Second, "time for a client to send the header of a request"},
		{&s.config.ReadTimeout, "read-timeout", 30 * time.Second, "time for a client to send a whole request"},
		{&s.config.WriteTimeout, "write-timeout", 30 * time.Second, "time for a client to take each piece of an answer"},
		{&s.config.IdleTimeout, "idle-timeout", 2 * time.Minute, "time to keep an idle connection"},
		{&s.config.ShutdownTimeout, "shutdown-timeout", 30 * time.Second, "time for accepted requests to finish at the end"},
		{&s.config.ChangeRetention, "change-retention", 7 * 24 * time.Hour, "how long the change log remembers (forever, or for example 30d)"},
	}
	for _, d := range durations {
		*d.target = d.fallback
		flags.Var((*duration)(d.target), d.name, d.usage)
	}
}

// variable is the environment variable of a flag: PLURAL_MAX_BODY for max-body.
func variable(flag string) string {
	return "PLURAL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// key is the name of a flag in the schema file: max_body for max-body.
func key(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// load completes the flags that were not given: from the environment, and then
// from the schema file, which it returns.
func (s *settings) load(flags *pflag.FlagSet) (*schema.File, error) {
	given := map[string]bool{}
	flags.Visit(func(flag *pflag.Flag) { given[flag.Name] = true })
	var problems []string
	flags.VisitAll(func(flag *pflag.Flag) {
		value, set := os.LookupEnv(variable(flag.Name))
		if !set || given[flag.Name] || flag.Name == "help" {
			return
		}
		given[flag.Name] = true
		if err := flag.Value.Set(value); err != nil {
			problems = append(problems, fmt.Sprintf("%s=%s: %v", variable(flag.Name), value, err))
		}
	})
	if len(problems) > 0 {
		return nil, fmt.Errorf("the environment has mistakes:\n%s", strings.Join(problems, "\n"))
	}
	file, err := s.readSchema()
	if err != nil {
		return nil, err
	}
	for _, setting := range file.Settings {
		place := fmt.Sprintf("%s:%d:%d: ", s.schemaFile, setting.Line, setting.Column)
		flag := flags.Lookup(strings.ReplaceAll(setting.Name, "_", "-"))
		switch {
		case flag == nil || strings.Contains(setting.Name, "-") || !inFile(flag):
			problems = append(problems, place+"there is no setting "+setting.Name+". There are "+strings.Join(fileKeys(flags), ", "))
		case !given[flag.Name]:
			if err := flag.Value.Set(setting.Value); err != nil {
				problems = append(problems, fmt.Sprintf("%s%s: %v", place, setting.Name, err))
			}
		}
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("the schema file has mistakes:\n%s", strings.Join(problems, "\n"))
	}
	return file, nil
}

// inFile: a file cannot say which file it is.
func inFile(flag *pflag.Flag) bool { return flag.Name != "schema" && flag.Name != "help" }

func fileKeys(flags *pflag.FlagSet) []string {
	var keys []string
	flags.VisitAll(func(flag *pflag.Flag) {
		if inFile(flag) {
			keys = append(keys, key(flag.Name))
		}
	})
	return keys
}

// byteSize is a flag for a number of bytes, such as 1MiB.
type byteSize int64

var byteUnits = []struct {
	suffix string
	factor int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}, {"", 1}}

func (b *byteSize) Set(text string) error {
	unit := slices.IndexFunc(byteUnits, func(u struct {
		suffix string
		factor int64
	}) bool {
		return strings.HasSuffix(text, u.suffix)
	})
	number := strings.TrimSuffix(text, byteUnits[unit].suffix)
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/byteUnits[unit].factor {
		return fmt.Errorf("must be a number of bytes such as 65536, 512KiB or 1MiB")
	}
	*b = byteSize(n * byteUnits[unit].factor)
	return nil
}

func (b *byteSize) String() string {
	for _, unit := range []int{2, 1, 0} {
		if n, factor := int64(*b), byteUnits[unit].factor; n > 0 && n%factor == 0 {
			return strconv.FormatInt(n/factor, 10) + byteUnits[unit].suffix
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *byteSize) Type() string { return "size" }

// duration is a flag for a time span, which unlike Go's may be in days, or forever.
type duration time.Duration

const day = 24 * time.Hour

func (d *duration) Set(text string) error {
	if text == "forever" {
		*d = -1
		return nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 64)
		if err == nil && n > 0 && n <= int64(math.MaxInt64/day) {
			*d = duration(time.Duration(n) * day)
			return nil
		}
	}
	span, err := time.ParseDuration(text)
	if err != nil || span <= 0 {
		return fmt.Errorf("must be a time span such as 30s, 2m or 7d")
	}
	*d = duration(span)
	return nil
}

func (d *duration) String() string {
	switch span := time.Duration(*d); {
	case span < 0:
		return "forever"
	case span > 0 && span%day == 0:
		return strconv.FormatInt(int64(span/day), 10) + "d"
	default:
		return span.String()
	}
}

func (d *duration) Type() string { return "duration" }

// withoutPassword is a database URL that can be shown.
func withoutPassword(database string) string {
	if parsed, err := url.Parse(database); err == nil && parsed.User != nil {
		return parsed.Redacted()
	}
	return database
}
