package interfacetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// graph declares references of every kind: folders in folders, lefts and rights
// that refer to each other, and owners of things that refer to further things.
func graph(t *testing.T) *schema.Schema {
	plain := func(name string, attributes ...schema.Attribute) schema.Collection {
		return schema.Collection{Name: name, NoTimestamps: true, Attributes: attributes}
	}
	folders := plain("folders", schema.Attribute{Name: "name", Type: schema.String})
	folders.Parent = &schema.Parent{Collection: "folders", OnDelete: schema.Cascade}
	locked := reference("owner_id", "owners", schema.Restrict)
	locked.Required = true
	return mustSchema(t,
		folders,
		plain("lefts", reference("right_id", "rights", schema.Cascade)),
		plain("rights", reference("left_id", "lefts", schema.Cascade)),
		plain("owners"),
		plain("locks", locked),
		plain("notes", reference("owner_id", "owners", schema.SetNull), reference("second_id", "owners", schema.SetNull)),
		plain("cars", reference("owner_id", "owners", schema.Cascade)),
		plain("wheels", reference("car_id", "cars", schema.Restrict), reference("owner_id", "owners", schema.Cascade)),
		plain("stickers", reference("car_id", "cars", schema.SetNull)),
		plain("chains", reference("next_id", "chains", schema.Restrict)),
		plain("twigs", reference("owner_id", "owners", schema.Cascade), reference("twig_id", "twigs", schema.Cascade)),
	)
}

// with is the body of a resource at a position with references to others.
func with(position int, references ...any) string {
	body := `{"id":"` + id(position) + `"`
	for i := 0; i < len(references); i += 2 {
		body += fmt.Sprintf(`,"%s":"%s"`, references[i], id(references[i+1].(int)))
	}
	return body + `}`
}

func TestUnknownReference(t *testing.T) {
	eachStore(t, graph(t), func(t *testing.T, s *server) {
		s.createAll("/owners", with(0))
		s.createAll("/notes", with(0))
		s.expectRefusal(t, "POST", "/locks", with(1, "owner_id", 9), 422, "unknown_reference /owner_id")
		s.expectRefusal(t, "POST", "/notes", with(1, "owner_id", 8, "second_id", 9), 422, "unknown_reference /owner_id", "unknown_reference /second_id")
		s.expectRefusal(t, "POST", "/notes", `[`+with(1)+`,`+with(2, "second_id", 9)+`,`+with(3, "owner_id", 9)+`]`, 422, "unknown_reference /1/second_id", "unknown_reference /2/owner_id")
		s.expectRefusal(t, "PUT", "/notes/"+id(0), with(0, "owner_id", 0, "second_id", 9), 422, "unknown_reference /second_id")
		s.expectRefusal(t, "PATCH", "/notes/"+id(0), with(0, "owner_id", 9), 422, "unknown_reference /owner_id")
		s.expectRefusal(t, "PATCH", "/notes/"+id(0), `{"owner_id":"x"}`, 422, "format /owner_id")
		s.expectRefusal(t, "POST", "/locks", `{"owner_id":null}`, 422, "required /owner_id")
		s.get("/locks").expect(t, 200, data())
		s.get("/notes").expect(t, 200, data(`{"id":"`+id(0)+`","type":"notes","owner_id":null,"second_id":null}`))
		// Upper case is another way to write the same id.
		s.createAll("/owners", `{"id":"abcdefab-cdef-4abc-8def-abcdefabcdef"}`)
		s.do("PATCH", "/notes/"+id(0), `{"owner_id":"ABCDEFAB-CDEF-4ABC-8DEF-ABCDEFABCDEF"}`).expect(t, 200,
			`{"data":{"id":"`+id(0)+`","type":"notes","owner_id":"abcdefab-cdef-4abc-8def-abcdefabcdef","second_id":null}}`)
	})
}

// TestReferencesWithinAnArray: an item can refer to any other of its array,
// before or behind it, and to itself.
func TestReferencesWithinAnArray(t *testing.T) {
	eachStore(t, graph(t), func(t *testing.T, s *server) {
		folder := func(position int, parent string) string {
			return `{"id":"` + id(position) + `","type":"folders","name":null,"folder_id":` + parent + `}`
		}
		s.do("POST", "/folders", `[`+with(0)+`,`+with(1, "folder_id", 0)+`,`+with(2, "folder_id", 3)+`,`+with(3, "folder_id", 1)+`,`+with(4, "folder_id", 4)+`,`+with(5, "folder_id", 6)+`,`+with(6, "folder_id", 5)+`]`).expect(t, 201, data(
			folder(0, "null"), folder(1, quoted(id(0))), folder(2, quoted(id(3))), folder(3, quoted(id(1))), folder(4, quoted(id(4))), folder(5, quoted(id(6))), folder(6, quoted(id(5)))))
		s.get("/folders/"+id(0)+"/folders").expectPositions(t, "in folder 0", 1)
		s.get("/folders/"+id(4)+"/folders").expectPositions(t, "in folder 4", 4)
		s.expectRefusal(t, "POST", "/folders", `[`+with(7, "folder_id", 8)+`,`+with(8, "folder_id", 9)+`]`, 422, "unknown_reference /1/folder_id")
		if total := s.get("/folders?limit=0").total(); total != "7" {
			t.Errorf("the total is %s", total)
		}
	})
}

