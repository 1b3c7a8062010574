package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/agents"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/schema"
)

// settings are the values of flags, the environment and the schema file.
type settings struct {
	addr       string
	schemaFile string
	schemaText []byte // of the file
	logFormat  string
	logLevel   string
	config     plural.Config
}

var (
	logFormats   = []string{"text", "json"}
	logLevels    = []string{"debug", "info", "warn", "error"}
	migrateModes = []plural.MigrateMode{plural.MigrateAdditive, plural.MigrateOff}
)

// register declares the flags. Environment variables and keys of the schema file have the same
// names: see variable and key.
func (s *settings) register(flags *pflag.FlagSet) {
	flags.SortFlags = false
	s.logFormat, s.logLevel = "text", "info"
	s.config = plural.Config{Agents: agents.Handler}.WithDefaults()
	c := &s.config
	c.MaxOperationsPerCaller, c.DrainDelay = 0, -1 // as they are given
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8080", "address to listen on")
	flags.StringVar(&s.schemaFile, "schema", "", "schema file (default plural.yaml if there is one, else a built-in example with the database "+exampleFile+")")
	flags.BoolVar(&c.Open, "open", false, "listen on any address without access rules in the schema file")
	flags.BoolVar(&c.AgentWrites, "agent-writes", false, "agents may write at /-/mcp without access rules in the schema file")
	flags.StringVar(&c.Database, "database", c.Database, "database `URL`")
	flags.StringVar(&c.DatabaseDirect, "database-direct", "", "`URL` of the same PostgreSQL database without a pooler such as PgBouncer, to hear of changes (default: the database)")
	flags.Var(oneOf(&c.Migrate, migrateModes...), "migrate", "automatic migration of a database with another schema: additive or off")
	flags.Var(oneOf(&s.logFormat, logFormats...), "log-format", "text or json")
	flags.Var(oneOf(&s.logLevel, logLevels...), "log-level", "debug, info, warn or error")
	flags.Var(count(&c.DefaultLimit, 1), "default-limit", "resources of a collection when the request gives no limit")
	flags.Var(count(&c.MaxLimit, 0), "max-limit", "largest limit a request may give (0: no maximum)")
	flags.Var(bytesOf(&c.MaxBody), "max-body", "largest request body")
	flags.Var(bytesOf(&c.MaxBodyMemory), "max-body-memory", "bytes of all request bodies in flight")
	flags.Var(bytesOf(&c.MaxWriteMemory), "max-write-memory", "memory for the resources of all requests that write many")
	flags.Var(count(&c.MaxDepth, 1), "max-depth", "deepest nesting of a request body")
	flags.Var(count(&c.MaxItems, 1), "max-items", "maximum resources that one request writes")
	flags.Var(orWord(bytesOf(&c.MinThroughput), "off"), "min-throughput", "bytes per second that a client must receive of a long list, or off")
	flags.Var(count(&c.MaxRequests, 1), "max-requests", "maximum concurrent requests")
	flags.Var(count(&c.MaxStreams, 1), "max-streams", "maximum concurrent streams of changes and long polls")
	flags.Var(count(&c.MaxStreamsPerCaller, 1), "max-streams-per-caller", "maximum concurrent streams of changes and long polls of one caller or address")
	flags.Var(rate(&c.RateLimit), "rate-limit", "requests from one address, for example 20/s, 600/m or none")
	flags.Var(prefixes(&c.TrustedProxies), "trusted-proxies", "addresses of proxies whose X-Forwarded-For is used, for example 10.0.0.0/8,::1")
	flags.Var(words(&c.AllowedOrigins), "allowed-origins", "origins of pages that may use the API, for example https://app.example.com, or *")
	flags.StringVar(&c.CertFile, "cert-file", "", "certificate for TLS, in PEM")
	flags.StringVar(&c.KeyFile, "key-file", "", "key of the certificate, in PEM")
	flags.Var(span(&c.HeaderTimeout), "header-timeout", "time for a client to send the header of a request")
	flags.Var(span(&c.ReadTimeout), "read-timeout", "time for a client to send a whole request")
	flags.Var(span(&c.StreamHeartbeat), "stream-heartbeat", "how often a stream of changes without events sends a comment")
	flags.Var(span(&c.WriteTimeout), "write-timeout", "time for a client to receive each piece of a response")
	flags.Var(span(&c.QueryTimeout), "query-timeout", "time for the database to find each piece of a response, and for the transaction of a deletion or of a write of more than one resource")
	flags.Var(span(&c.IdleTimeout), "idle-timeout", "time to keep an idle connection")
	flags.Var(orWord(span(&c.DrainDelay), "off"), "drain-delay", "time during which /-/ready fails and requests are still served on shutdown, or off")
	flags.Var(span(&c.ShutdownTimeout), "shutdown-timeout", "time for accepted requests to finish on shutdown")
	flags.Var(orWord(span(&c.SlowQuery), "off"), "slow-query", "lists for which the database takes longer are logged with their plan, or off")
	flags.Var(count(&c.Workers, 1), "workers", "maximum concurrent asynchronous operations")
	flags.Var(count(&c.MaxOperations, 1), "max-operations", "maximum unfinished asynchronous operations")
	flags.Var(count(&c.MaxOperationsPerCaller, 0), "max-operations-per-caller", "maximum unfinished asynchronous operations of one caller (0: half of max-operations)")
	flags.Var(orWord(span(&c.OperationRetention), "forever"), "operation-retention", "how long finished operations are kept, for example 30d, or forever")
	flags.Var(bytesOf(&c.IdempotencyQuota), "idempotency-quota", "bytes of the idempotency records of one caller")
	flags.Var(orWord(span(&c.IdempotencyRetention), "forever"), "idempotency-retention", "how long idempotency records are kept, for example 2d, or forever")
	flags.Var(orWord(span(&c.ChangeRetention), "forever"), "change-retention", "how long the change log keeps changes, for example 30d, or forever")
}

