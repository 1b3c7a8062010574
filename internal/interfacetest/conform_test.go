package interfacetest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/conform"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// check runs the suite on a collection and requires that no check fails, and
// that it leaves nothing behind.
func check(t testing.TB, s *server, options conform.Options) *conform.Report {
	t.Helper()
	options.BaseURL, options.Client, options.Timeout, options.Headers = s.base, client, hung, http.Header{}
	for i := 0; i < len(s.headers); i += 2 {
		options.Headers.Set(s.headers[i], s.headers[i+1])
	}
	before := s.get("/" + options.Collection).total()
	report, err := conform.Run(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range report.Results {
		if f := result.Failure; f != nil {
			t.Errorf("%s: %s\n%s\nexpected %s\ngot      %s", result.ID, result.Rule, f.Request, f.Expected, f.Got)
		}
	}
	if len(report.Leftovers) > 0 || report.Created == 0 != options.ReadOnly {
		t.Errorf("created %d, left behind %v", report.Created, report.Leftovers)
	}
	if after := s.get("/" + options.Collection).total(); after != before {
		t.Errorf("there were %s resources, and now there are %s", before, after)
	}
	return report
}

// expectSkipped compares the checks of the example that could not be run: it has no rules.
func expectSkipped(t *testing.T, report *conform.Report, want ...string) {
	t.Helper()
	for _, c := range conform.Checks() {
		if c.Topic() == "rules" && !slices.Contains(want, c.ID) {
			want = append(want, c.ID)
		}
	}
	got := report.IDs(conform.Skipped)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("of %s are skipped\n%q, and should be\n%q", report.Collection, got, want)
	}
}

func TestConformanceOfTheExample(t *testing.T) {
	t.Parallel()
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		expectSkipped(t, check(t, s, conform.Options{Collection: "posts"}),
			"body.integers", "groups.values", "filter.inside", "filter.has", "search.words", "filter.search", "filter.enum",
			"filter.restricts", "filter.boolean", "filter.bare-boolean", // there is no boolean
			"link.walk-long",                         // it needs 1,002 resources
			"create.required", "patch.null-required", // all is optional
		)
		// A collection that is in use stays as it is.
		seedUsers(s, 120)
		before := s.get("/users?limit=1000")
		expectSkipped(t, check(t, s, conform.Options{Collection: "users"}),
			"filter.bare",  // nothing but a boolean can be null
			"many.dry-run", // there are resources of others
			"link.walk-long",
			"body.integers", "groups.values", "filter.inside", "filter.has", "search.words", "filter.search", "filter.enum",
		)
		s.get("/users?limit=1000").expect(t, 200, before.timeless())

		report := check(t, s, conform.Options{Collection: "users", ReadOnly: true})
		for _, result := range report.Results {
			// All that can be read is, but for what the data does not have: a
			// boolean that is null, for filter.null and the like.
			if result.Status == conform.Skipped && !result.Writes && result.Topic() != "filter" && !slices.Contains([]string{"link.walk-long", "sort.null", "search.words", "groups.values"}, result.ID) {
				t.Errorf("%s is skipped: %s", result.ID, result.Reason)
			}
		}
	})
}

// Between the collections of the large schema, every check can be run.
func TestConformanceOfTheLargeSchema(t *testing.T) {
	t.Parallel()
	eachStore(t, large(t), func(t *testing.T, s *server) {
		passed := map[string]bool{}
		var skip []string // passed once, and the same for any collection
		for _, c := range (*model.Schema)(large(t)).Collections() {
			for _, id := range check(t, s, conform.Options{Collection: c.Name, Skip: skip}).IDs(conform.Passed) {
				passed[id] = true
				if topic, _, _ := strings.Cut(id, "."); slices.Contains([]string{"etag", "condition", "once", "async"}, topic) {
					skip = append(skip, id)
				}
			}
		}
		for _, c := range conform.Checks() {
			if !passed[c.ID] && c.ID != "link.walk-long" && c.Topic() != "rules" { // see TestConformanceOfLongRanges and TestConformanceOfRules
				t.Errorf("%s is not passed for any collection", c.ID)
			}
		}
	})
}

func TestConformanceOfLongRanges(t *testing.T) {
	t.Parallel()
	report := checkBehind(t, conform.Options{Collection: "users", Only: []string{"link.walk-long"}}, 1002, nil)
	if got := report.IDs(conform.Passed); len(got) != 1 {
		t.Errorf("passed: %q", got)
	}
}

