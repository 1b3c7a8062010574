// Command northwind writes the rows of a trading company as CSV files: customers, products, orders and
// what belongs to them. They are made up, and the same in every run. plural.yaml declares the collections,
// and docs/northwind.md imports the files and asks questions about them.
//
//	go run ./examples/northwind
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	for name, text := range files() {
		if err := os.WriteFile(filepath.Join("examples", "northwind", name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
}

// dice are random numbers that are the same in every run, by the linear congruential generator of
// Knuth's MMIX.
type dice uint64

// roll is a number from 0 to sides-1.
func (d *dice) roll(sides int) int {
	*d = *d*6364136223846793005 + 1442695040888963407
	return int(uint64(*d) >> 33 % uint64(sides)) // #nosec G115 -- it is below sides
}

// cents is an amount of money.
type cents int64

func (c cents) String() string { return fmt.Sprintf("%d.%02d", c/100, c%100) }

type product struct {
	name  string
	price cents
}

const (
	firstOrder = 10_000
	orders     = 400
)

// files are the CSV files by name.
func files() map[string]string {
	var d dice
	tables := map[string]*table{
		"categories.csv": newTable("name", "description"),
		"suppliers.csv":  newTable("name", "country", "city"),
		"employees.csv":  newTable("Name", "Email", "Title", "Reports To"),
		"customers.csv":  newTable("code", "name", "country", "city"),
		"products.csv":   newTable("name", "Category", "Supplier", "price", "discontinued"),
		"orders.csv":     newTable("number", "Customer", "Employee", "ordered_at", "shipped_at", "total"),
		"lines.csv":      newTable("Order", "Product", "quantity", "price", "amount"),
	}
	for _, each := range suppliers {
		tables["suppliers.csv"].add(each.name, each.country, each.city)
	}
	for _, each := range employees {
		tables["employees.csv"].add(each.name, each.email, each.title, each.manager)
	}
	var products []product
	for _, category := range categories {
		tables["categories.csv"].add(category.name, category.description)
		for _, name := range category.products {
			each := product{name, cents(200 + 25*d.roll(160))}
			products = append(products, each)
			tables["products.csv"].add(name, category.name, suppliers[d.roll(len(suppliers))].name, each.price, d.roll(10) == 0)
		}
	}
	codes := writeCustomers(tables["customers.csv"])
	ordered := time.Date(2025, 1, 2, 8, 0, 0, 0, time.UTC)
	for n := range orders {
		ordered = ordered.Add(time.Duration(60*(1+d.roll(40))+d.roll(60)) * time.Minute)
		shipped := ""
		if d.roll(20) > 0 {
			shipped = ordered.Add(time.Duration(1+d.roll(200)) * time.Hour).Format(time.RFC3339)
		}
		total := writeLines(tables["lines.csv"], &d, firstOrder+n, products)
		tables["orders.csv"].add(firstOrder+n, codes[d.roll(len(codes))], employees[d.roll(len(employees))].email, ordered.Format(time.RFC3339), shipped, total)
	}
	texts := map[string]string{}
	for name, each := range tables {
		texts[name] = each.text
	}
	return texts
}

// writeCustomers writes a customer for each name in each city, and returns their codes.
func writeCustomers(t *table) (codes []string) {
	for _, place := range places {
		for _, city := range place.cities {
			for _, form := range place.names {
				name := fmt.Sprintf(form, city)
				letters := strings.ToUpper(strings.Map(func(c rune) rune {
					if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
						return c
					}
					return -1
				}, name+place.country))
				code := letters[:5]
				for end := 5; slices.Contains(codes, code); end++ {
					code = letters[:4] + letters[end:end+1]
				}
				codes = append(codes, code)
				t.add(code, name, place.country, city)
			}
		}
	}
	return codes
}

// writeLines writes the lines of an order, with different products, and returns what they cost together.
func writeLines(t *table, d *dice, order int, products []product) (total cents) {
	var chosen []int
	for range 1 + d.roll(5) {
		if at := d.roll(len(products)); !slices.Contains(chosen, at) {
			chosen = append(chosen, at)
		}
	}
	for _, at := range chosen {
		quantity := 1 + d.roll(30)
		amount := cents(quantity) * products[at].price
		total += amount
		t.add(order, products[at].name, quantity, products[at].price, amount)
	}
	return total
}

// table is the text of a CSV file.
type table struct{ text string }

func newTable(columns ...any) *table {
	t := &table{}
	t.add(columns...)
	return t
}

// add adds a row. No cell needs quotes.
func (t *table) add(cells ...any) {
	texts := make([]string, len(cells))
	for i, each := range cells {
		texts[i] = fmt.Sprint(each)
	}
	t.text += strings.Join(texts, ",") + "\n"
}
