package interfacetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// What the servers of these tests are asked and answer is held against their OpenAPI
// document: every answer must be described there, and every request that was accepted.

// exchange is a request and its answer, as a client sees them.
type exchange struct {
	method string
	target *url.URL // nil: the request could not be read
	header http.Header
	body   []byte

	status   int
	answered http.Header
	answer   []byte
}

func (e *exchange) String() string {
	target := "?"
	if e.target != nil {
		target = e.target.RequestURI()
	}
	return fmt.Sprintf("%s %s %.300q: %d %.300q", e.method, target, e.body, e.status, e.answer)
}

// checker compares what a server does with its document.
type checker struct {
	t      testing.TB
	config plural.Config

	mutex     sync.Mutex
	roles     map[string]string // of callers, by their Authorization header
	documents map[string]*document
	versioned []*exchange // in a version of the interface
}

// checkVersions checks the exchanges in versions, by the documents that the server has for their callers. It asks for these at the end, because
// tests count requests.
func (j *checker) checkVersions(base string) {
	j.mutex.Lock()
	all := j.versioned
	j.versioned = nil
	j.mutex.Unlock()
	found := map[[3]string]*document{}
	for _, e := range all {
		key := [3]string{e.answered.Get("API-Version"), e.header.Get("Authorization"), "3.1"}
		if e.method == "QUERY" {
			key[2] = "3.2"
		}
		if _, asked := found[key]; !asked {
			found[key] = j.served(base, key[0], key[1], key[2])
		}
		if found[key] == nil {
			continue
		}
		for _, complaint := range found[key].checker(e) {
			j.t.Errorf("not as the OpenAPI document of version %s says: %s\n%s", key[0], complaint, e)
		}
	}
}

// served is the document of a version that a server has for a caller, nil if it has none any more.
func (j *checker) served(base, version, authorization, format string) *document {
	r, err := http.NewRequest("GET", base+j.config.Prefix+"/-/openapi.json?openapi="+format+"&version="+version, nil)
	if err != nil {
		j.t.Error(err)
		return nil
	}
	r.Header.Set("Authorization", authorization)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil // it was stopped by the test
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil
	}
	return documentOf(string(text), documentKind{restricted: true, hooked: len(j.config.Hooks) > 0, versioned: true})
}

func newChecker(t testing.TB, config plural.Config) *checker {
	return &checker{t: t, config: config, roles: map[string]string{"": schema.PublicRole}, documents: map[string]*document{}}
}

// checkers is the checker of every server that is running, by its address.
var checkers sync.Map

// knows tells the checker which role a caller has, whose document is compared then. Of other
// callers it is that of everything.
func (j *checker) knows(authorization, role string) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.roles[authorization] = role
}

// documentFor is the document that describes a method for a caller: that of OpenAPI 3.1, but of 3.2 for QUERY.
func (j *checker) documentFor(authorization, method string) *document {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	role := ""
	if access := j.config.Access; access != nil {
		role = j.roles[authorization]
		if role != schema.PublicRole && !slices.ContainsFunc(access.Roles, func(declared schema.Role) bool { return declared.Name == role }) {
			role = ""
		}
	}
	latest := method == "QUERY"
	found := j.documents[role+fmt.Sprint(latest)]
	if found == nil {
		text, err := textFor(j.config, role, latest)
		if err != nil {
			j.t.Errorf("the document of %q: %v", role, err)
			return nil
		}
		found = documentOf(text, documentKind{restricted: role != "", hooked: len(j.config.Hooks) > 0})
		j.documents[role+fmt.Sprint(latest)] = found
	}
	return found
}

// documentTexts has the documents of configurations, because several servers have the same one. A key contains addresses, so the
// value keeps the configuration, and no test may change what Schema and Access point to.
var documentTexts sync.Map

type configured struct {
	config plural.Config
	text   string
}

