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
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
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
	// SeedOnly leaves out the rules by which the gaps of the seed were filled.
	SeedOnly bool
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
	ID     string `json:"id"`     // topic.name, never changes
	Title  string `json:"title"`  // what is tested
	Rule   string `json:"rule"`   // what must hold
	Source string `json:"source"` // where the rule is written
	Seed   bool   `json:"seed"`   // the rule is in the seed, and does not fill a gap of it
	Writes bool   `json:"writes"` // needs to create, change or delete

	// Synchronous is what the check needs that only a synchronous request
	// has, "" if it can be run asynchronously.
	Synchronous string `json:"synchronous,omitempty"`

	run func(*probe)
}

// Topic is the part of the id before the dot.
func (c Check) Topic() string {
	topic, _, _ := strings.Cut(c.ID, ".")
	return topic
}

// Run checks a server. The error says why the checks could not be run; that a
// check failed is in the report. When ctx ends, Run ends with its error.
func Run(ctx context.Context, options Options) (*Report, error) {
	selected, err := selection(options)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	s, err := newSuite(ctx, options)
	if err != nil {
		return nil, err
	}
	defer s.client.CloseIdleConnections()
	s.size = sizeFor(selected)
	report := &Report{BaseURL: options.BaseURL, ReadOnly: options.ReadOnly, SeedOnly: options.SeedOnly, Async: options.Async}
	err = s.prepare()
	if err == nil {
		report.Collection = s.collection.Name
		if options.ReadOnly && len(s.reference) == 0 {
			report.Warnings = append(report.Warnings, fmt.Sprintf("%s has no resources to look at, and a read-only run creates none: most checks are skipped", s.collection.Name))
		}
		for _, check := range selected {
			if err = s.stopped(); err != nil {
				break
			}
			report.Results = append(report.Results, s.result(check))
		}
	}
	// Resources that were created are deleted also after the run was ended early.
	report.Leftovers = s.cleanUp(context.WithoutCancel(ctx))
	report.Created, report.Elapsed = s.created, time.Since(started)
	if err == nil {
		err = s.stopped() // the last check may have been cut short
	}
	if err != nil {
		if len(report.Leftovers) > 0 {
			err = fmt.Errorf("%w (left behind: %s)", err, strings.Join(report.Leftovers, ", "))
		}
		return nil, err
	}
	return report, nil
}

// stopped returns why the run cannot continue, or nil.
func (s *suite) stopped() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	return s.gaveUp
}

// selection is the list of checks that the options ask for.
func selection(options Options) ([]Check, error) {
	all := Checks()
	known := map[string]bool{}
	for _, check := range all {
		known[check.ID], known[check.Topic()] = true, true
	}
	for _, name := range slices.Concat(options.Only, options.Skip) {
		if !known[name] {
			return nil, fmt.Errorf("there is no check %q, and no topic of that name", name)
		}
	}
	matches := func(names []string, check Check) bool {
		return slices.Contains(names, check.ID) || slices.Contains(names, check.Topic())
	}
	selected := slices.DeleteFunc(all, func(check Check) bool {
		return options.SeedOnly && !check.Seed ||
			options.Async && !check.Writes ||
			len(options.Only) > 0 && !matches(options.Only, check) ||
			matches(options.Skip, check)
	})
	if len(selected) == 0 {
		return nil, errors.New("no check is left to run")
	}
	return selected, nil
}

