package interfacetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFoldedEventsOfVersions: clients of three versions write at random, and streams of each version follow lists, filtered lists and the
// log. Halfway they connect again. A naive model knows which version sees which change. Whoever adds up snapshot and events of a version has
// its list, which is that of the model, and the log of a version is what its stream has sent.
func TestFoldedEventsOfVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		seed := rand.Uint64()
		t.Log("seed", seed)
		w := newShop(s, rand.New(rand.NewPCG(seed, 1)))
		for version := 1; version <= 3; version++ {
			own := map[int]string{1: "filter[fax]=1", 2: "filter[phone]=1", 3: "filter[vip]"}[version]
			for _, each := range []shopStream{
				{path: "/" + peopleOf[version]},
				{path: "/" + peopleOf[version] + "?filter[rating][gte]=3", holds: func(c []string) bool { return c[ofRating] >= "3" && c[ofRating] != "null" }},
				{path: "/" + peopleOf[version] + "?" + own, holds: func(c []string) bool {
					return c[map[int]int{1: ofFax, 2: ofPhone, 3: ofVIP}[version]] == map[int]string{1: `"1"`, 2: `"1"`, 3: "true"}[version]
				}},
				{path: "/orders", collection: shopOrders},
				{path: "/changes", collection: shopLog},
			} {
				each.shop, each.version, each.known = w, version, map[string]string{}
				each.begin()
				w.streams = append(w.streams, &each)
			}
		}
		for range 2 {
			for range 40 {
				w.write()
			}
			for _, each := range w.streams {
				each.follow()
				each.reconnect()
			}
		}
		for _, each := range w.streams {
			each.compare()
		}
	})
}

// The collections of the shop, and the attributes of a customer that filters use, in the order of customerNames.
const (
	shopCustomers = iota
	shopOrders
	shopLabels
	shopLog // the log

	ofCompany  = 0
	ofState    = 2
	ofFax      = 3
	ofRating   = 4
	ofNote     = 5
	ofReferrer = 6
	ofPhone    = 7
	ofVIP      = 8
)

// shop is a naive model of the shop: the values of all resources, in JSON, by their positions.
type shop struct {
	server  *server
	random  *rand.Rand
	values  [3]map[int][]string
	streams []*shopStream
}

// newShop is the shop as it was seeded.
func newShop(s *server, random *rand.Rand) *shop {
	return &shop{server: s, random: random, values: [3]map[int][]string{
		shopCustomers: {
			1: {`"Ann"`, `"ann@example.com"`, `"new"`, `"11"`, "5", "null", "null", `"none"`, "false"},
			2: {`"Bob"`, `"bob@example.com"`, `"blocked"`, "null", "null", "null", quoted(id(1)), `"22"`, "false"},
		},
		shopOrders: {11: {quoted(id(1)), `"a1"`, "1", "null"}, 12: {quoted(id(2)), `"b1"`, "2", quoted(id(21))}},
		shopLabels: {21: {`"red"`}},
	}}
}

// namesIn are what a version calls the attributes of a collection. Nil: it does not have it.
func namesIn(version, collection int) []string {
	switch {
	case collection == shopCustomers:
		return customerNames[version]
	case collection == shopLabels && version == 1:
		return nil
	case collection == shopLabels:
		return []string{"text"}
	}
	return map[int][]string{1: {"client_id", "code", "amount", ""}, 2: {"customer_id", "code", "quantity", "label_id"}, 3: {"customer_id", "code", "quantity", "tag_id"}}[version]
}

// typeIn is what a version calls a collection.
func typeIn(version, collection int) string {
	return []string{peopleOf[version], "orders", labelsOf[version]}[collection]
}

