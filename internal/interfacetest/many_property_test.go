package interfacetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// The naive model of writes to many resources: a list in memory, and the rules one by one.

const manyPolicy = `
collections:
  items:
    timestamps: false
    attributes:
      key: {type: string, maxLength: 20, unique: true}
      n: {type: integer, default: 0}
      owner: {type: string}
      shared: {type: boolean, default: false}
      under: {references: {collection: items, on_delete: cascade}}
    required: [owner]
access:
  roles:
    member:
      items:
        list: true
        read: resource.owner == auth.sub || resource.shared
        create: resource.owner == auth.sub
        update: resource.owner == auth.sub
        delete: resource.owner == auth.sub
    all:
      items: [list, read, create, update, delete]
`

// manyLimit is how many resources a request may write.
const manyLimit = 4

type manyItem struct {
	ID     string  `json:"id"`
	Key    *string `json:"key"`
	N      int     `json:"n"`
	Owner  string  `json:"owner"`
	Shared bool    `json:"shared"`
	Under  *string `json:"under"`
}

// manyModel is the items, by id.
type manyModel struct{ items []manyItem }

func (m *manyModel) sees(caller string, each manyItem) bool {
	return caller == "admin" || each.Owner == caller || each.Shared
}

func (m *manyModel) owns(caller string, each manyItem) bool {
	return caller == "admin" || each.Owner == caller
}

func (m *manyModel) find(id string) int {
	return slices.IndexFunc(m.items, func(each manyItem) bool { return each.ID == id })
}

// selection is what a range asks for.
type selection struct {
	atLeast, offset, limit int
	descending             bool
}

func (q selection) String() string {
	text := fmt.Sprintf("?filter[n][gte]=%d&offset=%d&limit=%d", q.atLeast, q.offset, q.limit)
	if q.descending {
		text += "&sort=-n"
	}
	return text
}

// listed is the items that a range selects, in their order.
func (m *manyModel) listed(caller string, q selection) (found []manyItem) {
	for _, each := range m.items {
		if m.sees(caller, each) && each.N >= q.atLeast {
			found = append(found, each)
		}
	}
	if q.descending {
		slices.SortStableFunc(found, func(a, b manyItem) int { return cmp.Compare(b.N, a.N) })
	}
	from, to := q.offset, q.offset+q.limit
	if q.limit < 0 {
		from, to = to, from
	}
	from, to = min(max(from, 0), len(found)), min(max(to, 0), len(found))
	return found[from:to]
}

// patch gives items a value of n, a key or an owner; -1, "" and "" leave them.
func (m *manyModel) patch(caller string, ids []string, n int, key, owner string) (status, affected int) {
	before := slices.Clone(m.items)
	for _, id := range ids {
		each := m.items[m.find(id)]
		gives := each
		if owner != "" {
			gives.Owner = owner
		}
		if !m.owns(caller, each) || !m.owns(caller, gives) {
			return 403, 0
		}
	}
	for _, id := range ids {
		each := &m.items[m.find(id)]
		changed := *each
		if n >= 0 {
			changed.N = n
		}
		if key != "" {
			changed.Key = &key
		}
		if owner != "" {
			changed.Owner = owner
		}
		if key != "" && slices.ContainsFunc(m.items, func(other manyItem) bool { return other.ID != id && other.Key != nil && *other.Key == key }) {
			m.items = before
			return 409, 0
		}
		if changed.text() != each.text() {
			affected++
		}
		*each = changed
	}
	return 200, affected
}

func (each manyItem) text() string {
	text, _ := json.Marshal(each)
	return string(text)
}