// suite is one run: what is known of the server, and what was created there.
type suite struct {
	ctx      context.Context
	options  Options
	base     string // without a slash at its end
	client   *http.Client
	tag      string // part of all values of this run, so that they differ from those of other runs
	counter  int    // number of bodies made
	created  int
	tracked  []place                    // resources to remove, in the order of creation
	existing map[string]map[string]bool // ids of others by collection, read before the first write there
	catalog  []collection
	samples  map[string]resource // valid bodies, by collection
	parents  map[string]string   // ids for required references, by collection
	children *relation           // the sub-collection that is used, nil if there is none
	noChild  string              // why there is no sub-collection
	shared   *family             // made when the first check needs it

	collection collection
	constant   map[place]bool // attributes, as places in a collection, that refused another value than the sample's

	// size is the number of resources in the fixture.
	size int
	// reference is the whole collection after the fixture was made, in the
	// order in which the server lists it; position maps an id to its index.
	reference []resource
	position  map[string]int

	// What is known of asynchronous operations, see operation.go.
	async      support
	unfinished []string      // URLs of operations that may still have to take effect
	patience   time.Duration // with an operation

	careful sync.Map // names of collections in which every change needs an If-Match

	largestBody int64
	cleanUpTime time.Duration
	unanswered  int   // requests in a row
	gaveUp      error // nil as long as the server answers
}

const (
	mostUnanswered     = 3
	defaultLargestBody = 64 << 20
	defaultCleanUpTime = 15 * time.Second
)

func newSuite(ctx context.Context, options Options) (*suite, error) {
	base, err := url.Parse(options.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("the base URL must be one such as https://example.com/api, but is %q", options.BaseURL)
	}
	samples, err := readSamples(options)
	if err != nil {
		return nil, err
	}
	if options.Async && options.ReadOnly {
		return nil, errors.New("a read-only run has nothing to do asynchronously")
	}
	if options.Timeout < 0 {
		return nil, fmt.Errorf("the time-out must be more than nothing, but is %s", options.Timeout)
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true}}
	if options.Client != nil {
		given := *options.Client
		client = &given
	}
	patience := defaultPatience
	if options.Timeout > 0 {
		client.Timeout, patience = options.Timeout, options.Timeout
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &suite{
		ctx: ctx, options: options, base: strings.TrimSuffix(options.BaseURL, "/"), client: client, tag: newTag(),
		samples: samples, parents: map[string]string{}, constant: map[place]bool{}, position: map[string]int{},
		existing: map[string]map[string]bool{}, patience: patience, largestBody: defaultLargestBody, cleanUpTime: max(defaultCleanUpTime, patience),
	}, nil
}

// readSamples reads the sample bodies. That of the collection to work with,
// which may not be known yet, is under "".
func readSamples(options Options) (map[string]resource, error) {
	samples := map[string]resource{}
	read := func(collection, what string, text json.RawMessage) error {
		var sample resource
		if !json.Valid(text) {
			return fmt.Errorf("%s is not valid JSON", what)
		}
		if json.Unmarshal(text, &sample) != nil || sample.members == nil {
			return fmt.Errorf("%s must be a JSON object, but is %s", what, shorten(string(text)))
		}
		samples[collection] = sample
		return nil
	}
	if len(options.Sample) > 0 {
		if err := read("", "the sample", options.Sample); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(options.Samples)) {
		if !nameForm.MatchString(name) {
			return nil, fmt.Errorf("a sample must be for the name of a collection, but is for %q", name)
		}
		if err := read(name, "the sample for "+name, options.Samples[name]); err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// result runs one check. A check ends by a panic with an outcome when it has
// failed or cannot be run, so that each reads from top to bottom.
func (s *suite) result(check Check) (result Result) {
	result = Result{Check: check, Status: Passed}
	started := time.Now()
	defer func() {
		result.Elapsed = time.Since(started)
		switch reason := recover().(type) {
		case nil:
		case outcome:
			result.Status, result.Reason, result.Failure = reason.status, reason.reason, reason.failure
		default:
			panic(reason)
		}
	}()
	switch {
	case check.Writes && s.options.ReadOnly:
		result.Status, result.Reason = Skipped, "the run is read-only"
	case s.options.Async && check.Synchronous != "":
		result.Status, result.Reason = Skipped, "it is about the synchronous answer: "+check.Synchronous
	case s.options.Async && s.async == unsupported:
		result.Status, result.Reason = Skipped, notSupported
	default:
		defer s.awaitUnfinished(s.ctx)
		check.run(&probe{suite: s, check: check})
	}
	return result
}
