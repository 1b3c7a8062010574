package interfacetest

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/plural-go/plural/conform"
	"github.com/plural-go/plural/internal/pgtest"
)

// tightened are schema files of which the second refuses what the first accepts: an interface that is upheld for clients of both.
var tightened = []string{`
version: 1
collections:
  makers:
    attributes:
      name: {type: string, maxLength: 20, unique: true}
    required: [name]
  things:
    parent: {collection: makers, attribute: maker_id, on_delete: cascade}
    search: [title]
    attributes:
      maker_id: {}
      title: {type: string, maxLength: 40}
      code: {type: string, maxLength: 30}
      state: {type: string, enum: [new, used, broken]}
      count: {type: integer}
      price: {type: string, format: decimal, scale: 2}
      active: {type: boolean}
      tags: {type: array, items: {type: string, maxLength: 20}}
      size: {type: object, properties: {height: {type: integer}, unit: {type: string}}}
      from: {type: string, format: date}
      to: {type: string, format: date}
    required: [title]
`, `
version: 2
collections:
  producers:
    renamed_from: makers
    attributes:
      name: {type: string, maxLength: 12, minLength: 3, unique: true}
      country: {type: string, default: NL}
    required: [name]
  items:
    renamed_from: things
    parent: {collection: producers, attribute: producer_id, on_delete: cascade}
    search: [heading]
    attributes:
      producer_id: {renamed_from: maker_id}
      heading: {type: string, maxLength: 20, minLength: 4, renamed_from: title}
      code: {type: string, maxLength: 10, minLength: 2}
      state: {type: string, enum: [new, used, broken], transitions: {new: [used], used: [broken, new]}, initial: [new], default: new}
      count: {type: integer, minimum: 10, maximum: 500}
      price: {type: string, format: decimal, scale: 2, minimum: 1}
      active: {type: boolean}
      tags: {type: array, items: {type: string, maxLength: 5}, maxItems: 3}
      size: {type: object, properties: {height: {type: integer, minimum: 1}, unit: {type: string, enum: [cm, in]}}}
      starts: {type: string, format: date, renamed_from: from}
      ends: {type: string, format: date, renamed_from: to}
      weight: {type: number, default: 1.5}
    required: [heading, count]
    checks:
      - {rule: resource.ends >= resource.starts, message: It ends before it starts., attribute: ends}
`}

// TestConformanceOfVersions: a server conforms in each version that it has, whatever newer ones have added, renamed, left out and refuse.
func TestConformanceOfVersions(t *testing.T) {
	t.Parallel()
	conforms := func(t *testing.T, s *server, version int, collections ...string) {
		t.Helper()
		for _, name := range collections {
			t.Run(strconv.Itoa(version)+" "+name, func(t *testing.T) {
				client := s.version(version)
				client.t = t
				check(t, client, conform.Options{Collection: name, Headers: http.Header{"Api-Version": {strconv.Itoa(version)}}})
			})
		}
	}
	eachVersioned(t, func(t *testing.T, s *server) {
		conforms(t, s, 1, "clients")
		conforms(t, s, 2, "orders")
		conforms(t, s, 3, "customers")
	})
	t.Run("tightened", func(t *testing.T) {
		for name, database := range pgtest.Databases() {
			t.Run(name, func(t *testing.T) {
				s := startVersioned(t, database(t), tightened, func(*server, int) {})
				conforms(t, s, 1, "things")
				conforms(t, s, 2, "items")
			})
		}
	})
}
