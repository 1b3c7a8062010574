// Package suite runs checks against a server. A Suite is one run: what is known of the server, and what
// was created there. A Probe is what a check uses: it sends requests and ends the check when a response
// is not as expected.
package suite

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

// Options says how the server is reached: see conform.Options.
type Options struct {
	BaseURL    string
	Collection string
	Sample     json.RawMessage
	Samples    map[string]json.RawMessage
	Headers    http.Header
	ReadOnly   bool
	Async      bool
	Timeout    time.Duration
	Client     *http.Client
}

// Check tests one rule of the convention: see conform.Check.
type Check struct {
	ID, Title, Rule, Source, Synchronous string
	Writes                               bool

	// What the check needs; on a server without it, the check is skipped.
	Needs      int  // resources in the collection
	NeedsAsync bool // asynchronous execution of writes

	Run func(*Probe)
}

// failure is what a failed check received: see conform.Failure.
type failure struct{ Request, Expected, Got string }

// outcome is how a check ended: it failed, was skipped, or neither.
type outcome struct {
	Skipped string // why
	Failure *failure
}

// Suite is one run: what is known of the server, and what was created there.
type Suite struct {
	Ctx      context.Context
	options  Options
	Base     string // without a slash at its end
	client   *http.Client
	Tag      string // part of all values of this run, so that they differ from those of other runs
	counter  int    // number of bodies made
	Created  int
	tracked  []place                    // resources to remove, in the order of creation
	existing map[string]map[string]bool // ids of others by collection, read before the first write there
	Catalog  []Collection
	samples  map[string]Resource // valid bodies, by collection
	parents  map[string]string   // ids for required references, by collection
	children *relation           // the sub-collection that is used, nil if there is none
	noChild  string              // why there is no sub-collection
	shared   *Parents            // made when the first check needs it

	Collection Collection
	constant   map[place]bool // attributes, as places in a collection, that refused another value than the sample's

	// reference is the whole collection after the fixture was made, in the
	// order in which the server lists it; position maps an id to its index.
	Reference []Resource
	position  map[string]int

	// What is known of asynchronous operations, see operation.go.
	async            support
	unfinished       []string      // URLs of operations that may still have to take effect
	operationTimeout time.Duration // with an operation

	needsIfMatch sync.Map // names of collections in which every change needs an If-Match

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

func NewSuite(ctx context.Context, options Options) (*Suite, error) {
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
	operationTimeout := defaultOperationTimeout
	if options.Timeout > 0 {
		client.Timeout, operationTimeout = options.Timeout, options.Timeout
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Suite{
		Ctx: ctx, options: options, Base: strings.TrimSuffix(options.BaseURL, "/"), client: client, Tag: NewTag(),
		samples: samples, parents: map[string]string{}, constant: map[place]bool{}, position: map[string]int{},
		existing: map[string]map[string]bool{}, operationTimeout: operationTimeout, largestBody: defaultLargestBody, cleanUpTime: max(defaultCleanUpTime, operationTimeout),
	}, nil
}

// readSamples reads the sample bodies. That of the collection to work with,
// which may not be known yet, is under "".
func readSamples(options Options) (map[string]Resource, error) {
	samples := map[string]Resource{}
	read := func(collection, what string, text json.RawMessage) error {
		var sample Resource
		if !json.Valid(text) {
			return fmt.Errorf("%s is not valid JSON", what)
		}
		if json.Unmarshal(text, &sample) != nil || sample.Members == nil {
			return fmt.Errorf("%s must be a JSON object, but is %s", what, Shorten(string(text)))
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

// Stopped returns why the run cannot continue, or nil.
func (s *Suite) Stopped() error {
	if err := s.Ctx.Err(); err != nil {
		return err
	}
	return s.gaveUp
}

// Close ends the run.
func (s *Suite) Close() { s.client.CloseIdleConnections() }

// Execute runs one check. A check ends by a panic with an outcome when it has
// failed or cannot be run, so that each reads from top to bottom.
func (s *Suite) Execute(c Check) (result outcome) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case outcome:
			result = reason
		default:
			panic(reason)
		}
	}()
	switch {
	case c.Writes && s.options.ReadOnly:
		return outcome{Skipped: "the run is read-only"}
	case s.options.Async && c.Synchronous != "":
		return outcome{Skipped: "it is about the synchronous answer: " + c.Synchronous}
	case s.options.Async && s.async == unsupported:
		return outcome{Skipped: notSupported}
	}
	defer s.AwaitUnfinished(s.Ctx)
	p := &Probe{Suite: s, check: c}
	p.need(c.Needs)
	if c.NeedsAsync {
		p.needAsync()
	}
	c.Run(p)
	return outcome{}
}