// representation is a resource as a version shows it. Empty: it does not.
func representation(version, collection, position int, values []string) string {
	if values == nil || namesIn(version, collection) == nil {
		return ""
	}
	text := fmt.Sprintf(`{"id":"%s","type":"%s"`, id(position), typeIn(version, collection))
	for i, name := range namesIn(version, collection) {
		if name != "" {
			text += fmt.Sprintf(`,"%s":%s`, name, values[i])
		}
	}
	return text + `,"created_at":"TIME","updated_at":"TIME"}`
}

// set notes a change of a resource, and what the streams will send of it. Nil: it is deleted.
func (w *shop) set(collection, position int, values []string) {
	before := w.values[collection][position]
	if w.values[collection][position] = values; values == nil {
		delete(w.values[collection], position)
	}
	for _, each := range w.streams {
		each.expect(collection, position, before, values)
	}
}

// pick draws one of some texts.
func (w *shop) pick(from ...string) string { return from[w.random.IntN(len(from))] }

// positions are those of the resources of a collection, in their order.
func (w *shop) positions(collection int) []int { return slices.Sorted(maps.Keys(w.values[collection])) }

// draw draws a value of an attribute that is valid in a version.
func (w *shop) draw(version, collection, position, attribute int) string {
	if collection == shopOrders {
		return []string{"", w.pick(`"a`, `"b`) + strconv.Itoa(position) + `"`, w.pick("0", "1", "2"), w.pick("null", quoted(id(21)))}[attribute]
	}
	referees := []string{"null"}
	for _, each := range w.positions(shopCustomers) {
		if each != position {
			referees = append(referees, quoted(id(each)))
		}
	}
	states := []string{`"new"`, `"active"`, `"blocked"`, `"gone"`}
	return w.pick([][]string{
		{`"A"`, `"B"`, `"Ab"`}, {"null", fmt.Sprintf(`"%d@example.com"`, position)}, states[:version+1],
		{"null", `"1"`, `"2"`}, {"null", "1", "2", "3", "4", "5"}, {"null", `"x"`, `"y"`}, referees, {"null", `"1"`, `"2"`}, {"true", "false"},
	}[attribute]...)
}

// write has a client of a random version write something.
func (w *shop) write() {
	version := w.random.IntN(3) + 1
	client, people := w.server.version(version), "/"+peopleOf[version]
	at, order, all := w.random.IntN(6)+1, w.random.IntN(6)+11, w.positions(shopCustomers)
	of := 0
	if len(all) > 0 {
		of = all[w.random.IntN(len(all))]
	}
	customer, known := w.values[shopCustomers][at]
	ordered, isOrdered := w.values[shopOrders][order]
	switch what := w.random.IntN(12); {
	case what == 0 && labelsOf[version] != "":
		text := w.pick(`"red"`, `"blue"`)
		client.write(http.MethodPatch, "/"+labelsOf[version]+"/"+id(21), `{"text":`+text+`}`)
		w.set(shopLabels, 21, []string{text})
	case what == 1:
		text := w.pick(`"x"`, `"y"`)
		client.write(http.MethodPatch, people+"?filter[state]=new", `{"note":`+text+`}`)
		for _, each := range all {
			if values := slices.Clone(w.values[shopCustomers][each]); values[ofState] == `"new"` {
				values[ofNote] = text
				w.set(shopCustomers, each, values)
			}
		}
	case what == 2 && isOrdered:
		client.write(http.MethodDelete, "/orders/"+id(order), "")
		w.set(shopOrders, order, nil)
	case what <= 4 && isOrdered:
		body, values := w.body(version, shopOrders, order, ordered, nil)
		client.write(http.MethodPatch, "/orders/"+id(order), body)
		w.set(shopOrders, order, values)
	case what <= 4 && of != 0:
		body, values := w.body(version, shopOrders, order, []string{quoted(id(of)), fmt.Sprintf(`"a%d"`, order), "null", "null"}, []int{1})
		client.write(http.MethodPost, people+"/"+id(of)+"/orders", body)
		w.set(shopOrders, order, values)
	case !known:
		// What the version does not have gets its default.
		body, values := w.body(version, shopCustomers, at, []string{"", "null", `"new"`, "null", "null", "null", "null", `"none"`, "false"}, []int{ofCompany})
		client.write(http.MethodPost, people, body)
		w.set(shopCustomers, at, values)
	case what == 5:
		client.write(http.MethodDelete, people+"/"+id(at), "")
		w.remove(at)
	case what <= 7:
		// What the version does not have stays as it is.
		empty := []string{"", "null", `"new"`, "null", "null", "null", "null", `"none"`, "false"}
		for i, name := range namesIn(version, shopCustomers) {
			if name == "" {
				empty[i] = customer[i]
			}
		}
		body, values := w.body(version, shopCustomers, at, empty, []int{ofCompany})
		client.write(http.MethodPut, people+"/"+id(at), body)
		w.set(shopCustomers, at, values)
	default:
		body, values := w.body(version, shopCustomers, at, customer, nil)
		client.write(http.MethodPatch, people+"/"+id(at), body)
		w.set(shopCustomers, at, values)
	}
}

