package query

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// TestHints: what other interfaces understand says what to write here, and what it says is right.
func TestHints(t *testing.T) {
	for raw, want := range map[string]string{
		"sort=integer:desc":          "To sort downwards, write -integer.",
		"sort=integer+desc":          "To sort downwards, write -integer.",
		"sort=integer.DESC":          "To sort downwards, write -integer.",
		"sort=desc(integer)":         "To sort downwards, write -integer.",
		"sort=integer:asc":           "To sort upwards, write integer.",
		"sort=%2Binteger":            "To sort upwards, write integer.",
		"sort=integr":                "Did you mean integer?",
		"sort=integer:sideways":      "",
		"sort=wholly:else":           "",
		"filter[integer]=%3E3":       "Write filter[integer][gt]=3.",
		"filter[integer]=>=3":        "Write filter[integer][gte]=3.",
		"filter[integer]=<+3":        "Write filter[integer][lt]=3.",
		"filter[integer]=!=3":        "Write filter[integer][ne]=3.",
		"filter[integer]=gte:3":      "Write filter[integer][gte]=3.",
		"filter[integer]=min:3":      "Write filter[integer][gte]=3.",
		"filter[integer]=1..5":       "Write filter[integer][gte]=1&filter[integer][lte]=5.",
		"filter[integer]=1,2":        "For any of several values, write filter[integer][in]=1,2.",
		"filter[integer]=NULL":       "Write filter[integer][null]=true.",
		"filter[date]=>2026-01-01":   "Write filter[date][gt]=2026-01-01.",
		"filter[integer]=few":        "",
		"filter[integer][min]=3":     "Use gte.",
		"filter[text][like]=x":       "Use contains, which distinguishes upper and lower case, or search, which does not.",
		"filter[text][startsWith]=x": "Use starts_with, which distinguishes upper and lower case, or search, which does not.",
		"filter[text][contians]=x":   "Did you mean contains?",
		"filter[intger]=3":           "Did you mean integer?",
		"filter[colour]=3":           "",
		"page=3":                     "The third page of 30 is offset=60&limit=30.",
		"per_page=30":                "Use limit, such as limit=30.",
		"$skip=3":                    "Use offset, such as offset=60.",
		"orderBy=integer":            "Use sort, with a minus to sort downwards: sort=-created_at,name.",
		"filter=integer":             "Write the field in brackets: filter[field]=value, or filter[field][operator]=value.",
		"boolean=true":               "To filter by boolean, write filter[boolean].",
		"integer[gte]=3":             "To filter by integer, write filter[integer][gte].",
		"filter.integer=3":           "To filter by integer, write filter[integer].",
		"limt=3":                     "Did you mean limit?",
		"nonsense=3":                 "",
		strings.Repeat("x", 5000):    "",
		"filter[integer]=" + strings.Repeat("1,", 500) + "x": "",
	} {
		_, err := Parse(OfList, things, raw, limits)
		var faults problem.Errors
		if !errors.As(err, &faults) || len(faults) != 1 {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		got := faults[0].Detail
		if hinted := slices.ContainsFunc([]string{" write ", "Write the", "Write filter", "Use ", "Did you", "third page"}, func(word string) bool { return strings.Contains(got, word) }); !strings.HasSuffix(got, want) || hinted != (want != "") {
			t.Errorf("%s\ngot  %s\nwant … %s", raw, got, want)
		}
		if _, written, found := strings.Cut(want, "rite filter[integer]["); found {
			if _, err := Parse(OfList, things, "filter[integer]["+strings.TrimSuffix(written, "."), limits); err != nil && strings.Contains(written, "=") {
				t.Errorf("%s is not right either: %v", want, err)
			}
		}
	}
	// What the caller may not see is not suggested.
	visible := make(model.ColumnSet, len(things.Columns()))
	_, err := Parse(OfList, things, "sort=integr", Limits{DefaultLimit: 1, Visible: visible})
	if err == nil || strings.Contains(err.Error(), "integer") {
		t.Errorf("got %v", err)
	}
}

// TestHintOfARelationInFields: the column of a relation to many is one of the other collection, which may have more columns.
func TestHintOfARelationInFields(t *testing.T) {
	s, err := compile.Schema(
		model.Collection{Name: "people", NoTimestamps: true},
		model.Collection{Name: "posts", Attributes: []model.Attribute{
			{Name: "a", Type: model.String}, {Name: "b", Type: model.String},
			{Name: "person_id", Type: model.String, References: &model.Reference{Collection: "people"}, Inverse: "posts"},
		}})
	if err != nil {
		t.Fatal(err)
	}
	people, posts := s.Collection("people"), s.Collection("posts")
	for c, want := range map[*model.Collection]string{
		people: `The collection people has no attribute "posts".`,
		posts:  `The collection posts has no attribute "person". To get the resource that it refers to, write include=person.`,
	} {
		visible := make(model.ColumnSet, len(c.Columns()))
		for i := range visible {
			visible[i] = true
		}
		_, err := Parse(OfList, c, "fields="+map[*model.Collection]string{people: "posts", posts: "person"}[c], Limits{DefaultLimit: 1, Visible: visible})
		if faults, _ := err.(problem.Errors); len(faults) != 1 || faults[0].Detail != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