// delete deletes items with what is under them.
func (m *manyModel) delete(caller string, ids []string) (status, affected int) {
	for _, id := range ids {
		if !m.owns(caller, m.items[m.find(id)]) {
			return 403, 0
		}
	}
	gone := map[string]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	for again := true; again; {
		again = false
		for _, each := range m.items {
			if each.Under != nil && gone[*each.Under] && !gone[each.ID] {
				gone[each.ID], again = true, true
			}
		}
	}
	m.items = slices.DeleteFunc(m.items, func(each manyItem) bool {
		if gone[each.ID] && m.sees(caller, each) {
			affected++
		}
		return gone[each.ID]
	})
	return 200, affected
}

// upsert creates an item, or changes the one with the key.
func (m *manyModel) upsert(caller string, all []manyItem) (status, affected int) {
	before := slices.Clone(m.items)
	defer func() {
		if status >= 400 {
			m.items, affected = before, 0
		}
	}()
	keys := map[string]bool{}
	owner := func(each manyItem) int {
		return slices.IndexFunc(before, func(other manyItem) bool { return other.Key != nil && *other.Key == *each.Key })
	}
	for _, each := range all { // who may not change it
		if at := owner(each); at >= 0 && m.sees(caller, before[at]) && !m.owns(caller, before[at]) {
			return 403, 0
		}
	}
	for _, each := range all {
		if keys[*each.Key] {
			return 409, 0
		}
		keys[*each.Key] = true
	}
	for _, each := range all {
		if !m.owns(caller, each) {
			return 403, 0
		}
	}
	for _, each := range all { // a hidden one is found when another is created, as by a plain POST
		if at := owner(each); at >= 0 && !m.sees(caller, before[at]) {
			return 409, 0
		}
	}
	status = 201
	for _, each := range all {
		at := owner(each)
		if at < 0 {
			m.items, affected = append(m.items, each), affected+1
			continue
		}
		status = 200
		changed := before[at]
		changed.N, changed.Owner = each.N, each.Owner
		if changed.text() != before[at].text() {
			affected++
		}
		m.items[m.find(changed.ID)] = changed
	}
	slices.SortFunc(m.items, func(a, b manyItem) int { return strings.Compare(a.ID, b.ID) })
	return status, affected
}

// TestManyLikeTheModel draws writes of several callers to many resources: each has the outcome that the naive
// model has, and its dry run tells as much before.
func TestManyLikeTheModel(t *testing.T) {
	t.Parallel()
	file, err := schema.Parse([]byte(manyPolicy))
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{}}
		for _, caller := range []string{"a", "b"} {
			h.key(caller, "member", caller)
		}
		h.key("admin", "all", "x")
		next := 0
		rapid.Check(t, func(t *rapid.T) {
			h.as("admin", "DELETE", "/items?offset=0", "") // what the last check has left, which may be too many
			for len(h.as("admin", "GET", "/items?limit=1", "").ids(s.t)) > 0 {
				h.as("admin", "DELETE", "/items?limit=1", "")
			}
			m := &manyModel{}
			for range rapid.IntRange(1, 12).Draw(t, "writes") {
				h.drawMany(t, m, &next)
			}
		})
	}, func(c *plural.Config) {
		c.Access, c.MaxItems, c.Logger = file.Access, manyLimit, slog.New(slog.DiscardHandler)
	})
}

