package interfacetest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// orderIn is the representation of an order as a version shows it, of a customer, with a label or null.
func orderIn(version int, position, customer int, code string, quantity int, label string) string {
	head := fmt.Sprintf(`{"id":"%s","type":"orders"`, id(position))
	switch version {
	case 1:
		head += fmt.Sprintf(`,"client_id":"%s","code":"%s","amount":%d`, id(customer), code, quantity)
	case 2:
		head += fmt.Sprintf(`,"customer_id":"%s","code":"%s","quantity":%d,"label_id":%s`, id(customer), code, quantity, label)
	case 3:
		head += fmt.Sprintf(`,"customer_id":"%s","code":"%s","quantity":%d,"tag_id":%s`, id(customer), code, quantity, label)
	}
	return head + `,"created_at":"TIME","updated_at":"TIME"}`
}

// changeIn is a change as a version shows it. Previous and data are as in the version.
func changeIn(kind, collection string, position int, previous, data string) string {
	return fmt.Sprintf(`{"id":"CHANGE","type":"changes","kind":"%s","resource":{"id":"%s","type":"%s"},"revision":N,"by":null,"previous":%s,"data":%s,"created_at":"TIME"}`,
		kind, id(position), collection, previous, data)
}

// writeInVersions has clients of the versions write. Ann gets a new fax in version 1, a new phone in version 2, and becomes a vip in
// version 3.
func writeInVersions(s *server) {
	s.version(1).write("PATCH", "/clients/"+id(1), `{"fax":"12"}`)
	s.version(2).write("PATCH", "/customers/"+id(1), `{"phone":"33"}`)
	s.version(3).write("PATCH", "/customers/"+id(1), `{"vip":true}`)
	s.version(3).write("PATCH", "/customers/"+id(1), `{"company":"Ann Ltd","vip":false}`)
	s.version(2).write("DELETE", "/orders/"+id(12), "")
	s.version(2).write("PATCH", "/labels/"+id(21), `{"text":"blue"}`)
}

// anns are the states of Ann in a version: when it was created, after what writeInVersions does, and each with the former values. A version
// has those in which something has changed for it.
var anns = map[int]struct {
	states   []string
	previous []string
}{
	1: {[]string{
		customerIn(1, 1, `"Ann"`, `"ann@example.com"`, `"new"`, `"11"`, 5, "null", "null", "", ""),
		customerIn(1, 1, `"Ann"`, `"ann@example.com"`, `"new"`, `"12"`, 5, "null", "null", "", ""),
		customerIn(1, 1, `"Ann Ltd"`, `"ann@example.com"`, `"new"`, `"12"`, 5, "null", "null", "", ""),
	}, []string{`{"fax":"11"}`, `{"name":"Ann"}`}},
	2: {[]string{
		customerIn(2, 1, `"Ann"`, `"ann@example.com"`, `"new"`, "", 5, "null", "null", `"none"`, ""),
		customerIn(2, 1, `"Ann"`, `"ann@example.com"`, `"new"`, "", 5, "null", "null", `"33"`, ""),
		customerIn(2, 1, `"Ann Ltd"`, `"ann@example.com"`, `"new"`, "", 5, "null", "null", `"33"`, ""),
	}, []string{`{"phone":"none"}`, `{"name":"Ann"}`}},
	3: {[]string{
		customerIn(3, 1, `"Ann"`, `"ann@example.com"`, `"new"`, "", 5, "null", "null", "", "false"),
		customerIn(3, 1, `"Ann"`, `"ann@example.com"`, `"new"`, "", 5, "null", "null", "", "true"),
		customerIn(3, 1, `"Ann Ltd"`, `"ann@example.com"`, `"new"`, "", 5, "null", "null", "", "false"),
	}, []string{`{"vip":false}`, `{"company":"Ann","vip":true}`}},
}

// bobIn is Bob, who was created in version 2 and stays as he is.
func bobIn(version int) string {
	return customerIn(version, 2, `"Bob"`, `"bob@example.com"`, `"blocked"`, "null", "null", "null", quoted(id(1)), `"22"`, "false")
}