// Every Location and Link carries the prefix.
func TestConformanceUnderAPrefix(t *testing.T) {
	s := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), func(c *plural.Config) { c.Prefix = "/api/v1" })
	s.base += "/api/v1"
	check(t, s, conform.Options{Collection: "users"})
}

// A server that does not describe its collections is checked by a sample. What
// other values an attribute takes is found out by trying.
func TestConformanceBySample(t *testing.T) {
	for _, c := range []struct {
		collection, sample string
		schema             *schema.Schema
		passed             []string // of those that need another value
	}{
		{"users", `{"name":"Ada","email":"ada@example.com","active":true}`, schema.Example(), []string{"patch.partial", "filter.restricts", "sort.ascending", "put.updates"}},
		{"rules", `{"word":"ab","color":"red","code":"A1","dozen":3}`, large(t), []string{"cursor.limit", "create.values"}},
		{"sqlite_things", `{"rowid":1,"group":"g","select":false}`, large(t), []string{"patch.partial", "filter.restricts"}},
	} {
		t.Run(c.collection, func(t *testing.T) {
			front := openBehind(t, c.schema, func(next serve, r *http.Request) *broken {
				if r.URL.Path == "/" {
					r.URL.Path = "/nowhere"
				}
				return next(r)
			})
			options := conform.Options{BaseURL: "http://conform.test", Collection: c.collection, Sample: json.RawMessage(c.sample), Client: front}
			report, err := conform.Run(context.Background(), options)
			if err != nil {
				t.Fatal(err)
			}
			if got := report.IDs(conform.Failed); !slices.Equal(got, []string{"path.root"}) {
				t.Errorf("failed: %q", got)
			}
			for _, id := range c.passed {
				if !slices.Contains(report.IDs(conform.Passed), id) {
					t.Errorf("%s has not passed", id)
				}
			}
			if len(report.Leftovers) > 0 {
				t.Errorf("left behind: %q", report.Leftovers)
			}
			options.Sample = nil
			if _, err := conform.Run(context.Background(), options); err == nil || err.Error() != "the server does not describe the collection "+c.collection+" at GET /: give a sample body" {
				t.Errorf("without a sample: %v", err)
			}
		})
	}
}

// A run that is given up removes what it has created.
func TestConformanceCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	created, left := 0, 0
	front := openBehind(t, schema.Example(), func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.Method == "POST" && a.status == 201 {
			created++
			left++
		}
		if r.Method == "DELETE" && a.status == 200 {
			left--
		}
		if created == 50 { // the fixture is complete, and checks are running
			cancel()
		}
		return a
	})
	report, err := conform.Run(ctx, conform.Options{BaseURL: "http://conform.test", Client: front})
	if report != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", report, err)
	}
	if created < 50 || left != 0 {
		t.Errorf("created %d, of which %d are left", created, left)
	}
}

func TestConformanceCannotBeRun(t *testing.T) {
	s := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
	for name, c := range map[string]struct {
		options conform.Options
		want    string
	}{
		"no URL":            {conform.Options{BaseURL: "localhost:8080"}, `the base URL must be one such as https://example.com/api, but is "localhost:8080"`},
		"no such check":     {conform.Options{BaseURL: s.base, Only: []string{"range.nope"}}, `there is no check "range.nope", and no topic of that name`},
		"nothing left":      {conform.Options{BaseURL: s.base, Only: []string{"range"}, Skip: []string{"range"}}, "no check is left to run"},
		"a sample of words": {conform.Options{BaseURL: s.base, Sample: json.RawMessage("words")}, "the sample is not valid JSON"},
		"a sample array":    {conform.Options{BaseURL: s.base, Sample: json.RawMessage("[]")}, "the sample must be a JSON object, but is []"},
		"a wrong sample": {conform.Options{BaseURL: s.base, Collection: "users", Sample: json.RawMessage(`{"nope":{}}`), Only: []string{"range"}},
			"a resource could not be created; is there a better sample?"},
		"no such collection": {conform.Options{BaseURL: s.base, Collection: "nope", ReadOnly: true}, "there is no collection nope: GET / lists users, posts, operations, changes"},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := conform.Run(context.Background(), c.options)
			if report != nil || err == nil {
				t.Fatalf("got %v, %v", report, err)
			}
			if line, _, _ := strings.Cut(err.Error(), "\n"); line != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
