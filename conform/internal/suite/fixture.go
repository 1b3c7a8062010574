package suite

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

const mostToRead = 10_000

// Prepare finds out what there is, makes the resources that the checks look
// at, in the given number, and reads the collection as it then is.
func (s *Suite) Prepare(size int) error {
	if err := s.discover(); err != nil {
		return err
	}
	if err := s.assignSamples(); err != nil {
		return err
	}
	if s.Collection.Name != OperationsName {
		s.existing[OperationsName] = map[string]bool{} // those of others are never asked for
	}
	if !s.options.ReadOnly {
		if _, given := s.samples[s.Collection.Name]; !given && !s.Collection.Described {
			return fmt.Errorf("the server does not describe the collection %s at GET /: give a sample body", s.Collection.Name)
		}
		if err := s.fill(size); err != nil {
			return err
		}
		if s.options.Async {
			if err := s.decideAsync(); err != nil {
				return err
			}
		}
	}
	reference, err := s.readAll(s.Collection.Path(), "")
	if err != nil {
		return err
	}
	for i, each := range reference {
		s.position[each.ID()] = i
		if others := s.existing[s.Collection.Name]; others != nil && !slices.Contains(s.tracked, place{s.Collection.Name, each.ID()}) {
			others[each.ID()] = true // another client writes at the same time
		}
	}
	if s.Reference = reference; len(reference) > 0 {
		s.infer(reference[0])
	}
	return s.relate()
}

// assignSamples uses the sample without a name for the collection, and takes from all samples what
// the server does not describe.
func (s *Suite) assignSamples() error {
	name := s.Collection.Name
	if sample, given := s.samples[""]; given {
		if _, twice := s.samples[name]; twice {
			return fmt.Errorf("there are two samples for %s", name)
		}
		s.samples[name] = sample
		delete(s.samples, "")
	}
	s.infer(s.samples[name])
	for _, other := range slices.Sorted(maps.Keys(s.samples)) {
		if _, listed := s.known(other); listed || other == name {
			continue
		}
		c := Collection{Name: other}
		for _, member := range s.samples[other].Order {
			c.Attributes = append(c.Attributes, inferred(member, s.samples[other].Members[member]))
		}
		s.Catalog = append(s.Catalog, c)
	}
	return nil
}

// fill creates the fixture.
func (s *Suite) fill(size int) error {
	for range size {
		answer, err := s.createValid(s.Collection)
		if err != nil {
			return err
		}
		if reason := s.ruledOut(answer); reason != "" {
			return errors.New(reason)
		}
		if !answer.Succeeded() {
			return fmt.Errorf("a resource could not be created; is there a better sample?\n%s\ngot %s", answer.request(), answer.Summary())
		}
		if answer.CreatedID() == "" {
			return fmt.Errorf("a created resource has no id, in the body or in Location:\n%s\ngot %s", answer.request(), answer.Summary())
		}
	}
	return nil
}

// createValid posts the next body. If the server refuses a value, the attribute keeps the value of
// the sample from then on, and the body is sent again.
func (s *Suite) createValid(c Collection) (*Reply, error) {
	answer, err := s.createNext(c)
	for err == nil && !answer.Succeeded() && s.holdConstant(c, answer) {
		answer, err = s.createNext(c)
	}
	return answer, err
}

// createNext posts the next body.
func (s *Suite) createNext(c Collection) (*Reply, error) {
	members, err := s.Members(c)
	if err != nil {
		return nil, err
	}
	answer, err := s.send(s.Ctx, http.MethodPost, c.Path(), EncodeJSON(members))
	if err == nil {
		err = s.denied(answer)
	}
	if err == nil {
		err = s.awaitLeniently(answer)
	}
	return answer, err
}

// holdConstant keeps attributes of the sample as they are: those that the
// errors point to, or else the next one. It reports whether there was one.
func (s *Suite) holdConstant(c Collection, refusal *Reply) bool {
	sample := s.samples[c.Name].Members
	var document struct {
		Errors []struct{ Source struct{ Pointer string } }
	}
	_ = json.Unmarshal(refusal.Body, &document) // other servers, other errors
	hold := func(name string) bool {
		at := place{c.Name, name}
		held := s.constant[at] || sample[name] == nil
		if !held {
			s.constant[at] = true
		}
		return !held
	}
	found := false
	for _, each := range document.Errors {
		name, _, _ := strings.Cut(strings.TrimPrefix(each.Source.Pointer, "/"), "/")
		found = hold(name) || found
	}
	return found || slices.ContainsFunc(c.Attributes, func(a Attribute) bool { return hold(a.Name) })
}