// body draws a body with some attributes of a version, among them those that are required, and returns the values after it.
func (w *shop) body(version, collection, position int, values []string, required []int) (string, []string) {
	values, members := slices.Clone(values), []string{`"id":"` + id(position) + `"`}
	for i, name := range namesIn(version, collection) {
		if name != "" && (collection != shopOrders || i > 0) && (slices.Contains(required, i) || w.random.IntN(2) == 0) {
			values[i] = w.draw(version, collection, position, i)
			members = append(members, `"`+name+`":`+values[i])
		}
	}
	return "{" + strings.Join(members, ",") + "}", values
}

// remove deletes a customer with the orders, and what refers to the customer.
func (w *shop) remove(position int) {
	for _, each := range w.positions(shopCustomers) {
		if values := slices.Clone(w.values[shopCustomers][each]); values[ofReferrer] == quoted(id(position)) {
			values[ofReferrer] = "null"
			w.set(shopCustomers, each, values)
		}
	}
	for _, each := range w.positions(shopOrders) {
		if w.values[shopOrders][each][0] == quoted(id(position)) {
			w.set(shopOrders, each, nil)
		}
	}
	w.set(shopCustomers, position, nil)
}

// shopStream is a stream of a version, and what it has sent.
type shopStream struct {
	*shop
	version    int
	path       string
	collection int
	holds      func(values []string) bool // of the filter; nil: it has none

	open     *events
	position string            // of the last event
	known    map[string]string // resources by id, after the events
	expected []string          // of the events that were not read yet, each its kind and what it is about
	log      []string          // the changes that were sent
}

func (s *shopStream) headers(more ...string) []string {
	return append([]string{"API-Version", strconv.Itoa(s.version)}, more...)
}

// begin opens the stream, and reads the snapshot.
func (s *shopStream) begin() {
	s.open = s.server.stream(s.path, s.headers()...)
	for s.position == "" {
		s.read()
	}
}

// reconnect goes on after the last event.
func (s *shopStream) reconnect() {
	s.open.close()
	s.open = s.server.stream(s.path, s.headers("Last-Event-ID", s.position)...)
}

// expect notes what the stream will send of a change.
func (s *shopStream) expect(collection, position int, before, after []string) {
	if s.collection != shopLog && s.collection != collection {
		return
	}
	was, is := representation(s.version, collection, position, before), representation(s.version, collection, position, after)
	kind := "updated"
	switch {
	case was == is:
		return
	case was == "":
		kind = "created"
	case is == "":
		kind = "deleted"
	}
	if s.collection == shopLog {
		s.expected = append(s.expected, kind+" "+typeIn(s.version, collection)+" "+id(position))
		return
	}
	if s.holds != nil {
		wasListed, isListed := before != nil && s.holds(before), after != nil && s.holds(after)
		switch {
		case !wasListed && !isListed:
			return
		case kind == "updated" && !wasListed:
			kind = "entered"
		case kind == "updated" && !isListed:
			kind = "left"
		}
	}
	s.expected = append(s.expected, kind+" "+id(position))
}