// changesInVersion is all changes of the shop as a version shows them, after writeInVersions.
func changesInVersion(version int) (all []string) {
	add := func(kind, collection string, position int, previous, data string) {
		if collection != "" {
			all = append(all, changeIn(kind, collection, position, previous, data))
		}
	}
	people, labels, ann := peopleOf[version], labelsOf[version], anns[version]
	label := func(text string) string {
		return fmt.Sprintf(`{"id":"%s","type":"%s","text":"%s","created_at":"TIME","updated_at":"TIME"}`, id(21), labels, text)
	}
	add("created", people, 1, "null", ann.states[0])
	add("created", "orders", 11, "null", orderIn(version, 11, 1, "a1", 1, "null"))
	add("created", people, 2, "null", bobIn(version))
	add("created", labels, 21, "null", label("red"))
	bobs := orderIn(version, 12, 2, "b1", 2, quoted(id(21)))
	add("created", "orders", 12, "null", bobs)
	for i, previous := range ann.previous {
		add("updated", people, 1, previous, ann.states[i+1])
	}
	add("deleted", "orders", 12, bobs, "null")
	add("updated", labels, 21, `{"text":"red"}`, label("blue"))
	return all
}

// TestChangesInVersions: the log and histories have the names and attributes of the version that asks, whatever the version and the schema
// that was the newest when a change was made, and only changes of these.
func TestChangesInVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		writeInVersions(s)
		for version := 1; version <= 3; version++ {
			client, want := s.version(version), changesInVersion(version)
			all := client.get("/changes", "Prefer", "count=exact")
			all.expectSettled(t, 200, data(want...))
			if all.total() != strconv.Itoa(len(want)) {
				t.Errorf("version %d: the total is %q, want %d", version, all.total(), len(want))
			}
			ids := all.ids(t)
			for i := range ids {
				one := client.get("/changes/" + ids[i])
				one.expectSettled(t, 200, `{"data":`+want[i]+`}`)
				client.get("/changes/"+ids[i], "If-None-Match", one.header.Get("ETag")).expect(t, 304, "")
				client.get("/changes?limit=2&cursor="+ids[i]).expectSettled(t, 200, data(want[i:min(i+2, len(want))]...))
				client.get("/changes?since="+ids[i]).expectSettled(t, 200, data(want[i+1:]...))
				for other := 1; other <= 3; other++ {
					if other != version && s.version(other).get("/changes/"+ids[i]).header.Get("ETag") == one.header.Get("ETag") {
						t.Errorf("change %d has the same ETag in the versions %d and %d", i, version, other)
					}
				}
			}
			people := peopleOf[version]
			of := func(c string) (some []string) {
				for _, each := range want {
					if strings.Contains(each, `"type":"`+c+`"},`) {
						some = append(some, each)
					}
				}
				return some
			}
			client.get("/changes?filter[collection]="+people, "Prefer", "count=exact").expectSettled(t, 200, data(of(people)...))
			client.get("/changes?filter[collection][in]=orders,"+people+"&filter[kind]=deleted").expectSettled(t, 200, data(changeIn("deleted", "orders", 12, orderIn(version, 12, 2, "b1", 2, quoted(id(21))), "null")))
			history := of(people)
			client.get("/"+people+"/"+id(1)+"/changes").expectSettled(t, 200, data(append(history[:1:1], history[2:]...)...))
			client.get("/"+people+"/"+id(2)+"/orders/"+id(12)+"/changes").expectSettled(t, 200, data(of("orders")[1:]...))
		}
		for version, unknown := range map[int][]string{1: {"customers", "labels", "tags"}, 2: {"clients", "tags"}, 3: {"clients", "labels"}} {
			for _, name := range unknown {
				s.version(version).get("/changes?filter[collection]="+name).expectErrors(t, 400, "invalid_parameter filter[collection]")
				s.version(version).get("/"+name+"/"+id(1)+"/changes").expectErrors(t, 404, "not_found")
			}
		}
		label := s.version(2).get("/changes?filter[collection]=labels").ids(t)[0]
		s.version(1).get("/changes/"+label).expectErrors(t, 404, "not_found")
	})
}

var linkToChanges = regexp.MustCompile(`<([^>]*)>; rel="changes"`)