func textFor(config plural.Config, role string, latest bool) (string, error) {
	config.Database, config.DatabaseDirect, config.Logger = "", "", nil // of no concern
	key := fmt.Sprintf("%q %t %#v", role, latest, config)
	if found, ok := documentTexts.Load(key); ok {
		return found.(configured).text, nil
	}
	var options []plural.OpenAPIOption
	if latest {
		options = append(options, plural.InOpenAPI32)
	}
	text, err := plural.OpenAPI(config, role, options...)
	if err == nil {
		documentTexts.Store(key, configured{config, string(text)})
	}
	return string(text), err
}

// hears checks an exchange.
func (j *checker) hears(e *exchange) {
	if version := e.answered.Get("API-Version"); version != "" {
		j.mutex.Lock()
		defer j.mutex.Unlock()
		j.versioned = append(j.versioned, e)
		return
	}
	d := j.documentFor(e.header.Get("Authorization"), e.method)
	if d == nil {
		return
	}
	for _, complaint := range d.checker(e) {
		j.t.Errorf("not as the OpenAPI document says: %s\n%s", complaint, e)
	}
}

// checked is a transport whose exchanges are checked.
type checked struct{ next http.RoundTripper }

func (j checked) RoundTrip(r *http.Request) (*http.Response, error) {
	found, ok := checkers.Load(r.URL.Host)
	if !ok {
		return j.next.RoundTrip(r)
	}
	e := &exchange{method: r.Method, target: r.URL, header: r.Header}
	sent := &taken{}
	if r.Body != nil {
		copied := *r
		sent.ReadCloser = r.Body
		copied.Body = sent
		r = &copied
	}
	response, err := j.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	e.status, e.answered = response.StatusCode, response.Header.Clone()
	response.Body = &taken{ReadCloser: response.Body, whole: func(answer []byte) {
		e.body, e.answer = sent.text(), answer
		found.(*checker).hears(e)
	}}
	return response, nil
}

// maxChecked is the length up to which bodies are looked at.
const maxChecked = 256 << 10

// taken remembers what was read of a body.
type taken struct {
	io.ReadCloser
	mutex sync.Mutex
	read  []byte
	whole func([]byte) // called at the end, once
}

func (b *taken) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mutex.Lock()
	if len(b.read) <= maxChecked {
		b.read = append(b.read, p[:n]...)
	}
	b.mutex.Unlock()
	if whole := b.whole; err == io.EOF && whole != nil {
		b.whole = nil
		whole(b.text())
	}
	return n, err
}

func (b *taken) text() []byte {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.read
}

// described is the methods that a document describes, where there are any of them.
var described = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// pages is the paths of what is made for people, which a document for programs leaves out.
var pages = regexp.MustCompile(`/-/(explorer|docs)(/|$)`)

// checker lists what an exchange has that the document does not describe.
func (d *document) checker(e *exchange) []string {
	if e.target != nil && (pages.MatchString(e.target.Path) || d.prefix != "/" && e.target.Path == "/.well-known/api-catalog" && e.status == http.StatusOK) {
		return nil
	}
	if e.method == "OPTIONS" || e.target == nil || e.target.Path == "*" {
		return d.checkOutside(e)
	}
	path, known := d.find(e.target)
	if !known {
		return d.checkOutside(e)
	}
	if e.method == "QUERY" {
		return d.checkQueryMethod(path, e)
	}
	method := e.method
	if method == "HEAD" {
		method = "GET"
	}
	var op *describedOperation
	if slices.Contains(described, method) {
		op = d.operation(path, strings.ToLower(method))
	}
	if op == nil {
		return d.checkOutside(e)
	}
	complaints := d.checkAnswer(op, e)
	wrong := d.checkRequest(op, e)
	switch {
	case e.status < 300:
		complaints = append(complaints, wrong...)
	case len(wrong) == 0 && !d.hooked && (e.status == http.StatusBadRequest || e.status == http.StatusUnprocessableEntity):
		complaints = append(complaints, d.mustBeWrong(op, e)...)
	}
	return complaints
}

