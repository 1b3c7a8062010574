package openapi

import (
	"fmt"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// ofMany is a schema of so many collections with 18 attributes, each below another one.
func ofMany(t *testing.T, count int) *model.Schema {
	t.Helper()
	var all []model.Collection
	for i := range count {
		c := model.Collection{Name: fmt.Sprintf("records_%d", i), Singular: fmt.Sprintf("record_%d", i), Label: "name"}
		c.Attributes = append(c.Attributes, model.Attribute{Name: "name", Type: model.String, Required: true})
		for j := range 4 {
			c.Attributes = append(c.Attributes,
				model.Attribute{Name: fmt.Sprintf("text_%d", j), Type: model.String},
				model.Attribute{Name: fmt.Sprintf("number_%d", j), Type: model.Integer},
				model.Attribute{Name: fmt.Sprintf("price_%d", j), Type: model.String, Format: model.Decimal, Scale: 2},
				model.Attribute{Name: fmt.Sprintf("at_%d", j), Type: model.String, Format: model.DateTime})
		}
		if i > 0 {
			to := fmt.Sprintf("records_%d", i/2)
			c.Attributes = append(c.Attributes, model.Attribute{Name: "parent_id", Type: model.String, Format: model.UUID, References: &model.Reference{Collection: to}})
			c.Parent = &model.Parent{Collection: to}
		}
		all = append(all, c)
	}
	s, err := compile.Schema(all...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSizeOfDocument: a collection adds a fixed number of bytes, however many there are.
func TestSizeOfDocument(t *testing.T) {
	small, large := len(Document(ofMany(t, 40), options)), len(Document(ofMany(t, 80), options))
	each := (large - small) / 40
	t.Logf("%d bytes, %d of each collection", large, each)
	if most := 150_000; each > most {
		t.Errorf("each collection adds %d bytes, which should be at most %d", each, most)
	}
	if large > small*2+small/20 {
		t.Errorf("40 collections have %d bytes, and 80 have %d", small, large)
	}
}

// TestWithoutIncludes: no schema refers to that of another collection.
func TestWithoutIncludes(t *testing.T) {
	without := options
	without.NoIncludes = true
	refersToUser := func(document []byte) bool {
		found := false
		walk(at(decoded(t, document), "components", "schemas", "Post"), nil, func(_ []string, object map[string]any) {
			found = found || object["$ref"] == "#/components/schemas/User"
		})
		return found
	}
	if !refersToUser(Document((*model.Schema)(schema.Example()), options)) {
		t.Fatal("the schema of posts does not refer to that of users, so that nothing is left out")
	}
	if refersToUser(Document((*model.Schema)(schema.Example()), without)) {
		t.Error("the schema of posts refers to that of users")
	}
}
