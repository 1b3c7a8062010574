package main

import (
	"os"
	"path/filepath"
	"testing"
)

const ordersWithRules = `
collections:
  orders:
    attributes:
      price: {type: string, format: decimal, scale: 2}
      quantity: {type: integer}
      total: {type: string, format: decimal, scale: 2, computed: resource.price * resource.quantity}
      by: {type: string, computed: auth.sub, when: create}
      sold_at: {type: string, format: date-time, computed: now}
    checks:
      - {rule: resource.quantity > 0, message: An order needs something., attribute: quantity}
`

// TestImportWithRules: computed attributes of the file are ignored, and a message says so. --keep-timestamps keeps what only the
// write could compute, whatever the file has for the others.
func TestImportWithRules(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("plural.yaml", ordersWithRules)
	expect := func(want string, status int, args ...string) {
		t.Helper()
		if out, got := exits(t, dir, "", nil, args...); out != want || got != status {
			t.Errorf("%v: status %d, got\n%s", args, got, out)
		}
	}
	write("orders.csv", "price,quantity,total,sold_at\n1.50,2,9.99,2020-01-01T00:00:00Z\n2,0,,\n3,1,,\n")
	expect("line 3: quantity 0: An order needs something.\nImported 2 rows into plural.db.\nComputed attributes of the file were ignored: sold_at, total.\nplural: 1 row skipped, as reported above\n", 3, "import", "orders", "orders.csv", "--on-error=skip")
	write("orders.ndjson", `{"id":"00000000-0000-7000-8000-000000000001","price":"1.50","quantity":2,"total":"9.99","by":"anna","created_at":"2020-01-01T00:00:00.000Z","sold_at":"2020-01-02T00:00:00.000Z"}`+"\n"+
		`{"id":"00000000-0000-7000-8000-000000000002","price":"1.00","quantity":1,"created_at":"2020-01-01T00:00:00.000Z","by":null,"sold_at":null}`+"\n")
	expect("Imported 2 rows into plural.db.\nComputed attributes of the file were ignored: total.\n", 0, "import", "orders", "orders.ndjson", "--keep-timestamps")
	expect(`{"id":"00000000-0000-7000-8000-000000000001","type":"orders","price":"1.50","quantity":2,"total":"3.00","by":"anna","sold_at":"2020-01-02T00:00:00.000Z"}`+"\n"+
		`{"id":"00000000-0000-7000-8000-000000000002","type":"orders","price":"1.00","quantity":1,"total":"1.00","by":null,"sold_at":null}`+"\nExported 2 rows.\n", 0,
		"export", "orders", "--query=filter[created_at][lt]=2021-01-01T00:00:00Z&sort=-price&fields=price,quantity,total,by,sold_at")
	expect("plural: --set total=1: total is computed by the server\n", 1, "import", "orders", "orders.csv", "--set", "total=1")
}
