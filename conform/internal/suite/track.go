package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// place is where a resource is. Its id is in lower case.
type place struct{ collection, id string }

func (p place) path() string { return "/" + p.collection + "/" + p.id }

// Writes are sent only to paths of these forms, so that no "..", "?" or "/" in an id leads to
// another path.
var (
	nameForm = regexp.MustCompile(`^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$`)
	idForm   = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

// notSent is why a request was not sent.
type notSent struct{ method, path, why string }

func (e *notSent) Error() string {
	return fmt.Sprintf("%s %s was not sent: %s", e.method, e.path, e.why)
}

// admit refuses to send a request that could change or delete resources that existed before the
// run. Before the first write to a collection it reads the ids in it.
func (s *Suite) admit(method, path string) error {
	if !isWrite(method) {
		return nil
	}
	if path == transactionPath && method == http.MethodPost {
		return nil // its steps are about resources that it creates
	}
	at, ok := s.place(path)
	if !ok {
		return &notSent{method, path, "the path is not that of a collection or a resource"}
	}
	if at.id == "" && (method == http.MethodPut || method == http.MethodDelete && !s.isAlone(at.collection, path)) {
		return &notSent{method, path, "it could concern a whole collection"}
	}
	if s.existing[at.collection] == nil {
		before, err := s.readAll("/"+at.collection, "")
		if err != nil {
			if s.Stopped() != nil || at.collection == s.Collection.Name {
				return err
			}
			return &notSent{method, path, err.Error()}
		}
		ids := map[string]bool{}
		for _, each := range before {
			ids[each.ID()] = true
		}
		s.existing[at.collection] = ids
	}
	if at.id != "" && s.existing[at.collection][at.id] {
		return &notSent{method, path, "the resource was there before the run"}
	}
	return nil
}

func isWrite(method string) bool {
	return method == http.MethodPost || slices.Contains(ChangeMethods, method)
}

// isAlone reports whether DELETE of a range can be sent: as a dry run, for one resource of the run, in a
// collection that had none before, so that a server that ignores all of that deletes nothing of others.
func (s *Suite) isAlone(collection, path string) bool {
	_, query, _ := strings.Cut(path, "?")
	id, isDry := strings.CutSuffix(strings.TrimPrefix(query, "filter[id]="), "&"+DryRun)
	others := s.existing[collection]
	return isDry && others != nil && len(others) == 0 && slices.Contains(s.tracked, place{collection, id})
}

// place is the resource at a path, or, without an id, the collection. The path may be below a
// parent, or use the singular, and have a query.
func (s *Suite) place(path string) (place, bool) {
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(strings.TrimPrefix(strings.TrimPrefix(path, s.Base), "/"), "/")
	for i, segment := range segments {
		if form := []*regexp.Regexp{nameForm, idForm}[i%2]; !form.MatchString(segment) {
			return place{}, false
		}
	}
	last := len(segments) - 1
	var at place
	if last%2 == 1 {
		at.id = strings.ToLower(segments[last])
		last--
	}
	at.collection = segments[last]
	if at.collection == s.Collection.Singular {
		at.collection = s.Collection.Name
	}
	return at, true
}

// observe records what a request has created or deleted. It uses only the response, so that it also
// records what was created in violation of a rule.
func (s *Suite) observe(path string, answer *Reply) {
	at, ok := s.place(path)
	if !ok || !answer.Succeeded() {
		return
	}
	s.noteAccepted(answer)
	switch {
	case answer.Method == http.MethodPost && at.id == "":
		for _, id := range answer.newIDs(at.collection) {
			s.track(place{at.collection, id})
		}
	case answer.Method == http.MethodPut && at.id != "":
		s.track(at)
		s.track(place{at.collection, answer.Resource().ID()})
	case answer.Method == http.MethodPatch && at.id != "":
		if id := answer.Resource().ID(); id != at.id {
			s.track(place{at.collection, id})
		}
	case strings.HasSuffix(path, DryRun): // it may have been executed all the same
	case answer.Method == http.MethodDelete && at.id != "" && answer.Status != http.StatusAccepted:
		s.untrack(at)
	}
}

// newIDs are the ids of created resources in a response to POST: one for an object, and at most one
// for each item of an array. A response with more may list resources of others.
func (r *Reply) newIDs(collection string) []string {
	most := 1
	var items []json.RawMessage
	if json.Unmarshal([]byte(r.sent), &items) == nil {
		most = len(items)
	}
	if ids := r.IDs(); len(ids) > most {
		return nil
	} else if len(ids) > 0 && ids[0] != "" {
		return ids
	}
	location, id := r.Header.Get("Location"), r.CreatedID()
	if most != 1 || !strings.HasSuffix(strings.ToLower(location), strings.ToLower("/"+collection+"/"+id)) {
		return nil
	}
	return []string{id}
}

// track records a resource to be deleted, unless it existed before the run.
func (s *Suite) track(at place) {
	others := s.existing[at.collection]
	if at.id != "" && others != nil && !others[at.id] && !slices.Contains(s.tracked, at) {
		s.tracked = append(s.tracked, at)
		s.Created++
	}
}

// untrack records that a resource is deleted.
func (s *Suite) untrack(at place) {
	s.tracked = slices.DeleteFunc(s.tracked, func(each place) bool { return each == at })
}

// CleanUp deletes the created resources, the last one first, and returns those that it could not
// delete. It stops when the server does not respond.
func (s *Suite) CleanUp(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, s.cleanUpTime)
	defer cancel()
	s.AwaitUnfinished(ctx)
	var left []string
	later := map[string]*Reply{} // deletions that were accepted
	failures := 0                // of the transport, in a row
	for _, at := range slices.Backward(s.tracked) {
		if !idForm.MatchString(at.id) || failures == 2 || ctx.Err() != nil {
			left = append(left, at.path())
			continue
		}
		answer, err := s.exchange(ctx, http.MethodDelete, "/"+url.PathEscape(at.collection)+"/"+url.PathEscape(at.id), "")
		if err != nil {
			failures++
			left = append(left, at.path())
			continue
		}
		failures = 0
		if answer.Status == http.StatusAccepted {
			later[at.path()] = answer
		}
		if !answer.Succeeded() && answer.Status != http.StatusNotFound && answer.Status != http.StatusGone {
			left = append(left, at.path())
		}
	}
	for _, path := range slices.Sorted(maps.Keys(later)) {
		if s.removalFailed(ctx, later[path]) {
			left = append(left, path)
		}
	}
	return left
}
