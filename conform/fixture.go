package conform

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

const (
	fixtureSize  = 45 // enough for the seed's own numbers: offset 39, and a cursor with limit 30
	smallFixture = 5  // for checks that look at one resource, or at those that they make
	mostToRead   = 10_000
)

// lookAtMany are the topics of checks that look at a whole collection.
var lookAtMany = []string{"read", "representation", "range", "cursor", "parameter", "filter", "search", "sort", "fields", "groups", "total", "link"}

// sizeFor is how many resources checks need to look at.
func sizeFor(checks []Check) int {
	if slices.ContainsFunc(checks, func(c Check) bool { return !c.Writes && slices.Contains(lookAtMany, c.Topic()) }) {
		return fixtureSize
	}
	return smallFixture
}

// prepare finds out what there is, makes the resources that the checks look
// at, and reads the collection as it then is.
func (s *suite) prepare() error {
	if err := s.discover(); err != nil {
		return err
	}
	if err := s.assignSamples(); err != nil {
		return err
	}
	if s.collection.Name != operationsName {
		s.existing[operationsName] = map[string]bool{} // those of others are never asked for
	}
	if !s.options.ReadOnly {
		if _, given := s.samples[s.collection.Name]; !given && !s.collection.described {
			return fmt.Errorf("the server does not describe the collection %s at GET /: give a sample body", s.collection.Name)
		}
		if err := s.fill(); err != nil {
			return err
		}
		if s.options.Async {
			if err := s.decideAsync(); err != nil {
				return err
			}
		}
	}
	reference, err := s.readAll(s.collection.path(), "")
	if err != nil {
		return err
	}
	for i, each := range reference {
		s.position[each.id()] = i
		if others := s.existing[s.collection.Name]; others != nil && !slices.Contains(s.tracked, place{s.collection.Name, each.id()}) {
			others[each.id()] = true // another client writes at the same time
		}
	}
	if s.reference = reference; len(reference) > 0 {
		s.infer(reference[0])
	}
	return s.relate()
}

// assignSamples uses the sample without a name for the collection, and takes from all samples what
// the server does not describe.
func (s *suite) assignSamples() error {
	name := s.collection.Name
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
		c := collection{Name: other}
		for _, member := range s.samples[other].order {
			c.Attributes = append(c.Attributes, inferred(member, s.samples[other].members[member]))
		}
		s.catalog = append(s.catalog, c)
	}
	return nil
}

// fill creates the fixture.
func (s *suite) fill() error {
	for range s.size {
		answer, err := s.createValid(s.collection)
		if err != nil {
			return err
		}
		if !answer.succeeded() {
			return fmt.Errorf("a resource could not be created; is there a better sample?\n%s\ngot %s", answer.request(), answer.summary())
		}
		if answer.createdID() == "" {
			return fmt.Errorf("a created resource has no id, in the body or in Location:\n%s\ngot %s", answer.request(), answer.summary())
		}
	}
	return nil
}

// createValid posts the next body. If the server refuses a value, the attribute keeps the value of
// the sample from then on, and the body is sent again.
func (s *suite) createValid(c collection) (*reply, error) {
	answer, err := s.createNext(c)
	for err == nil && !answer.succeeded() && s.holdConstant(c, answer) {
		answer, err = s.createNext(c)
	}
	return answer, err
}

// createNext posts the next body.
func (s *suite) createNext(c collection) (*reply, error) {
	s.counter++
	members, err := s.members(c, s.counter)
	if err != nil {
		return nil, err
	}
	answer, err := s.send(s.ctx, http.MethodPost, c.path(), encodeJSON(members))
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
func (s *suite) holdConstant(c collection, refusal *reply) bool {
	sample := s.samples[c.Name].members
	var document struct {
		Errors []struct{ Source struct{ Pointer string } }
	}
	_ = json.Unmarshal(refusal.body, &document) // other servers, other errors
	found := false
	for _, each := range document.Errors {
		name, _, _ := strings.Cut(strings.TrimPrefix(each.Source.Pointer, "/"), "/")
		if at := (place{c.Name, name}); sample[name] != nil && !s.constant[at] {
			s.constant[at], found = true, true
		}
	}
	if found {
		return true
	}
	for _, a := range c.Attributes {
		if at := (place{c.Name, a.Name}); sample[a.Name] != nil && !s.constant[at] {
			s.constant[at] = true
			return true
		}
	}
	return false
}

// parentID is the id of a resource that others can refer to.
func (s *suite) parentID(name string) (string, error) {
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
	if !answer.succeeded() || answer.createdID() == "" {
		return "", fmt.Errorf("a resource to refer to could not be created; is there a sample for %s?\n%s\ngot %s", name, answer.request(), answer.summary())
	}
	s.parents[name] = answer.createdID()
	return s.parents[name], nil
}

// readAll reads a whole collection page by page. It also works with a server that returns shorter
// pages than requested, or an error after the end.
func (s *suite) readAll(path, query string) ([]resource, error) {
	all := []resource{}
	seen := map[string]bool{}
	limits := []int{500, 50, 10, 1} // there may be a largest limit
	var refusal *reply
	for {
		page := fmt.Sprintf("limit=%d", limits[0])
		if len(all) > 0 {
			page = fmt.Sprintf("offset=%d&%s", len(all), page)
		}
		if query != "" {
			page = query + "&" + page
		}
		answer, err := s.send(s.ctx, http.MethodGet, path+"?"+page, "")
		if err != nil {
			return nil, err
		}
		if err := s.denied(answer); err != nil && len(all) == 0 {
			return nil, err
		}
		if !answer.succeeded() && len(all) == 0 {
			if refusal == nil {
				refusal = answer
			}
			if limits = limits[1:]; len(limits) == 0 {
				return nil, &unreadable{refusal}
			}
			continue
		}
		if !answer.succeeded() {
			return all, nil
		}
		before := len(all)
		for _, each := range answer.resources() {
			if !seen[each.id()] {
				seen[each.id()] = true
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
type unreadable struct{ answer *reply }

func (e *unreadable) Error() string {
	return fmt.Sprintf("the collection could not be read:\n%s\ngot %s", e.answer.request(), e.answer.summary())
}

// positionsOf maps resources to their positions in the reference, -1 if they are not in it.
func (s *suite) positionsOf(resources []resource) []int {
	positions := []int{}
	for _, each := range resources {
		at, known := s.position[each.id()]
		if !known {
			at = -1
		}
		positions = append(positions, at)
	}
	return positions
}

// where lists the positions of the resources for which a condition holds.
func (s *suite) where(fits func(resource) bool) []int {
	positions := []int{}
	for i, each := range s.reference {
		if fits(each) {
			positions = append(positions, i)
		}
	}
	return positions
}

// describe is a list of positions for a report, with runs such as 0…2.
func describe(positions []int) string {
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

// span lists the positions from start up to, not including, end.
func span(start, end int) []int {
	positions := []int{}
	for i := start; i < end; i++ {
		positions = append(positions, i)
	}
	return positions
}
