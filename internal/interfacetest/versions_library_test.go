package interfacetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// guest is declared by a struct, whose field Fax only version 1 has.
type guest struct {
	_    struct{} `plural:"name=guests"`
	ID   string   `json:"id,omitempty"`
	Name string   `json:"name" plural:"maxLength=20"`
	Fax  *string  `json:"fax" plural:"until=1"`
	Vip  *bool    `json:"vip,omitempty" plural:"default=false"`
}

// TestLibraryOfVersions: the program has the newest version, whatever the clients have.
func TestLibraryOfVersions(t *testing.T) {
	first := `
version: 1
collections:
  visitors:
    timestamps: false
    attributes:
      label: {type: string, maxLength: 5}
      fax: {type: string}
    required: [label]
`
	eachDatabase(t, func(t *testing.T, database string) {
		declared, err := schema.Of[guest]()
		if err != nil {
			t.Fatal(err)
		}
		declared.RenamedFrom = "visitors"
		for i := range declared.Attributes {
			if declared.Attributes[i].Name == "name" {
				declared.Attributes[i].RenamedFrom = "label"
			}
		}
		newest, err := schema.Versioned(schema.Versions{Newest: 2}, declared)
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		hook := plural.Hook{Collection: "guests", Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
			if change.After != nil {
				text, err := change.After.MarshalJSON()
				seen = append(seen, string(text))
				return err
			}
			return nil
		}}
		s := startVersionedTo(t, database, []string{first}, newest, func(s *server, _ int) {
			s.createAll("/visitors", fmt.Sprintf(`{"id":"%s","label":"Ann","fax":"11"}`, id(1)))
		}, withHooks(hook))
		guests := of[guest](t, s.opened)
		ann, err := guests.Get(t.Context(), id(1))
		if err != nil || ann.Name != "Ann" || ann.Fax != nil || *ann.Vip {
			t.Errorf("got %+v, %v", ann, err)
		}
		// The field that the version does not have is not sent, and stays.
		other, yes := "12", true
		if ann, err = guests.Replace(t.Context(), id(1), guest{Name: "Ann and Bob", Fax: &other, Vip: &yes}); err != nil || ann.Name != "Ann and Bob" || ann.Fax != nil || !*ann.Vip {
			t.Errorf("got %+v, %v", ann, err)
		}
		made, err := guests.Create(t.Context(), guest{ID: id(2), Name: "Cleo", Fax: &other})
		if err != nil || made.Fax != nil {
			t.Errorf("got %+v, %v", made, err)
		}
		if _, err := guests.Update(t.Context(), id(1), map[string]any{"fax": "13"}); err == nil || err.Error() != "unknown_attribute at /fax: The collection guests has no attribute of this name." {
			t.Errorf("got %v", err)
		}
		trial, err := guests.DryRun().Delete(t.Context(), id(2))
		if err != nil || fmt.Sprint(trial.Affected) != "map[guests:1]" {
			t.Errorf("got %v, %v", trial.Affected, err)
		}
		err = s.opened.Transaction(t.Context(), func(_ context.Context, tx *plural.Tx) error {
			_, err := tx.Update("guests", id(2), map[string]any{"name": "Cleopatra"})
			return err
		})
		if err != nil {
			t.Error(err)
		}
		s.version(1).get("/visitors").expect(t, 200, data(
			fmt.Sprintf(`{"id":"%s","type":"visitors","label":"Ann and Bob","fax":"11"}`, id(1)),
			fmt.Sprintf(`{"id":"%s","type":"visitors","label":"Cleopatra","fax":null}`, id(2))))
		if want := `{"id":"` + id(1) + `","type":"guests","name":"Ann and Bob","vip":true}`; len(seen) == 0 || seen[0] != want {
			t.Errorf("the hook got %q", seen)
		}
	})
}

// TestVersionsAccept: what hooks set and what is stored already is no concern of the constraints of a version.
func TestVersionsAccept(t *testing.T) {
	before := func(_ context.Context, change *plural.Change) error {
		if change.After != nil && change.After.Get("note") == "wide" {
			return change.After.Set("rating", 10)
		}
		return nil
	}
	within := func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
		if change.After != nil && change.After.Get("note") == "wide" {
			return change.After.Set("state", "gone")
		}
		return nil
	}
	eachVersioned(t, func(t *testing.T, s *server) {
		old := s.version(1).unchecked() // its document has the constraints of the version only
		want := one(customerIn(1, 31, `"Cleo"`, "null", `"gone"`, "null", 10, `"wide"`, "null", "", ""))
		old.do("POST", "/clients", `{"id":"`+id(31)+`","name":"Cleo","note":"wide"}`).expect(t, 201, want)
		old.do("PATCH", "/clients/"+id(31), `{"name":"Cleo","note":"wide","state":"gone","rating":10}`).expect(t, 200, want)
		old.do("PATCH", "/clients/"+id(31), `{"rating":9}`).expectErrors(t, 422, "maximum /rating")
		old.do("POST", "/clients?on_conflict=id", `[{"id":"`+id(31)+`","name":"Cleo","rating":10},{"id":"`+id(32)+`","name":"Dan","rating":10}]`).expectErrors(t, 422, "maximum /1/rating")
		old.do("PATCH", "/clients?filter[name]=Cleo", `{"note":"wide","rating":10}`).expect(t, 200, `{"data":[`+want[len(`{"data":`):len(want)-1]+`]}`)
	}, withHooks(plural.Hook{Collection: "customers", Before: before, Within: within}))
}
