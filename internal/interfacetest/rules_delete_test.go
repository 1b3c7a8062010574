package interfacetest

import (
	"fmt"
	"testing"
)

// stayFile is stays that keep a reference to a room, by which rules decide.
const stayFile = `
collections:
  rooms:
    timestamps: false
    attributes:
      name: {type: string, maxLength: 20}
  stays:
    attributes:
      fixed: {type: boolean, default: false}
      room_id: {references: {collection: rooms, on_delete: set_null}}
      key_id: {references: {collection: rooms, on_delete: set_null}, as: key}
      placed: {type: boolean, computed: resource.room_id != null}
      since: {type: string, format: date-time, computed: now}
      code: {type: string, maxLength: 10, unique: true, computed: 'resource.name > "" ? (resource.room_id == null ? "none" : resource.name) : ""'}
      name: {type: string, maxLength: 10}
    checks:
      - {rule: "!resource.fixed || resource.room_id != null", message: A fixed stay needs a room., attribute: fixed}
      - {rule: (resource.room_id == null) == (resource.key_id == null), message: Room and key belong together.}
  tags:
    timestamps: false
    attributes:
      text: {type: string, maxLength: 10}
      size: {type: integer, computed: size(resource.text)}
      room_id: {references: {collection: rooms, on_delete: set_null}}
access:
  roles:
    admin:
      rooms: [list, read, create, update, delete, changes]
      stays: [list, read, create, update, delete, changes]
      tags: [list, read, create, update, delete, changes]
    clerk:
      rooms: [list, read, delete]
      stays: {read: true, visible: [fixed]}
    porter:
      rooms: [list, read, delete]
`