// follow reads the events that are expected.
func (s *shopStream) follow() {
	var got []string
	for range s.expected {
		got = append(got, s.read())
	}
	slices.Sort(got)
	slices.Sort(s.expected) // the order within a deletion is of no interest
	if !slices.Equal(got, s.expected) {
		s.server.t.Fatalf("%s in version %d: got %q, want %q", s.path, s.version, got, s.expected)
	}
	s.expected = nil
}

// read reads one event, which must fit what is known. It returns its kind and what it is about.
func (s *shopStream) read() string {
	t := s.server.t
	t.Helper()
	event, ok := s.open.next()
	if !ok {
		t.Fatalf("%s in version %d ends", s.path, s.version)
	}
	if event.id != "" {
		s.position = event.id
	}
	var content struct {
		Data     json.RawMessage
		Previous map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(event.data), &content); err != nil {
		t.Fatal(err)
	}
	if event.kind == "synced" {
		return event.kind
	}
	text := settled(string(content.Data))
	if s.collection == shopLog {
		s.log = append(s.log, text)
		var change struct {
			Kind     string
			Resource struct{ ID, Type string }
		}
		if err := json.Unmarshal(content.Data, &change); err != nil {
			t.Fatal(err)
		}
		return change.Kind + " " + change.Resource.Type + " " + change.Resource.ID
	}
	var about struct{ ID string }
	if err := json.Unmarshal(content.Data, &about); err != nil {
		t.Fatal(err)
	}
	before, known := s.known[about.ID]
	isNew := event.kind == "listed" || event.kind == "created" || event.kind == "entered"
	if known == isNew || event.kind == "deleted" && before != text {
		t.Errorf("%s in version %d: %s %s, and it is known as %q", s.path, s.version, event.kind, text, before)
	}
	if s.known[about.ID] = text; event.kind == "deleted" || event.kind == "left" {
		delete(s.known, about.ID)
	}
	if event.kind == "updated" {
		s.checkPrevious(before, text, content.Previous)
	}
	return event.kind + " " + about.ID
}

// checkPrevious checks that previous has the former values of what has changed.
func (s *shopStream) checkPrevious(before, after string, previous map[string]json.RawMessage) {
	var was, is map[string]json.RawMessage
	if json.Unmarshal([]byte(before), &was) != nil || json.Unmarshal([]byte(after), &is) != nil {
		s.server.t.Fatalf("%q, %q", before, after)
	}
	want := map[string]string{}
	for name := range was {
		if string(was[name]) != string(is[name]) {
			want[name] = string(was[name])
		}
	}
	got := map[string]string{}
	for name, value := range previous {
		got[name] = string(value)
	}
	if !maps.Equal(got, want) {
		s.server.t.Errorf("%s in version %d: %s became %s, and previous is %v", s.path, s.version, before, after, got)
	}
}

// compare compares what is known with the list of the version, and that with the model; of the log, what was sent.
func (s *shopStream) compare() {
	t, client := s.server.t, s.server.version(s.version)
	separator := "?"
	if strings.Contains(s.path, "?") {
		separator = "&"
	}
	list := client.get(s.path + separator + "limit=1000")
	if s.collection == shopLog {
		list.expectSettled(t, 200, data(s.log...))
		return
	}
	var want, known []string
	for _, position := range s.positions(s.collection) {
		if values := s.values[s.collection][position]; s.holds == nil || s.holds(values) {
			want = append(want, representation(s.version, s.collection, position, values))
		}
	}
	for _, each := range slices.Sorted(maps.Keys(s.known)) {
		known = append(known, s.known[each])
	}
	list.expect(t, 200, data(want...))
	if !slices.Equal(known, want) {
		t.Errorf("%s in version %d:\nknown  %s\nlisted %s", s.path, s.version, known, want)
	}
}
