package interfacetest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// shopVersions are the schema files of a shop. From each to the next, collections and attributes are renamed and added, attributes are
// left to earlier versions, and constraints become looser.
var shopVersions = []string{`
version: 1
collections:
  clients:
    label: name
    search: [note]
    attributes:
      name: {type: string, maxLength: 10}
      mail: {type: string, format: email, unique: true}
      state: {type: string, enum: [new, active], default: new}
      fax: {type: string}
      rating: {type: integer, maximum: 5}
      note: {type: string}
      referrer_id: {references: {collection: clients, on_delete: set_null}, inverse: referred}
    required: [name]
  orders:
    parent: {collection: clients, attribute: client_id, on_delete: cascade}
    attributes:
      client_id: {}
      code: {type: string, maxLength: 10}
      amount: {type: integer, minimum: 0}
    required: [code]
    unique: [[client_id, code]]
`, `
version: 2
collections:
  customers:
    renamed_from: clients
    label: name
    search: [note]
    attributes:
      name: {type: string, maxLength: 10}
      email: {type: string, format: email, unique: true, renamed_from: mail}
      state: {type: string, enum: [new, active, blocked], default: new}
      fax: {type: string, until: 1}
      rating: {type: integer, maximum: 5}
      note: {type: string}
      referrer_id: {references: {collection: customers, on_delete: set_null}, inverse: referred}
      phone: {type: string, default: none}
    required: [name]
  orders:
    parent: {collection: customers, attribute: customer_id, on_delete: cascade}
    attributes:
      customer_id: {renamed_from: client_id}
      code: {type: string, maxLength: 10}
      quantity: {type: integer, minimum: 0, renamed_from: amount}
      label_id: {references: {collection: labels, on_delete: restrict}, inverse: orders}
    required: [code]
    unique: [[customer_id, code]]
  labels:
    attributes:
      text: {type: string}
`, `
version: 3
deprecated: {1: 2027-01-01}
collections:
  customers:
    label: company
    search: [note]
    attributes:
      company: {type: string, maxLength: 20, renamed_from: name}
      email: {type: string, format: email, unique: true}
      state: {type: string, enum: [new, active, blocked, gone], default: new}
      fax: {type: string, until: 1}
      rating: {type: integer, maximum: 10}
      note: {type: string}
      referrer_id: {references: {collection: customers, on_delete: set_null}, inverse: referred}
      phone: {type: string, default: none, until: 2}
      vip: {type: boolean, default: false}
    required: [company]
  orders:
    parent: {collection: customers, attribute: customer_id, on_delete: cascade}
    attributes:
      customer_id: {}
      code: {type: string, maxLength: 10}
      quantity: {type: integer, minimum: -5}
      tag_id: {references: {collection: tags, on_delete: restrict}, inverse: orders, renamed_from: label_id}
    required: [code]
    unique: [[customer_id, code]]
  tags:
    renamed_from: labels
    attributes:
      text: {type: string, unique: true, maxLength: 20}
`}

// eachVersioned runs a test against a server with the newest schema of the shop, on each database, which had the earlier ones before. A
// client of each version has created a resource while its schema was the newest: see seedVersion. The change is applied to the
// configuration of the newest.
func eachVersioned(t *testing.T, test func(*testing.T, *server), change ...func(*plural.Config)) {
	t.Helper()
	eachDatabase(t, func(t *testing.T, database string) {
		test(t, startVersioned(t, database, shopVersions, seedVersion, change...))
	})
}

// eachDatabase runs a test with the URL of a new database of each kind.
func eachDatabase(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) { test(t, database(t)) })
	}
}

// startVersioned runs a server with the last of several schema files, on a database that had the others before. Seed is called with the
// server of each but the last.
func startVersioned(t *testing.T, database string, files []string, seed func(s *server, version int), change ...func(*plural.Config)) *server {
	t.Helper()
	last := parsed(t, files[len(files)-1])
	access := func(c *plural.Config) { c.Access = last.Access }
	return startVersionedTo(t, database, files[:len(files)-1], last.Schema, seed, append([]func(*plural.Config){access}, change...)...)
}

// startVersionedTo does the same with a schema after those of the files.
func startVersionedTo(t *testing.T, database string, files []string, newest *schema.Schema, seed func(s *server, version int), change ...func(*plural.Config)) *server {
	t.Helper()
	migrate := func(to *schema.Schema) {
		if _, err := admin.Migrate(t.Context(), database, to, admin.MigrateOptions{AllowLoss: true}); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range files {
		file := parsed(t, text)
		if i > 0 {
			migrate(file.Schema)
		}
		s := start(t, file.Schema, database)
		seed(s, i+1)
		stop(t, s.opened, context.Background())
	}
	migrate(newest)
	return start(t, newest, database, change...)
}

// seedVersion has a client of version 1 create a client with an order, and one of version 2 a customer with an order that has a label.
func seedVersion(s *server, version int) {
	s.t.Helper()
	switch version {
	case 1:
		s.createAll("/clients", fmt.Sprintf(`{"id":"%s","name":"Ann","mail":"ann@example.com","fax":"11","rating":5}`, id(1)))
		s.createAll("/clients/"+id(1)+"/orders", fmt.Sprintf(`{"id":"%s","code":"a1","amount":1}`, id(11)))
	case 2:
		s.createAll("/customers", fmt.Sprintf(`{"id":"%s","name":"Bob","email":"bob@example.com","state":"blocked","referrer_id":"%s","phone":"22"}`, id(2), id(1)))
		s.createAll("/labels", fmt.Sprintf(`{"id":"%s","text":"red"}`, id(21)))
		s.createAll("/customers/"+id(2)+"/orders", fmt.Sprintf(`{"id":"%s","code":"b1","quantity":2,"label_id":"%s"}`, id(12), id(21)))
	}
}

// version is the server for a client of a version, whose requests have API-Version.
func (s *server) version(number int) *server {
	client := *s
	client.headers = append(s.headers[:len(s.headers):len(s.headers)], "API-Version", strconv.Itoa(number))
	return &client
}

// customerNames are what versions call the attributes of a customer, in one order. Empty: they do not have it.
var customerNames = map[int][]string{
	1: {"name", "mail", "state", "fax", "rating", "note", "referrer_id", "", ""},
	2: {"name", "email", "state", "", "rating", "note", "referrer_id", "phone", ""},
	3: {"company", "email", "state", "", "rating", "note", "referrer_id", "", "vip"},
}

// unchecked is the server for requests that are not compared with its document: see checkers.
func (s *server) unchecked() *server {
	client := *s
	client.base = strings.Replace(s.base, "127.0.0.1", "localhost", 1)
	return &client
}

// customerIn is the representation of a customer as a version shows it, from the values of all attributes in JSON, in the order of
// customerNames.
func customerIn(version int, position int, values ...any) string {
	text := fmt.Sprintf(`{"id":"%s","type":"%s"`, id(position), peopleOf[version])
	for i, name := range customerNames[version] {
		if name != "" {
			text += fmt.Sprintf(`,"%s":%v`, name, values[i])
		}
	}
	return text + `,"created_at":"TIME","updated_at":"TIME"}`
}

// peopleOf and labelsOf are what versions call the collections of the shop. Empty: they do not have it.
var (
	peopleOf = map[int]string{1: "clients", 2: "customers", 3: "customers"}
	labelsOf = map[int]string{1: "", 2: "labels", 3: "tags"}
)