// drawMany draws one write, and compares.
func (h *accessServer) drawMany(t *rapid.T, m *manyModel, next *int) {
	caller := rapid.SampledFrom([]string{"a", "b", "admin"}).Draw(t, "caller")
	q := selection{rapid.IntRange(0, 3).Draw(t, "at least"), rapid.IntRange(0, 12).Draw(t, "offset"), rapid.IntRange(-15, 6).Draw(t, "limit"), rapid.Bool().Draw(t, "descending")}
	var method, path, body string
	var do func(m *manyModel) (status, affected int)
	found := m.listed(caller, q)
	var ids []string
	for _, each := range found {
		ids = append(ids, each.ID)
	}
	owners := []string{"a", "b"}
	switch kind := rapid.SampledFrom([]string{"upsert", "patch", "delete", "upsert"}).Draw(t, "kind"); kind {
	case "upsert":
		var all []manyItem
		for range rapid.IntRange(1, 3).Draw(t, "items") {
			key := rapid.SampledFrom([]string{"k", "l", "m", "n", "o", "p"}).Draw(t, "key")
			each := manyItem{ID: id(1000 + *next), Key: &key, N: rapid.IntRange(0, 4).Draw(t, "n"), Owner: rapid.SampledFrom(owners).Draw(t, "owner"), Shared: rapid.Bool().Draw(t, "shared")}
			*next++
			if len(m.items) > 0 && rapid.Bool().Draw(t, "under") {
				if under := rapid.SampledFrom(m.items).Draw(t, "which"); m.sees(caller, under) {
					each.Under = &under.ID
				}
			}
			all = append(all, each)
		}
		var bodies []string
		for _, each := range all {
			// What changes an item sends less than what creates one.
			exists := slices.ContainsFunc(m.items, func(other manyItem) bool { return other.Key != nil && *other.Key == *each.Key })
			if exists {
				bodies = append(bodies, fmt.Sprintf(`{"key":"%s","n":%d,"owner":"%s"}`, *each.Key, each.N, each.Owner))
			} else {
				bodies = append(bodies, each.text())
			}
		}
		method, path, body = "POST", "/items?on_conflict=key", "["+strings.Join(bodies, ",")+"]"
		do = func(m *manyModel) (int, int) { return m.upsert(caller, all) }
	case "delete":
		method, path = "DELETE", "/items"+q.String()
		do = func(m *manyModel) (int, int) { return m.delete(caller, ids) }
	case "patch":
		n, key, owner := rapid.IntRange(-1, 4).Draw(t, "n"), rapid.SampledFrom([]string{"", "", "k", "z"}).Draw(t, "key"), rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "owner")
		members := []string{}
		if n >= 0 {
			members = append(members, fmt.Sprintf(`"n":%d`, n))
		}
		if key != "" {
			members = append(members, `"key":"`+key+`"`)
		}
		if owner != "" {
			members = append(members, `"owner":"`+owner+`"`)
		}
		method, path, body = "PATCH", "/items"+q.String(), "{"+strings.Join(members, ",")+"}"
		do = func(m *manyModel) (int, int) { return m.patch(caller, ids, n, key, owner) }
	}
	status, affected := 413, 0
	if method == "POST" || len(ids) <= manyLimit {
		status, affected = do(m)
	}
	dry := h.as(caller, method, path+"&dry_run=true", body)
	got := h.as(caller, method, path, body)
	if dry.status != status || got.status != status {
		t.Fatalf("%q: %s %s %s: %d, dry %d, want %d: %s", caller, method, path, body, got.status, dry.status, status, got.body)
	}
	if want := fmt.Sprintf("items=%d", affected); status < 300 && dry.header.Get("X-Affected") != want {
		t.Fatalf("%q: %s %s %s: X-Affected %q, want %q", caller, method, path, body, dry.header.Get("X-Affected"), want)
	}
	if status < 300 && (dry.body != got.body || method != "POST" && !slices.Equal(got.ids(h.t), append([]string{}, ids...))) {
		t.Fatalf("%q: %s %s %s:\n%s\ndry %s\nwant %v", caller, method, path, body, got.body, dry.body, ids)
	}
	var listed struct{ Data []manyItem }
	if err := json.Unmarshal([]byte(h.as("admin", "GET", "/items?limit=1000", "").body), &listed); err != nil {
		t.Fatal(err)
	}
	var have, want []string
	for _, each := range listed.Data {
		have = append(have, each.text())
	}
	for _, each := range m.items {
		want = append(want, each.text())
	}
	if !slices.Equal(have, want) {
		t.Fatalf("%q: %s %s %s: %d %s\nhave %v\nwant %v", caller, method, path, body, got.status, got.body, have, want)
	}
}
