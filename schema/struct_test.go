package schema

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

type Everything struct {
	_         struct{}        `plural:"name=things,singular=thing"`
	ID        string          `json:"id"`
	Text      string          `json:"text" plural:"required,minLength=1,maxLength=9,unique,pattern=^a\\,b$,description=A text"`
	Mail      *string         `json:"mail" plural:"format=email"`
	Count     int             `json:"count,omitzero" plural:"minimum=1,maximum=9,multipleOf=2,index,default=4"`
	Small     uint8           `json:"small" plural:"enum=1|2"`
	Size      float64         `json:"size" plural:"exclusiveMinimum=0,exclusiveMaximum=1.5"`
	Flag      bool            `json:"flag,omitempty" plural:"default=true"`
	State     string          `json:"state,omitempty" plural:"enum=on|off,default=on"`
	When      time.Time       `json:"when"`
	Tags      []string        `json:"tags" plural:"minItems=1,maxItems=3"`
	Nested    struct{ A int } `json:"nested"`
	Free      map[string]any  `json:"free"`
	Raw       json.RawMessage `json:"raw"`
	Matrix    [][]int         `json:"matrix"`
	Owner     *string         `json:"owner" plural:"references=owners,on_delete=set_null"`
	Box       string          `json:"box_id" plural:"parent=boxes,on_delete=cascade"`
	Hidden    string          `json:"-"`
	secret    string
	CreatedAt time.Time `json:"created_at"`
}

func TestStructIsASchema(t *testing.T) {
	got, err := Of[Everything]()
	_ = Everything{}.secret // neither field of the server nor attribute
	if err != nil {
		t.Fatal(err)
	}
	want := Collection{
		Name: "things", Singular: "thing",
		Parent: &Parent{Collection: "boxes", Attribute: "box_id", OnDelete: Cascade},
		Attributes: []Attribute{
			{Name: "text", Type: String, Required: true, MinLength: 1, MaxLength: 9, Unique: true, Pattern: "^a,b$", Description: "A text"},
			{Name: "mail", Type: String, Format: Email},
			{Name: "count", Type: Integer, Minimum: "1", Maximum: "9", MultipleOf: "2", Index: true, Default: json.RawMessage("4")},
			{Name: "small", Type: Integer, Enum: []any{json.RawMessage("1"), json.RawMessage("2")}},
			{Name: "size", Type: Number, ExclusiveMinimum: "0", ExclusiveMaximum: "1.5"},
			{Name: "flag", Type: Boolean, Default: json.RawMessage("true")},
			{Name: "state", Type: String, Enum: []any{"on", "off"}, Default: "on"},
			{Name: "when", Type: String, Format: DateTime},
			{Name: "tags", Type: Array, Items: &Attribute{Type: String}, MinItems: 1, MaxItems: 3},
			{Name: "nested", Type: Object},
			{Name: "free", Type: Object},
			{Name: "raw", Type: Object},
			{Name: "matrix", Type: Array},
			{Name: "owner", Type: String, References: &Reference{Collection: "owners", OnDelete: SetNull}},
			{Name: "box_id", Type: String},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if _, err := New(got, Collection{Name: "owners"}, Collection{Name: "boxes"}); err != nil {
		t.Error(err)
	}
}

type OrderItem struct {
	Name string `json:"name"`
}

func TestNameOfAStruct(t *testing.T) {
	c, err := Of[OrderItem]()
	if err != nil || c.Name != "order_items" || !c.NoTimestamps {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestStructsThatAreNoSchema(t *testing.T) {
	for want, declare := range map[string]func() (Collection, error){
		"int is not a struct": Of[int],
		"struct { A string \"json:\\\"a\\\" plural:\\\"required=false\\\"\" }.A: required takes no value: leave the word out if it is not meant": Of[struct {
			A string `json:"a" plural:"required=false"`
		}],
		"struct { A bool \"json:\\\"a\\\" plural:\\\"default=true\\\"\" }.A: its default would never be used, as its value is always sent: make it a pointer with omitempty": Of[struct {
			A bool `json:"a" plural:"default=true"`
		}],
		"struct { A string }.A: it needs a json tag with the name of its attribute": Of[struct{ A string }],
		"struct { A chan int \"json:\\\"a\\\"\" }.A: no attribute can hold a chan int": Of[struct {
			A chan int `json:"a"`
		}],
		"struct { A string \"json:\\\"a\\\" plural:\\\"requird\\\"\" }.A: there is no keyword \"requird\" for a plural tag": Of[struct {
			A string `json:"a" plural:"requird"`
		}],
		"struct { A string \"json:\\\"a\\\" plural:\\\"maxLength=x\\\"\" }.A: maxLength must be a whole number, but is \"x\"": Of[struct {
			A string `json:"a" plural:"maxLength=x"`
		}],
	} {
		if _, err := declare(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
