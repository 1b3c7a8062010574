package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/move"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestFiles: the files in the repository are those that the program writes.
func TestFiles(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the program writes: go run ./examples/northwind", name)
		}
	}
}

// imports are the files in the order in which they can be imported, with the options of docs/northwind.md.
var imports = []struct {
	collection string
	mapping    []string
}{
	{"categories", nil},
	{"suppliers", nil},
	{"employees", []string{"name=Name", "email=Email", "title=Title", "manager_id=@email:Reports To"}},
	{"customers", nil},
	{"products", []string{"category_id=@name:Category", "supplier_id=@name:Supplier"}},
	{"orders", []string{"customer_id=@code:Customer", "employee_id=@email:Employee"}},
	{"lines", []string{"order_id=@number:Order", "product_id=@name:Product"}},
}

// company is a server with all rows.
type company struct {
	t      *testing.T
	client *client.Client
}

func newCompany(t *testing.T, database string) *company {
	t.Helper()
	text, err := os.ReadFile("plural.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	server, err := plural.Open(ctx, plural.Config{Schema: file.Schema, Database: database, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(func() {
		front.Close()
		if err := server.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	c := &company{t: t}
	if c.client, err = client.New(front.URL, client.Options{}); err != nil {
		t.Fatal(err)
	}
	all, err := c.client.Collections(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range imports {
		at := slices.IndexFunc(all, func(d client.Description) bool { return d.Name == each.collection })
		c.load(all[at], each.mapping)
	}
	return c
}

// load imports a file.
func (c *company) load(collection client.Description, mapping []string) {
	c.t.Helper()
	ctx := context.Background()
	columns := move.ColumnsOf(collection.Attributes)
	if err := columns.Map(ctx, c.client, collection, move.Mapping{Columns: mapping}); err != nil {
		c.t.Fatal(err)
	}
	text := files()[collection.Name+".csv"]
	rows, err := move.NewReader(strings.NewReader(text), move.CSV, columns)
	if err != nil {
		c.t.Fatal(err)
	}
	run := &move.Import{Client: c.client, Collection: collection, Rows: rows, Columns: columns, OnError: move.StopOnError, OnConflict: move.FailOnConflict,
		Bad: func(row move.Row, reason string) { c.t.Errorf("%s: line %d: %s", collection.Name, row.Line, reason) }}
	done, err := run.Run(ctx)
	if count := int64(strings.Count(text, "\n") - 1); err != nil || done.Created != count {
		c.t.Fatalf("%s: %d of %d rows were imported: %v", collection.Name, done.Created, count, err)
	}
}

// get is the data of a response.
func (c *company) get(path, query string) json.RawMessage {
	c.t.Helper()
	answer, err := c.client.Do(context.Background(), client.Request{Method: "GET", Path: path, Query: query})
	if err != nil {
		c.t.Fatal(err)
	}
	var envelope struct{ Data json.RawMessage }
	if err := json.Unmarshal(answer.Body, &envelope); err != nil {
		c.t.Fatal(err)
	}
	return envelope.Data
}

// item is a resource: as it is written, and what the test needs of it.
type item struct {
	text                                string
	ID, Name, Country, Total, OrderedAt string
	Customer, Order, Product            string // ids
}

// all are the resources of a collection in order.
func (c *company) all(collection string) []item {
	c.t.Helper()
	var texts []json.RawMessage
	if err := json.Unmarshal(c.get("/"+collection, "limit=100000"), &texts); err != nil {
		c.t.Fatal(err)
	}
	items := make([]item, len(texts))
	for i, text := range texts {
		var members map[string]any
		if err := json.Unmarshal(text, &members); err != nil {
			c.t.Fatal(err)
		}
		member := func(name string) string { text, _ := members[name].(string); return text }
		items[i] = item{text: string(text), ID: member("id"), Name: member("name"), Country: member("country"), Total: member("total"),
			Customer: member("customer_id"), Order: member("order_id"), Product: member("product_id"), OrderedAt: member("ordered_at")}
	}
	return items
}

func byID(items []item) map[string]item {
	found := map[string]item{}
	for _, each := range items {
		found[each.ID] = each
	}
	return found
}

const selection = "filter[customer.country]=Germany&filter[lines.product.name][contains]=Chai"

var (
	question = regexp.MustCompile(`(?m)^\$ curl (?:-g )?'localhost:8080(/[^'?]*)\?([^']*)'\n((?:[^$` + "`" + `].*\n)+)`)
	anyID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// TestQuestions: the answers to the further questions of docs/northwind.md, except for ids, are those of each database.
func TestQuestions(t *testing.T) {
	page, err := os.ReadFile("../../docs/northwind.md")
	if err != nil {
		t.Fatal(err)
	}
	_, further, found := strings.Cut(string(page), "\n## More questions\n")
	questions := question.FindAllStringSubmatch(further, -1)
	if !found || len(questions) != strings.Count(further, "\n$ curl ") || len(questions) < 13 {
		t.Fatalf("%d questions were found", len(questions))
	}
	for database, open := range pgtest.Databases() {
		t.Run(database, func(t *testing.T) {
			c := newCompany(t, open(t))
			for _, each := range questions {
				var want struct{ Data any }
				if err := json.Unmarshal([]byte(each[3]), &want); err != nil {
					t.Fatalf("%s: %v", each[2], err)
				}
				var got any
				if err := json.Unmarshal(anyID.ReplaceAll(c.get(each[1], each[2]), []byte("…")), &got); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want.Data) {
					t.Errorf("%s?%s\ngot  %v\nwant %v", each[1], each[2], got, want.Data)
				}
			}
		})
	}
}

// TestTwoRequests: orders of German customers that contain a product named like Chai, newest first, with
// customer, lines and products, and their sum by month, are two requests. Their whole responses are what
// nested loops over all resources find.
func TestTwoRequests(t *testing.T) {
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			c := newCompany(t, database(t))
			orders, sums := c.naive()
			if got := string(c.get("/orders", selection+"&sort=-ordered_at&include=customer,lines,lines.product&limit=1000")); got != orders {
				t.Errorf("got\n%s\nwant\n%s", got, orders)
			}
			got := string(c.get("/-/groups/orders", selection+"&by=ordered_at:month&sum=total"))
			if got = regexp.MustCompile(`"id":"[^"]*",`).ReplaceAllString(got, ""); got != sums {
				t.Errorf("got\n%s\nwant\n%s", got, sums)
			}
			if want := sumsOfFiles(t); sums != want {
				t.Errorf("the rows on the server give\n%s\nand those of the files\n%s", sums, want)
			}
		})
	}
}