// variable is the environment variable of a flag: PLURAL_MAX_BODY for max-body.
func variable(flag string) string {
	return "PLURAL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// key is the name of a flag in the schema file: max_body for max-body.
func key(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// load sets flags that were not given from the environment, then from the schema file, and reads
// the schema of that file. All mistakes are reported at once.
func (s *settings) load(flags *pflag.FlagSet) error {
	given := map[string]bool{}
	// Not Visit, which does not see what another command set of flags it borrowed.
	flags.VisitAll(func(flag *pflag.Flag) { given[flag.Name] = flag.Changed })
	mistakes := s.loadEnvironment(flags, given)
	file, err := s.readSchema()
	mistakes = append(mistakes, err)
	if file != nil {
		mistakes = append(mistakes, s.loadFile(flags, given, file)...)
		s.config.Schema, s.config.Info, s.config.Access = file.Schema, file.Info, file.Access
	}
	if s.schemaFile == "" && !given["database"] {
		s.config.Database = "sqlite:" + exampleFile
	}
	if !given["max-body-memory"] {
		s.config.MaxBodyMemory = 0 // the default depends on the largest body
	}
	if !given["default-limit"] {
		s.config.DefaultLimit = 0 // the default depends on the largest limit
	}
	return errors.Join(mistakes...)
}

// exampleFile is the database of the built-in example: a first schema of one's own begins with an empty database.
const exampleFile = "plural-example.db"

// readSchema reads the schema file: by default plural.yaml if it exists, otherwise the
// built-in example.
func (s *settings) readSchema() (*schema.File, error) {
	name := cmp.Or(s.schemaFile, "plural.yaml")
	data, err := os.ReadFile(name) // #nosec G304 -- the operator names it
	if s.schemaFile == "" && errors.Is(err, os.ErrNotExist) {
		return &schema.File{Schema: schema.Example()}, nil
	}
	if err != nil {
		return nil, err
	}
	s.schemaFile, s.schemaText = name, data
	file, err := schema.Parse(data)
	return file, inFileOf(name, err)
}

// inFileOf prefixes errors with the name of the schema file.
func inFileOf(name string, err error) error {
	var problems schema.Problems
	if name == "" || !errors.As(err, &problems) {
		return err
	}
	lines := make([]string, len(problems))
	for i, problem := range problems {
		lines[i] = name + ":" + problem.String()
	}
	return errors.New(strings.Join(lines, "\n"))
}

func (s *settings) loadEnvironment(flags *pflag.FlagSet, given map[string]bool) (mistakes []error) {
	flags.VisitAll(func(flag *pflag.Flag) {
		value := os.Getenv(variable(flag.Name)) // empty is the same as not set
		if value == "" || given[flag.Name] || flag.Name == "help" {
			return
		}
		given[flag.Name] = true
		if err := flag.Value.Set(value); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s=%s: %w", variable(flag.Name), value, err))
		}
	})
	return mistakes
}

func (s *settings) loadFile(flags *pflag.FlagSet, given map[string]bool, file *schema.File) (mistakes []error) {
	for _, setting := range file.Settings {
		flag := flags.Lookup(strings.ReplaceAll(setting.Name, "_", "-"))
		switch {
		case flag == nil || strings.Contains(setting.Name, "-") || !inFile(flag):
			mistakes = append(mistakes, fmt.Errorf("%s:%d:%d: there is no setting %s%s: use %s", s.schemaFile, setting.NameLine, setting.NameColumn,
				setting.Name, s.settingHint(flags, setting.Name), strings.Join(fileKeys(flags), ", ")))
		case !given[flag.Name]:
			given[flag.Name] = true
			if err := flag.Value.Set(setting.Value); err != nil {
				mistakes = append(mistakes, fmt.Errorf("%s:%d:%d: %s: %w", s.schemaFile, setting.Line, setting.Column, setting.Name, err))
			}
		}
	}
	return mistakes
}

// settingHint is the setting that was meant by one that there is none of.
func (s *settings) settingHint(flags *pflag.FlagSet, name string) string {
	for flag, words := range flagHints {
		if found := flags.Lookup(flag); found != nil && inFile(found) && slices.Contains(strings.Fields(words), name) {
			return " (use " + key(flag) + ")"
		}
	}
	return suggest.DidYouMean(name, fileKeys(flags))
}

// inFile: a schema file cannot name itself.
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

// shown is a database URL without credentials and parameters.
func shown(database string) string {
	if file, ok := strings.CutPrefix(database, "sqlite:"); ok {
		return file
	}
	parsed, err := url.Parse(database)
	if err != nil {
		return "a database"
	}
	return parsed.Scheme + "://" + parsed.Host + parsed.Path
}