// parentID is the id of a resource that others can refer to.
func (s *Suite) parentID(name string) (string, error) {
	if id := s.parents[name]; id != "" {
		return id, nil
	}
	c, known := s.known(name)
	if !known {
		return "", fmt.Errorf("nothing is known of the collection %s, which has to be referred to: give a sample body for it", name)
	}
	if _, entered := s.parents[name]; entered {
		return "", fmt.Errorf("the collection %s has to refer to itself: give a sample body", name)
	}
	s.parents[name] = ""
	answer, err := s.createValid(c)
	if err != nil {
		return "", err
	}
	if reason := s.ruledOut(answer); reason != "" {
		return "", errors.New(reason)
	}
	if !answer.Succeeded() || answer.CreatedID() == "" {
		return "", fmt.Errorf("a resource to refer to could not be created; is there a sample for %s?\n%s\ngot %s", name, answer.request(), answer.Summary())
	}
	s.parents[name] = answer.CreatedID()
	return s.parents[name], nil
}

// readAll reads a whole collection page by page. It also works with a server that returns shorter
// pages than requested, or an error after the end.
func (s *Suite) readAll(path, query string) ([]Resource, error) {
	all := []Resource{}
	seen := map[string]bool{}
	limits := []int{500, 50, 10, 1} // there may be a largest limit
	var refusal *Reply
	for {
		page := fmt.Sprintf("limit=%d", limits[0])
		if len(all) > 0 {
			page = fmt.Sprintf("offset=%d&%s", len(all), page)
		}
		if query != "" {
			page = query + "&" + page
		}
		answer, err := s.send(s.Ctx, http.MethodGet, path+"?"+page, "")
		if err != nil {
			return nil, err
		}
		if !answer.Succeeded() {
			if len(all) > 0 {
				return all, nil
			}
			if err := s.denied(answer); err != nil {
				return nil, err
			}
			refusal = cmp.Or(refusal, answer) // the first one
			if limits = limits[1:]; len(limits) == 0 {
				return nil, &unreadable{refusal}
			}
			continue
		}
		before := len(all)
		for _, each := range answer.Resources() {
			if !seen[each.ID()] {
				seen[each.ID()] = true
				all = append(all, each)
			}
		}
		if len(all) == before {
			return all, nil
		}
		if len(all) > mostToRead {
			return nil, fmt.Errorf("%s has more than %d resources: use a smaller collection", path, mostToRead)
		}
	}
}

// unreadable is the response to a request for a collection that could not be read.
type unreadable struct{ answer *Reply }

func (e *unreadable) Error() string {
	return fmt.Sprintf("the collection could not be read:\n%s\ngot %s", e.answer.request(), e.answer.Summary())
}

// PositionsOf maps resources to their positions in the reference, -1 if they are not in it.
func (s *Suite) PositionsOf(resources []Resource) []int {
	positions := []int{}
	for _, each := range resources {
		at, known := s.position[each.ID()]
		if !known {
			at = -1
		}
		positions = append(positions, at)
	}
	return positions
}

// Where lists the positions of the resources for which a condition holds.
func (s *Suite) Where(fits func(Resource) bool) []int {
	positions := []int{}
	for i, each := range s.Reference {
		if fits(each) {
			positions = append(positions, i)
		}
	}
	return positions
}

// Describe is a list of positions for a report, with runs such as 0…2.
func Describe(positions []int) string {
	if len(positions) == 0 {
		return "no resources"
	}
	var runs []string
	for start := 0; start < len(positions); {
		end, step := start, 1
		if start+1 < len(positions) && positions[start+1] == positions[start]-1 {
			step = -1
		}
		for end+1 < len(positions) && positions[start] >= 0 && positions[end+1] >= 0 && positions[end+1] == positions[end]+step {
			end++
		}
		run := fmt.Sprint(positions[start])
		if positions[start] < 0 {
			run = "none"
		}
		if end > start {
			run += fmt.Sprintf("…%d", positions[end])
		}
		runs = append(runs, run)
		start = end + 1
	}
	if len(runs) > 20 {
		runs = append(slices.Clone(runs[:20]), "…")
	}
	plural := "s"
	if len(positions) == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d resource%s, positions %s", len(positions), plural, strings.Join(runs, " "))
}

// Span lists the positions from start up to, not including, end.
func Span(start, end int) []int {
	positions := []int{}
	for i := start; i < end; i++ {
		positions = append(positions, i)
	}
	return positions
}