// checkQueryMethod checks a QUERY, which only documents of OpenAPI 3.2 describe.
func (d *document) checkQueryMethod(path string, e *exchange) []string {
	op := d.operation(path, "query")
	if op == nil {
		return d.checkOutside(e)
	}
	as := *e
	as.target, as.header, as.body = new(*e.target), e.header.Clone(), nil
	if len(e.body) > 0 {
		as.target.RawQuery = string(e.body)
	}
	complaints := d.checkAnswer(op, &as)
	for _, name := range []string{"Link", "Etag"} {
		if e.answered[name] != nil {
			complaints = append(complaints, "a QUERY has the header "+name)
		}
	}
	wrong := d.checkRequest(op, &as)
	switch {
	case len(e.body) > maxChecked: // it was not read completely
	case e.status < 300:
		complaints = append(complaints, wrong...)
	case len(wrong) == 0 && !d.hooked && e.status == http.StatusBadRequest:
		complaints = append(complaints, d.mustBeWrong(op, &as)...)
	}
	return complaints
}

// checkOutside checks what no operation describes: other methods, paths that are not
// there, and requests that could not be read.
func (d *document) checkOutside(e *exchange) []string {
	allowed := []int{400, 404, 405, 417, 421, 429, 431, 500, 501, 503, 505}
	switch {
	case e.method == "OPTIONS":
		allowed = append(allowed, 204)
	case e.target != nil && strings.HasSuffix(e.target.Path, "/"):
		allowed = append(allowed, 308)
	case e.target != nil && strings.HasSuffix(e.target.Path, "/-"):
		allowed = append(allowed, 303) // browsers, to the explorer
	}
	if d.secured {
		allowed = append(allowed, 401)
	}
	if d.restricted {
		allowed = append(allowed, 403, 422) // 422: creating where the caller may not say whose it is
	}
	if !slices.Contains(allowed, e.status) {
		return []string{fmt.Sprintf("the status %d, where there is no operation", e.status)}
	}
	if e.status < 400 || e.method == "HEAD" {
		return nil
	}
	return d.checkBody("/components/schemas/ErrorList", e.answered, e.answer)
}

// protocol is the headers that HTTP itself needs.
var protocol = []string{"Content-Type", "Content-Length", "Date", "Connection"}

func (d *document) checkAnswer(op *describedOperation, e *exchange) []string {
	r := op.response(e.status)
	if r == nil {
		return []string{fmt.Sprintf("the status %d is not declared", e.status)}
	}
	var complaints []string
	for name, values := range e.answered {
		if slices.Contains(protocol, name) {
			continue
		}
		h := r.headers[name]
		if h == nil {
			complaints = append(complaints, fmt.Sprintf("the header %s is not declared", name))
			continue
		}
		complaints = append(complaints, d.checkText("the header "+name, h.schema, h.kind, strings.Join(values, ", "))...)
	}
	for name, h := range r.headers {
		if h.required && e.answered[name] == nil {
			complaints = append(complaints, fmt.Sprintf("the header %s is missing", name))
		}
	}
	if e.method == "HEAD" {
		return complaints
	}
	if r.media == "" {
		if len(e.answer) > 0 {
			complaints = append(complaints, "there is a body, and none is declared")
		}
		return complaints
	}
	media, _, _ := strings.Cut(e.answered.Get("Content-Type"), ";")
	if media == "text/event-stream" && r.streams {
		return complaints
	}
	if media != r.media {
		complaints = append(complaints, fmt.Sprintf("the content type is %s, and not %s", media, r.media))
	}
	selects := strings.Contains(e.target.RawQuery, "fields") // the description says that attributes are left out then
	if isJSON := media == "application/json"; isJSON && !selects {
		complaints = append(complaints, d.checkBody(r.schema, e.answered, e.answer)...)
	}
	return complaints
}

// checkBody checks the body of an answer by the schema at a pointer.
func (d *document) checkBody(pointer string, header http.Header, body []byte) []string {
	if len(body) > maxChecked {
		return nil
	}
	if header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(bytes.NewReader(body))
		if err == nil {
			body, err = io.ReadAll(unzipped)
		}
		if err != nil {
			return []string{"the body cannot be unpacked: " + err.Error()}
		}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return []string{"the body is not JSON: " + err.Error()}
	}
	if err := d.schema(pointer).Validate(value); err != nil {
		return []string{"the body is not what is declared: " + err.Error()}
	}
	return nil
}

func statusText(status int) string { return strconv.Itoa(status) }