// TestRulesOfDeletions: where a deletion sets a reference to null, computed attributes follow, and a rule can refuse it.
func TestRulesOfDeletions(t *testing.T) {
	t.Parallel()
	withFile(t, stayFile, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		for _, role := range []string{"admin", "clerk", "porter"} {
			h.key(role, role, "")
		}
		stay := func(n, room, key int, rest string) string {
			return fmt.Sprintf(`{"id":"%s","room_id":"%s","key_id":"%s"%s}`, id(n), id(room), id(key), rest)
		}
		for room := range 6 {
			h.must("POST", "/rooms", `{"id":"`+id(room)+`"}`)
		}
		h.must("POST", "/stays", "["+stay(10, 0, 0, "")+","+stay(11, 1, 1, `,"fixed":true`)+","+stay(12, 1, 1, `,"fixed":true`)+","+stay(13, 2, 3, "")+","+stay(14, 4, 4, `,"name":"x"`)+","+stay(15, 4, 4, `,"name":"y"`)+"]")
		h.must("POST", "/tags", `{"id":"`+id(20)+`","text":"abc","room_id":"`+id(0)+`"}`)

		// All references are set to null at once, and what is computed is stored.
		dry := h.as("admin", "DELETE", "/rooms/"+id(0)+"?dry_run=true", "")
		if got := dry.header.Get("X-Affected"); dry.status != 200 || got != "rooms=1, stays=1, tags=1" {
			t.Errorf("got %d %s %s", dry.status, got, dry.body)
		}
		before := h.as("admin", "GET", "/stays/"+id(10), "")
		h.must("DELETE", "/rooms/"+id(0), "")
		after := h.as("admin", "GET", "/stays/"+id(10), "")
		if after.member(t, "placed") != "false" || after.member(t, "room_id")+after.member(t, "key_id") != "nullnull" || after.member(t, "since") != after.member(t, "updated_at") || after.member(t, "since") < before.member(t, "since") {
			t.Errorf("got %s", after.body)
		}
		changes := h.as("admin", "GET", "/stays/"+id(10)+"/changes?limit=-1", "")
		if previous := changes.previous(t); previous["placed"] != "true" || previous["room_id"] != quoted(id(0)) || previous["since"] != before.member(t, "since") {
			t.Errorf("got %v of %s", previous, changes.body)
		}
		h.as("admin", "GET", "/tags/"+id(20), "").expect(t, 200, one(`{"id":"`+id(20)+`","type":"tags","text":"abc","size":3,"room_id":null}`))

		// A check that fails refuses the deletion. It names what the caller sees.
		named := fmt.Sprintf(": The resource stays/%s refers to rooms/%s by room_id. It cannot be without it: A fixed stay needs a room. Delete or change it, and others like it, first.", id(11), id(1))
		const unseen = ": A resource that you may not see refers to this one, or to one that would be deleted with it."
		for caller, want := range map[string]string{"admin": named, "clerk": unseen, "porter": unseen} {
			for _, each := range []struct{ method, path, body, prefer string }{
				{"DELETE", "/rooms/" + id(1), "", ""},
				{"DELETE", "/rooms/" + id(1) + "?dry_run=true", "", ""},
				{"DELETE", "/rooms/" + id(1), "", "respond-async"},
				{"DELETE", "/rooms?filter[id]=" + id(1), "", ""},
			} {
				got := h.as(caller, each.method, each.path, each.body, "Prefer", each.prefer)
				got.expectDetails(t, 409, want)
				got.expectErrors(t, 409, "referenced")
			}
		}
		steps := "[" + step("DELETE", "/rooms/"+id(5), "") + "," + step("DELETE", "/rooms/"+id(1), "") + "]"
		h.as("admin", "POST", "/-/transaction", steps).expectDetails(t, 409, "/1/path"+named)
		h.as("admin", "POST", "/-/transaction?dry_run=true", steps).expectDetails(t, 409, "/1/path"+named)

		// Of two references, one alone cannot go. A computed value may be taken.
		h.as("admin", "DELETE", "/rooms/"+id(3), "").expectDetails(t, 409, fmt.Sprintf(": The resource stays/%s refers to rooms/%s by key_id. It cannot be without it: Room and key belong together. Delete or change it, and others like it, first.", id(13), id(3)))
		h.must("DELETE", "/rooms?filter[id][in]="+id(2)+","+id(3), "")
		taken := h.as("admin", "DELETE", "/rooms/"+id(4), "")
		taken.expectErrors(t, 409, "referenced")
		h.as("porter", "DELETE", "/rooms/"+id(4), "").expectDetails(t, 409, unseen)
		h.as("admin", "GET", "/rooms", "").expectLength(t, 3)
		if got := h.as("admin", "GET", "/stays?filter[room_id][null]=true", "").ids(t); fmt.Sprint(got) != fmt.Sprint([]string{id(10), id(13)}) {
			t.Errorf("got %v", got)
		}
		operation := h.as("admin", "DELETE", "/rooms/"+id(5), "", "Prefer", "respond-async").operation(t)
		eventually(t, "the operation is finished", func() bool {
			return h.as("admin", "GET", "/operations/"+operation, "").member(t, "status") == `"succeeded"`
		})
	})
}

// TestRulesOfLargeDeletions: all referring resources are evaluated, whatever their number, and the first by id is named.
func TestRulesOfLargeDeletions(t *testing.T) {
	t.Parallel()
	withFile(t, stayFile, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		h.key("admin", "admin", "")
		h.must("POST", "/rooms", `[{"id":"`+id(0)+`"},{"id":"`+id(1)+`"}]`)
		const count = 1200
		for start := 0; start < count; start += 600 {
			body := ""
			for n := start; n < start+600; n++ {
				room, fixed := id(0), n == 1100
				body += fmt.Sprintf(`,{"id":"%s","room_id":"%s","key_id":"%s","fixed":%t}`, id(10+n), room, room, fixed)
			}
			h.must("POST", "/stays", "["+body[1:]+"]")
		}
		h.as("admin", "DELETE", "/rooms?limit=2", "").expectDetails(t, 409, fmt.Sprintf(": The resource stays/%s refers to rooms/%s by room_id. It cannot be without it: A fixed stay needs a room. Delete or change it, and others like it, first.", id(1110), id(0)))
		h.as("admin", "GET", "/stays?filter[placed]=false&limit=0", "", "Prefer", "count=exact").expectTotal(t, "0")
		h.must("PATCH", "/stays/"+id(1110), `{"fixed":false}`)
		h.must("DELETE", "/rooms?limit=2", "")
		h.as("admin", "GET", "/stays?filter[placed]=false&limit=0", "", "Prefer", "count=exact").expectTotal(t, fmt.Sprint(count))
	})
}
