package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/explorer"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

type pathKind int

const (
	rootPath        pathKind = iota // /
	serverPath                      // *, as in OPTIONS *
	systemPath                      // /-/…
	collectionPath                  // /users, /users/<id>/posts
	itemPath                        // /users/<id>, /users/<id>/posts/<id>
	singularPath                    // /user/<id>
	transactionPath                 // /-/transaction
	groupsPath                      // /-/groups/users
	keysPath                        // /-/keys
	keyPath                         // /-/keys/<prefix>
	callerPath                      // /-/me
	decisionsPath                   // /-/can
	agentsPath                      // /-/mcp
)

// methods that a kind of path knows, in the order of Allow.
var methods = map[pathKind][]string{
	rootPath:       {"GET", "HEAD", "QUERY", "OPTIONS"},
	serverPath:     {"GET", "HEAD", "QUERY", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"},
	systemPath:     {"GET", "HEAD", "OPTIONS"},
	collectionPath: {"GET", "HEAD", "QUERY", "POST", "PATCH", "DELETE", "OPTIONS"},
	itemPath:       {"GET", "HEAD", "QUERY", "PUT", "PATCH", "DELETE", "OPTIONS"},
	singularPath:   {"GET", "HEAD", "QUERY", "OPTIONS"},

	groupsPath:      {"GET", "HEAD", "QUERY", "OPTIONS"},
	transactionPath: {"POST", "OPTIONS"},
	keysPath:        {"GET", "HEAD", "POST", "OPTIONS"},
	keyPath:         {"GET", "HEAD", "DELETE", "OPTIONS"},
	callerPath:      {"GET", "HEAD", "OPTIONS"},
	decisionsPath:   {"POST", "OPTIONS"},
	agentsPath:      {"POST", "OPTIONS"},
}

// target is what a path refers to.
type target struct {
	kind     pathKind
	pattern  string         // for metrics
	redirect string         // set for a redirect
	system   string         // what follows /-/ in a system path
	file     *explorer.File // of a web page; nil: its HTML document
	path     reads.Path
	id       model.ID
	history  bool   // the changes of the resource
	query    bool   // the request is a QUERY: its parameters were in the body
	key      string // prefix of an API key
}

func (t *target) isCollection() bool { return t.kind == collectionPath }

// isLog reports whether the target is in the change log: /changes, or a history.
func (a *API) isLog(t *target) bool { return t.history || t.path.Collection == a.Schema.Changes() }

// route finds the target of a path, or returns 404.
func (a *API) route(r *http.Request) (*target, error) {
	if r.RequestURI == "*" {
		return &target{kind: serverPath, pattern: "*"}, nil
	}
	if len(a.Prefix) > maxPrefix {
		return nil, fault.New(problem.CodeNotFound, "The path prefix has more than %d bytes.", maxPrefix)
	}
	escaped := r.URL.EscapedPath()
	if escaped == catalogPath || escaped == a.Prefix+catalogPath { // also at the root of the host, where programs look for it
		t := catalogTarget
		return &t, nil
	}
	path, mounted := strings.CutPrefix(escaped, a.Prefix)
	if !mounted || path != "" && path[0] != '/' {
		return nil, a.unknownPath()
	}
	if path == "" || path == "/" {
		return &target{kind: rootPath, pattern: "/"}, nil
	}
	segments := strings.Split(path[1:], "/")
	trailing := segments[len(segments)-1] == ""
	if trailing {
		segments = segments[:len(segments)-1]
	}
	for i := range segments {
		segment, err := url.PathUnescape(segments[i])
		if err != nil || segment == "" {
			// An empty segment is no path, and must not become a redirect to another host.
			return nil, a.unknownPath()
		}
		segments[i] = segment
	}
	if trailing {
		location := strings.TrimSuffix(escaped, "/")
		if r.URL.RawQuery != "" {
			location += "?" + r.URL.RawQuery
		}
		if len(location) > maxEcho {
			return nil, fault.New(problem.CodeNotFound, "Paths have no trailing slash, and this request is too long to be redirected. Send it without the slash.")
		}
		return &target{pattern: "redirect", redirect: location}, nil
	}
	if segments[0] == "-" {
		return a.systemTarget(segments[1:])
	}
	return a.resourceTarget(segments)
}

// maxPrefix bounds the path under which the API is mounted. A program may take it from the
// request, and Location and Link repeat it.
const maxPrefix = 1 << 10

func (a *API) unknownPath() error { return a.unknownPathNear("", "") }

// unknownPathNear also suggests the path of a name behind another path; empty: there is no similar name.
func (a *API) unknownPathNear(before, name string) error {
	hint := ""
	if name != "" {
		hint = " Did you mean " + a.Prefix + before + "/" + name + "?"
	}
	return fault.New(problem.CodeNotFound, "Nothing is at this path.%s GET %s/ lists the collections.", hint, a.Prefix)
}

// unknownName is the error of a path to no collection. A similar name is suggested only to
// callers who may know of that collection.
type unknownName struct {
	word   string
	groups bool        // the path is below /-/groups
	below  *reads.Path // the parent, if the name is that of a sub-collection
	id     model.ID    // of the parent
}

func (e *unknownName) Error() string { return "nothing is at this path" }

// nearestPath identifies the caller, and returns 404 with the most similar path that they may
// know of.
func (a *API) nearestPath(r *http.Request, out *response, e *unknownName) error {
	t := &target{}
	if err := a.admit(r, out, t); err != nil {
		return err
	}
	if e.below == nil {
		for _, v := range slices.Backward(a.versions) {
			if v.schema == nil {
				continue
			}
			if c := v.schema.Collection(e.word); c != nil && t.path.By.MayKnow(c) {
				return fault.New(problem.CodeNotFound, "Nothing is at this path in version %d of the interface. Version %[2]d has it: send %[3]s: %[2]d.", a.version.number, v.number, versionHeader)
			}
		}
	}
	var names []string
	before := ""
	if e.groups {
		before = groupsPrefix
	}
	if e.below != nil {
		before = "/" + e.below.Collection.Name + "/" + e.id.String()
	}
	for _, c := range a.Schema.All() {
		path := reads.Path{Collection: c, By: t.path.By}
		if e.below != nil {
			if link := c.ParentLink(); link == nil || link.To != e.below.Collection {
				continue
			}
			path.Parent = &e.id
		}
		if t.path.By.MayKnow(c) && !path.IsHidden() {
			names = append(names, c.Name)
		}
	}
	changes := a.Schema.Changes()
	if e.below == nil && !e.groups && t.path.By.MayKnow(changes) || e.below != nil && t.path.By.May(schema.MayChanges, e.below.Collection) {
		names = append(names, changes.Name)
	}
	return a.unknownPathNear(before, suggest.Nearest(e.word, names))
}

func (a *API) resourceTarget(segments []string) (*target, error) {
	c := a.Schema.Collection(segments[0])
	if segments[0] == model.ChangesName {
		c = a.Schema.Changes()
	}
	if c == nil {
		return a.singularTarget(segments)
	}
	t := &target{kind: collectionPath, pattern: a.patterns[c].list, path: reads.Path{Collection: c}}
	if len(segments) == 1 {
		return t, nil
	}
	if err := t.item(segments[1], a.patterns[c].item); err != nil {
		return nil, err
	}
	if len(segments) == 2 {
		return t, nil
	}
	if len(segments) == 3 && t.toHistory(segments[2]) {
		return t, nil
	}
	child := c.Child(segments[2])
	if child == nil && len(segments) == 3 {
		return nil, &unknownName{word: segments[2], below: &t.path, id: t.id}
	}
	if child == nil || len(segments) > 5 {
		return nil, a.unknownPath()
	}
	parent := t.id
	t.kind, t.path, t.id = collectionPath, reads.Path{Collection: child, Parent: &parent}, model.ID{}
	t.pattern = a.patterns[child].children
	if len(segments) >= 4 {
		if err := t.item(segments[3], a.patterns[child].child); err != nil {
			return nil, err
		}
	}
	if len(segments) == 5 && !t.toHistory(segments[4]) {
		return nil, a.unknownPath()
	}
	return t, nil
}

// toHistory makes the target the changes of the resource that it is, if the name is that of the
// changes. What clients cannot write has no history.
func (t *target) toHistory(name string) bool {
	if name != model.ChangesName || t.path.Collection.ReadOnly() {
		return false
	}
	t.kind, t.history, t.pattern = collectionPath, true, t.pattern+"/"+name
	return true
}

// patterns are the names of the paths of a collection in metrics.
type patterns struct{ list, item, singular, children, child string }

func patternsOf(s *model.Schema) map[*model.Collection]patterns {
	all := map[*model.Collection]patterns{}
	for _, c := range append(s.All(), s.Changes()) {
		p := patterns{list: "/" + c.Name, item: "/" + c.Name + "/{id}", singular: "/" + c.Singular + "/{id}"}
		if link := c.ParentLink(); link != nil {
			p.children = "/" + link.To.Name + "/{id}/" + c.Name
			p.child = p.children + "/{id}"
		}
		all[c] = p
	}
	return all
}

// item makes the target one resource.
func (t *target) item(segment, pattern string) error {
	id, ok := model.ParseID(segment)
	if !ok {
		return fault.New(problem.CodeNotFound, "%s is not an id. Ids are UUIDs such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab.", fault.Quote(segment))
	}
	t.kind, t.id, t.pattern = itemPath, id, pattern
	return nil
}

func (a *API) singularTarget(segments []string) (*target, error) {
	c := a.Schema.Singular(segments[0])
	if segments[0] == a.Schema.Changes().Singular {
		c = a.Schema.Changes()
	}
	if c == nil || len(segments) != 2 {
		return nil, &unknownName{word: segments[0]}
	}
	t := &target{path: reads.Path{Collection: c}}
	if err := t.item(segments[1], a.patterns[c].singular); err != nil {
		return nil, err
	}
	t.kind = singularPath
	return t, nil
}

// allowed lists the methods of the target, in the order of Allow.
func (t *target) allowed() []string {
	if c := t.path.Collection; c != nil && c.ReadOnly() || t.history {
		return methods[singularPath]
	}
	return methods[t.kind]
}

// refuseMethod replies to OPTIONS, and to methods that the path does not have.
func (t *target) refuseMethod(method string) *reply {
	allowed := t.allowed()
	if method != http.MethodOptions && t.kind != serverPath && slices.Contains(allowed, method) {
		return nil
	}
	allow := header("Allow", strings.Join(allowed, ", "))
	if method == http.MethodOptions {
		t.addAcceptQuery(allow)
		return &reply{status: http.StatusNoContent, header: allow}
	}
	refusal := failure(problem.Errors{fault.New(problem.CodeMethodNotAllowed, "The method %s is not allowed here. Use %s.", fault.Quote(method), allow.Get("Allow"))})
	refusal.header = allow
	return refusal
}

// resourceAddress is the canonical path of a resource.
func (a *API) resourceAddress(c *model.Collection, id model.ID) string {
	return a.Prefix + "/" + c.Name + "/" + id.String()
}

// collectionAddress is the path of a collection or sub-collection.
func (a *API) collectionAddress(p reads.Path) string {
	if p.Parent == nil {
		return a.Prefix + "/" + p.Collection.Name
	}
	return a.resourceAddress(p.Collection.ParentLink().To, *p.Parent) + "/" + p.Collection.Name
}

// listAddress is the path of a list: of a collection, of its groups, or of the changes of a resource.
func (a *API) listAddress(t *target) string {
	if t.kind == groupsPath {
		return a.Prefix + groupsPrefix + "/" + t.path.Collection.Name
	}
	if t.history {
		return a.collectionAddress(t.path) + "/" + t.id.String() + "/" + model.ChangesName
	}
	return a.collectionAddress(t.path)
}
