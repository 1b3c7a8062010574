// Package conform checks over HTTP whether a server follows the convention,
// whatever language it is written in. Each check has a stable id and the rule
// that it tests. A check that fails reports the request, what was expected and
// what was received.
//
// The checks create resources in one collection of the server and delete them
// again. A read-only run only uses resources that exist.
package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/conform/internal/checks"
	"github.com/plural-go/plural/conform/internal/suite"
)

// Options say what to check, and how the server is reached.
type Options struct {
	// BaseURL is where the collections are: https://example.com/api for
	// https://example.com/api/users. Required.
	BaseURL string
	// Collection to work with. Default: the first that GET / lists.
	Collection string
	// Sample is one valid body for POST, a JSON object. A server that describes
	// its collections at GET / needs none.
	Sample json.RawMessage
	// Samples are valid bodies for other collections, by name: those that the
	// collection refers to, or that refer to it.
	Samples map[string]json.RawMessage
	// Headers go with every request, for example Authorization.
	Headers http.Header
	// ReadOnly sends nothing but GET, HEAD and OPTIONS.
	ReadOnly bool
	// ConventionOnly leaves out the rules that fill the gaps of the convention.
	ConventionOnly bool
	// Async executes the writes of the checks asynchronously: each is sent with
	// Prefer: respond-async, the check waits for its operation, and uses the state
	// after it as the response. Checks that write nothing are left out.
	Async bool
	// Only and Skip select checks, by id or by topic (the part before the dot).
	Only, Skip []string
	// Timeout is how long each response may take, and each operation. Default: that of Client, or 30
	// seconds.
	Timeout time.Duration
	// Client sends the requests. Redirections are never followed.
	Client *http.Client
}

// Check tests one rule of the convention.
type Check struct {
	ID         string `json:"id"`         // topic.name, never changes
	Title      string `json:"title"`      // what is tested
	Rule       string `json:"rule"`       // what must hold
	Source     string `json:"source"`     // where the rule is written
	Convention bool   `json:"convention"` // the rule is in the convention, and does not fill a gap of it
	Writes     bool   `json:"writes"`     // needs to create, change or delete

	// Synchronous is what the check needs that only a synchronous request
	// has, "" if it can be run asynchronously.
	Synchronous string `json:"synchronous,omitempty"`

	check suite.Check
}

// Topic is the part of the id before the dot.
func (c Check) Topic() string {
	topic, _, _ := strings.Cut(c.ID, ".")
	return topic
}

// Checks lists every check, in the order in which they are run: first those
// that look at the collection as it is, then those that change it.
func Checks() []Check {
	known := checks.All()
	all := make([]Check, len(known))
	for i, c := range known {
		all[i] = Check{
			ID: c.ID, Title: c.Title, Rule: c.Rule, Source: c.Source, Convention: strings.HasPrefix(c.Source, "convention"), Writes: c.Writes,
			Synchronous: c.Synchronous, check: c,
		}
	}
	return all
}

// Run checks a server. The error says why the checks could not be run; that a
// check failed is in the report. When ctx ends, Run ends with its error.
func Run(ctx context.Context, options Options) (*Report, error) {
	selected, err := selection(options)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	s, err := suite.NewSuite(ctx, suiteOptions(options))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	report := &Report{BaseURL: options.BaseURL, ReadOnly: options.ReadOnly, ConventionOnly: options.ConventionOnly, Async: options.Async}
	err = s.Prepare(sizeFor(selected))
	if err == nil {
		report.Collection = s.Collection.Name
		if options.ReadOnly && len(s.Reference) == 0 {
			report.Warnings = append(report.Warnings, fmt.Sprintf("%s has no resources to look at, and a read-only run creates none: most checks are skipped", s.Collection.Name))
		}
		for _, check := range selected {
			if err = s.Stopped(); err != nil {
				break
			}
			report.Results = append(report.Results, resultOf(s, check))
		}
	}
	// Resources that were created are deleted also after the run was ended early.
	report.Leftovers = s.CleanUp(context.WithoutCancel(ctx))
	report.Created, report.Elapsed = s.Created, time.Since(started)
	if err == nil {
		err = s.Stopped() // the last check may have been cut short
	}
	if err != nil {
		if len(report.Leftovers) > 0 {
			err = fmt.Errorf("%w (left behind: %s)", err, strings.Join(report.Leftovers, ", "))
		}
		return nil, err
	}
	return report, nil
}

// selection is the list of checks that the options ask for.
func selection(options Options) ([]Check, error) {
	all := Checks()
	matches := func(names []string, check Check) bool {
		return slices.Contains(names, check.ID) || slices.Contains(names, check.Topic())
	}
	for _, name := range slices.Concat(options.Only, options.Skip) {
		if !slices.ContainsFunc(all, func(check Check) bool { return matches([]string{name}, check) }) {
			return nil, fmt.Errorf("there is no check %q, and no topic of that name", name)
		}
	}
	selected := slices.DeleteFunc(all, func(check Check) bool {
		return options.ConventionOnly && !check.Convention ||
			options.Async && !check.Writes ||
			len(options.Only) > 0 && !matches(options.Only, check) ||
			matches(options.Skip, check)
	})
	if len(selected) == 0 {
		return nil, errors.New("no check is left to run")
	}
	return selected, nil
}

// suiteOptions are the options of a run, without those that select checks.
func suiteOptions(o Options) suite.Options {
	return suite.Options{
		BaseURL: o.BaseURL, Collection: o.Collection, Sample: o.Sample, Samples: o.Samples, Headers: o.Headers,
		ReadOnly: o.ReadOnly, Async: o.Async, Timeout: o.Timeout, Client: o.Client,
	}
}

// resultOf runs one check.
func resultOf(s *suite.Suite, c Check) Result {
	started := time.Now()
	outcome := s.Execute(c.check)
	result := Result{Check: c, Status: Passed, Reason: outcome.Skipped, Failure: (*Failure)(outcome.Failure), Elapsed: time.Since(started)}
	switch {
	case result.Failure != nil:
		result.Status = Failed
	case result.Reason != "":
		result.Status = Skipped
	}
	return result
}

const (
	fixtureSize  = 45 // enough for the numbers of the convention: offset 39, and a cursor with limit 30
	smallFixture = 5  // for checks that look at one resource, or at those that they make
)

// lookAtMany are the topics of checks that look at a whole collection.
var lookAtMany = []string{"read", "representation", "range", "cursor", "parameter", "filter", "search", "sort", "fields", "groups", "total", "link"}

// sizeFor is how many resources checks need to look at.
func sizeFor(selected []Check) int {
	if slices.ContainsFunc(selected, func(c Check) bool { return !c.Writes && slices.Contains(lookAtMany, c.Topic()) }) {
		return fixtureSize
	}
	return smallFixture
}
