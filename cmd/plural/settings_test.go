package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
)

// load runs settings through flags, in a directory with a schema file.
func load(t *testing.T, file string, args ...string) (*settings, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if file != "" {
		if err := os.WriteFile("plural.yaml", []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var s settings
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	s.register(flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	err := s.load(flags)
	return &s, err
}

const oneCollection = "collections:\n  things: {}\n"

func TestFlagBeatsEnvironmentBeatsFile(t *testing.T) {
	const file = oneCollection + "server:\n  max_body: 3MiB\n  max_items: 3\n  default_limit: 3\n"
	t.Setenv("PLURAL_MAX_BODY", "2MiB")
	t.Setenv("PLURAL_MAX_ITEMS", "2")
	s, err := load(t, file, "--max-body=1KiB")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.config; got.MaxBody != 1<<10 || got.MaxItems != 2 || got.DefaultLimit != 3 || got.MaxDepth != 64 {
		t.Errorf("got %d, %d, %d, %d", got.MaxBody, got.MaxItems, got.DefaultLimit, got.MaxDepth)
	}
	if s.schemaFile != "plural.yaml" {
		t.Errorf("the schema is %q", s.schemaFile)
	}
}

func TestSchemaFileFromTheEnvironment(t *testing.T) {
	name := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(name, []byte(oneCollection+"server: {addr: '127.0.0.1:9'}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PLURAL_SCHEMA", name)
	s, err := load(t, "")
	if err != nil || s.addr != "127.0.0.1:9" || s.schemaFile != name {
		t.Errorf("got %q from %q, %v", s.addr, s.schemaFile, err)
	}
}

func TestMistakesInSettingsNameTheirPlace(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		env  [2]string
		args []string
		want string
	}{
		"a file that is not there": {args: []string{"--schema=none.yaml"}, want: "open none.yaml: no such file or directory"},
		"unknown setting": {
			file: oneCollection + "server:\n  adress: x\n",
			want: "plural.yaml:4:3: there is no setting adress (use addr): use addr, open, agent_writes, database, database_direct, migrate, log_format, log_level, default_limit, " +
				"max_limit, max_body, max_body_memory, max_write_memory, max_depth, max_items, min_throughput, max_requests, max_streams, max_streams_per_caller, rate_limit, trusted_proxies, allowed_origins, cert_file, key_file, header_timeout, read_timeout, stream_heartbeat, write_timeout, query_timeout, idle_timeout, drain_delay, shutdown_timeout, slow_query, workers, max_operations, max_operations_per_caller, operation_retention, idempotency_quota, idempotency_retention, change_retention",
		},
		"wrong values in the file": {
			file: oneCollection + "server:\n  max_body: much\n  idle_timeout: soon\n",
			want: "plural.yaml:4:13: max_body: must be a number of bytes such as 65536, 512KiB or 1MiB\n" +
				"plural.yaml:5:17: idle_timeout: must be a time span such as 30s, 2m or 7d",
		},
		"wrong value in the environment": {
			env:  [2]string{"PLURAL_MAX_DEPTH", "deep"},
			want: "PLURAL_MAX_DEPTH=deep: must be a whole number of at least 1",
		},
		"mistakes everywhere": {
			env:  [2]string{"PLURAL_LOG_LEVEL", "loud"},
			file: "collections:\n  Users: {}\n  posts: {atributes: {}}\nserver:\n  log_format: xml\n",
			want: "PLURAL_LOG_LEVEL=loud: must be debug, info, warn or error\n" +
				"plural.yaml:2:3: \"Users\" cannot be the name of a collection: use a lower-case letter, then lower-case letters, digits, _ and (not at the end) -\n" +
				"plural.yaml:3:11: there is no key \"atributes\" here (did you mean attributes?): use description, attributes, required, unique, index, search, label, parent, checks, singular, timestamps, require_if_match, async or renamed_from\n" +
				"plural.yaml:5:15: log_format: must be text or json",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.env[0] != "" {
				t.Setenv(c.env[0], c.env[1])
			}
			_, err := load(t, c.file, c.args...)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