func TestRestrict(t *testing.T) {
	eachStore(t, graph(t), func(t *testing.T, s *server) {
		s.createAll("/owners", with(0), with(1))
		s.createAll("/locks", with(0, "owner_id", 0), with(1, "owner_id", 0))
		s.do("DELETE", "/owners/"+id(0), "").expectErrors(t, 409, "referenced")
		s.do("DELETE", "/owners/"+id(1), "").expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"owners"}}`)
		s.do("DELETE", "/locks/"+id(0), "").expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"locks","owner_id":"`+id(0)+`"}}`)
		s.do("DELETE", "/owners/"+id(0), "").expectErrors(t, 409, "referenced")
		s.get("/owners").expectPositions(t, "owners", 0)
		s.do("DELETE", "/locks/"+id(1), "")
		s.do("DELETE", "/owners/"+id(0), "").expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"owners"}}`)
		s.get("/owners").expect(t, 200, data())
		// What refers to itself keeps nobody but others away.
		s.createAll("/chains", with(0, "next_id", 0), with(1, "next_id", 0))
		s.do("DELETE", "/chains/"+id(0), "").expectErrors(t, 409, "referenced")
		s.do("DELETE", "/chains/"+id(1), "").expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"chains","next_id":"`+id(0)+`"}}`)
		s.do("DELETE", "/chains/"+id(0), "").expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"chains","next_id":"`+id(0)+`"}}`)
	})
}

// TestRestrictIsReportedInOrder: what cascades is reported in the order of the ids, in whichever order the database finds it.
func TestRestrictIsReportedInOrder(t *testing.T) {
	eachStore(t, graph(t), func(t *testing.T, s *server) {
		s.createAll("/owners", with(0), with(1))
		for i, car := range []int{6, 3, 5, 2, 4, 1} {
			s.createAll("/cars", with(car, "owner_id", i%2))
			s.createAll("/wheels", with(car, "car_id", car))
		}
		var want []string
		for car := 1; car <= 6; car++ {
			want = append(want, `{"status":409,"code":"referenced","title":"Other resources refer to this one","detail":"The resource wheels/`+id(car)+` refers to cars/`+id(car)+` by car_id. Delete or change it, and others like it, first."}`)
		}
		for _, query := range []string{"", "&dry_run=true"} {
			s.do("DELETE", "/owners?limit=2"+query, "").expect(t, 409, `{"errors":[`+strings.Join(want, ",")+`]}`)
		}
	})
}

// TestCascadeDeep: a chain that is deeper than any stack of SQL triggers.
func TestCascadeDeep(t *testing.T) {
	const depth = 200
	eachStore(t, graph(t), func(t *testing.T, s *server) {
		bodies := []string{with(0)}
		for i := 1; i < depth; i++ {
			bodies = append(bodies, with(i, "folder_id", i-1))
		}
		s.createAll("/folders", bodies...)
		s.createAll("/folders", with(depth), with(depth+1, "folder_id", depth))
		s.do("DELETE", "/folders/"+id(1), "").expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"folders","name":null,"folder_id":"`+id(0)+`"}}`)
		list := s.get("/folders")
		list.expectPositions(t, "folders", 0, depth, depth+1)
		if list.total() != "3" || s.get("/folders/"+id(0)+"/folders").total() != "0" {
			t.Errorf("the totals are %s and %s", list.total(), s.get("/folders/"+id(0)+"/folders").total())
		}
		// Each has left its place in the change log, so it still is a cursor.
		s.get("/folders?cursor="+id(depth-1)).expectPositions(t, "from a deleted one", depth, depth+1)
	})
}