// TestStreamsInVersions: streams of a list, of one resource and of the log have the names and attributes of the version that asks. A position
// of a version is one of its own streams; those of other versions begin again after it.
func TestStreamsInVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		header := func(version int) []string { return []string{"API-Version", strconv.Itoa(version)} }
		lists, ones, logs, positions := map[int]*events{}, map[int]*events{}, map[int]*events{}, map[int]string{}
		for version := 1; version <= 3; version++ {
			people := peopleOf[version]
			link := linkToChanges.FindStringSubmatch(s.version(version).get("/" + people).header.Get("Link"))[1]
			_, positions[version], _ = strings.Cut(link, "since=")
			lists[version] = s.stream("/"+people, header(version)...)
			ann := `listed {"data":` + anns[version].states[0] + `}`
			lists[version].expect(ann, `listed {"data":`+bobIn(version)+`}`, "synced {}")
			ones[version] = s.stream("/"+people+"/"+id(1)+"?fields=state,rating", header(version)...)
			some := fmt.Sprintf(`{"id":"%s","type":"%s","state":"new","rating":5}`, id(1), people)
			ones[version].expect(`listed {"data":`+some+`}`, "synced {}")
			logs[version] = s.stream("/changes", header(version)...)
			before := changesInVersion(version)
			for _, each := range before[:len(before)-len(anns[version].previous)-1-min(1, len(labelsOf[version]))] {
				logs[version].expect(`listed {"data":` + each + `}`)
			}
			logs[version].expect("synced {}")
		}
		writeInVersions(s)
		s.version(1).write("PATCH", "/clients/"+id(1), `{"rating":4}`)
		s.version(3).write("DELETE", "/customers/"+id(1), "") // with its order, and without what refers to it
		for version := 1; version <= 3; version++ {
			ann, people := anns[version], peopleOf[version]
			last := strings.Replace(ann.states[2], `"rating":5`, `"rating":4`, 1)
			bob := strings.Replace(bobIn(version), quoted(id(1)), "null", 1)
			want := []string{
				"updated " + eventOf(ann.states[1], `,"previous":`+ann.previous[0]), "updated " + eventOf(ann.states[2], `,"previous":`+ann.previous[1]),
				"updated " + eventOf(last, `,"previous":{"rating":5}`),
				"updated " + eventOf(bob, `,"previous":{"referrer_id":"`+id(1)+`"}`), "deleted " + eventOf(last, ""),
			}
			lists[version].expect(want...)
			after := s.stream("/"+people+"?since="+positions[version], header(version)...)
			after.expect(want...)
			some := func(rating int) string {
				return fmt.Sprintf(`{"id":"%s","type":"%s","state":"new","rating":%d}`, id(1), people, rating)
			}
			ones[version].expect("updated "+eventOf(some(4), `,"previous":{"rating":5}`), "deleted "+eventOf(some(4), ""))
			ones[version].expectEnd()
			changes := changesInVersion(version)
			for _, each := range changes[len(changes)-len(ann.previous)-1-min(1, len(labelsOf[version])):] {
				logs[version].expect(`created {"data":` + each + `}`)
			}
			logs[version].expect(
				`created {"data":`+changeIn("updated", people, 1, `{"rating":5}`, last)+`}`,
				`created {"data":`+changeIn("updated", people, 2, `{"referrer_id":"`+id(1)+`"}`, bob)+`}`,
				`created {"data":`+changeIn("deleted", "orders", 11, orderIn(version, 11, 1, "a1", 1, "null"), "null")+`}`,
				`created {"data":`+changeIn("deleted", people, 1, last, "null")+`}`)
			for other := 1; other <= 3; other++ {
				if other != version {
					s.stream("/"+peopleOf[other], append(header(other), "Last-Event-ID", positions[version])...).expect("reset {}",
						`listed {"data":`+strings.Replace(bobIn(other), `"referrer_id":"`+id(1)+`"`, `"referrer_id":null`, 1)+`}`, "synced {}")
				}
			}
		}
	})
}

// TestLongPollsInVersions: a long poll ends at the first change of what its version has.
func TestLongPollsInVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		last := s.get("/changes").ids(t)[4]
		waiting := map[int]chan answer{}
		for version := 1; version <= 3; version++ {
			poll := make(chan answer, 1)
			waiting[version] = poll
			go func() { poll <- s.version(version).get("/changes?since="+last, "Prefer", "wait=300") }()
		}
		s.awaitMetric("plural_streams 3")
		ann := "/customers/" + id(1)
		for _, each := range []struct {
			body    string
			version int
			changed int // of the states of Ann
		}{{`{"phone":"33"}`, 2, 1}, {`{"vip":true}`, 3, 1}} {
			s.version(each.version).write("PATCH", ann, each.body)
			want := changeIn("updated", "customers", 1, anns[each.version].previous[0], anns[each.version].states[1])
			(<-waiting[each.version]).expectSettled(t, 200, data(want))
		}
		s.awaitMetric("plural_streams 1")
		s.version(1).write("PATCH", "/clients/"+id(1), `{"fax":"12"}`)
		(<-waiting[1]).expectSettled(t, 200, data(changeIn("updated", "clients", 1, anns[1].previous[0], anns[1].states[1])))
	})
}