// naive computes both responses from all resources.
func (c *company) naive() (orders, sums string) {
	c.t.Helper()
	customers, products, lines := byID(c.all("customers")), byID(c.all("products")), c.all("lines")
	var selected []item
	months := monthly{}
	for _, order := range c.all("orders") {
		hasChai := slices.ContainsFunc(lines, func(line item) bool {
			return line.Order == order.ID && strings.Contains(products[line.Product].Name, "Chai")
		})
		if customers[order.Customer].Country == "Germany" && hasChai {
			selected = append(selected, order)
			months.add(order.OrderedAt, order.Total)
		}
	}
	if len(selected) < 10 || len(months) < 3 {
		c.t.Fatalf("only %d orders in %d months are selected", len(selected), len(months))
	}
	slices.SortStableFunc(selected, func(a, b item) int { return strings.Compare(b.OrderedAt, a.OrderedAt) })
	var texts []string
	for _, order := range selected {
		var embedded []string
		for _, line := range lines {
			if line.Order == order.ID {
				embedded = append(embedded, with(line.text, "product", products[line.Product].text))
			}
		}
		texts = append(texts, with(with(order.text, "customer", customers[order.Customer].text), "lines", "["+strings.Join(embedded, ",")+"]"))
	}
	return "[" + strings.Join(texts, ",") + "]", months.String()
}

// with appends a member to an object.
func with(object, name, value string) string {
	return strings.TrimSuffix(object, "}") + fmt.Sprintf(`,%q:%s}`, name, value)
}

// monthly is the count and the sum of orders by month.
type monthly map[string]*struct {
	count int
	sum   big.Rat
}

func (m monthly) add(at, total string) {
	month := at[:len("2025-01")]
	if m[month] == nil {
		m[month] = &struct {
			count int
			sum   big.Rat
		}{}
	}
	amount, _ := new(big.Rat).SetString(total)
	m[month].count++
	m[month].sum.Add(&m[month].sum, amount)
}

// String is the response without ids.
func (m monthly) String() string {
	var groups []string
	for month, each := range m {
		groups = append(groups, fmt.Sprintf(`{"type":"groups","by":{"ordered_at:month":"%s-01T00:00:00.000Z"},"count":%d,"sum":{"total":"%s"}}`, month, each.count, each.sum.FloatString(2)))
	}
	slices.SortFunc(groups, func(a, b string) int {
		return strings.Compare(a[strings.Index(a, `"by"`):], b[strings.Index(b, `"by"`):])
	})
	return "[" + strings.Join(groups, ",") + "]"
}

// sumsOfFiles computes the sums from the files.
func sumsOfFiles(t *testing.T) string {
	t.Helper()
	read := func(name string) [][]string {
		rows, err := csv.NewReader(bytes.NewReader([]byte(files()[name]))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows[1:]
	}
	german, hasChai, months := map[string]bool{}, map[string]bool{}, monthly{}
	for _, row := range read("customers.csv") {
		german[row[0]] = row[2] == "Germany"
	}
	for _, row := range read("lines.csv") {
		hasChai[row[0]] = hasChai[row[0]] || strings.Contains(row[1], "Chai")
	}
	for _, row := range read("orders.csv") {
		if german[row[1]] && hasChai[row[0]] {
			months.add(row[3], row[5])
		}
	}
	return months.String()
}