func TestCascadeCircular(t *testing.T) {
	eachStore(t, graph(t), func(t *testing.T, s *server) {
		s.createAll("/lefts", with(0), with(1))
		s.createAll("/rights", with(0, "left_id", 0), with(1, "left_id", 1))
		for i := range 2 {
			s.do("PATCH", "/lefts/"+id(i), with(i, "right_id", i)).expect(t, 200, fmt.Sprintf(`{"data":{"id":"%s","type":"lefts","right_id":"%s"}}`, id(i), id(i)))
		}
		s.do("DELETE", "/lefts/"+id(0), "").expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"lefts","right_id":"`+id(0)+`"}}`)
		s.get("/lefts").expectPositions(t, "lefts", 1)
		s.get("/rights").expectPositions(t, "rights", 1)
		s.createAll("/folders", with(0), with(1, "folder_id", 0), with(2, "folder_id", 2))
		s.do("PATCH", "/folders/"+id(0), with(0, "folder_id", 1))
		s.do("DELETE", "/folders/"+id(1), "").expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"folders","name":null,"folder_id":"`+id(0)+`"}}`)
		s.do("DELETE", "/folders/"+id(2), "").expect(t, 200, `{"data":{"id":"`+id(2)+`","type":"folders","name":null,"folder_id":"`+id(2)+`"}}`)
		s.get("/folders").expect(t, 200, data())
	})
}

// TestCascadeTwice: what is reached by two ways goes once.
func TestCascadeTwice(t *testing.T) {
	eachStore(t, graph(t), func(t *testing.T, s *server) {
		s.createAll("/owners", with(0), with(1))
		s.createAll("/twigs", with(0, "owner_id", 0), with(1, "owner_id", 0, "twig_id", 0), with(2, "owner_id", 1, "twig_id", 1), with(3, "owner_id", 1))
		s.do("DELETE", "/owners/"+id(0), "").expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"owners"}}`)
		list := s.get("/twigs")
		list.expect(t, 200, data(`{"id":"`+id(3)+`","type":"twigs","owner_id":"`+id(1)+`","twig_id":null}`))
		if list.total() != "1" {
			t.Errorf("the total is %s", list.total())
		}
	})
}

func TestSetNull(t *testing.T) {
	eachStore(t, graph(t), func(t *testing.T, s *server) {
		s.createAll("/owners", with(0), with(1))
		s.createAll("/notes", with(0, "owner_id", 0, "second_id", 0), with(1, "owner_id", 0, "second_id", 1), with(2, "second_id", 0), with(3, "owner_id", 1))
		s.do("DELETE", "/owners/"+id(0), "").expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"owners"}}`)
		note := func(position int, owner, second string) string {
			return `{"id":"` + id(position) + `","type":"notes","owner_id":` + owner + `,"second_id":` + second + `}`
		}
		s.get("/notes").expect(t, 200, data(note(0, "null", "null"), note(1, "null", quoted(id(1))), note(2, "null", "null"), note(3, quoted(id(1)), "null")))
	})
}

// TestReferencesMixed: one deletion that cascades, sets to null and is held
// back by what it reaches.
func TestReferencesMixed(t *testing.T) {
	eachStore(t, graph(t), func(t *testing.T, s *server) {
		s.createAll("/owners", with(0), with(1))
		s.createAll("/cars", with(0, "owner_id", 0), with(1, "owner_id", 0), with(2, "owner_id", 1))
		s.createAll("/wheels", with(0, "car_id", 0, "owner_id", 0), with(1, "car_id", 1), with(2, "car_id", 2, "owner_id", 0))
		s.createAll("/stickers", with(0, "car_id", 0), with(1, "car_id", 2))
		s.createAll("/notes", with(0, "owner_id", 0))
		before := map[string]string{}
		for _, path := range []string{"/owners", "/cars", "/wheels", "/stickers", "/notes"} {
			before[path] = s.get(path).body
		}
		// Wheel 1 stays and holds car 1; wheel 0 goes itself.
		s.do("DELETE", "/owners/"+id(0), "").expectErrors(t, 409, "referenced")
		for path, want := range before {
			if got := s.get(path).body; got != want {
				t.Errorf("after a refusal: %s\ngot  %s\nwant %s", path, got, want)
			}
		}
		s.do("PATCH", "/wheels/"+id(1), `{"car_id":"`+id(2)+`"}`)
		s.do("DELETE", "/owners/"+id(0), "").expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"owners"}}`)
		s.get("/owners").expectPositions(t, "owners", 1)
		s.get("/cars").expectPositions(t, "cars", 2)
		s.get("/wheels").expectPositions(t, "wheels", 1)
		s.get("/stickers").expect(t, 200, data(`{"id":"`+id(0)+`","type":"stickers","car_id":null}`, `{"id":"`+id(1)+`","type":"stickers","car_id":"`+id(2)+`"}`))
		s.get("/notes").expect(t, 200, data(`{"id":"`+id(0)+`","type":"notes","owner_id":null,"second_id":null}`))
	})
}
