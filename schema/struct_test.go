package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/model"
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
			{Name: "small", Type: Integer, Minimum: "0", Maximum: "255", Enum: []any{json.RawMessage("1"), json.RawMessage("2")}},
			{Name: "size", Type: Number, ExclusiveMinimum: "0", ExclusiveMaximum: "1.5"},
			{Name: "flag", Type: Boolean, Default: json.RawMessage("true")},
			{Name: "state", Type: String, Enum: []any{"on", "off"}, Default: "on"},
			{Name: "when", Type: String, Format: DateTime},
			{Name: "tags", Type: Array, Items: &Attribute{Type: String}, MinItems: 1, MaxItems: 3},
			{Name: "nested", Type: Object, Closed: true, Properties: []Attribute{{Name: "A", Type: Integer}}},
			{Name: "free", Type: Object},
			{Name: "raw", Type: Object},
			{Name: "matrix", Type: Array, Items: &Attribute{Type: Array, Items: &Attribute{Type: Integer}}},
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
	for name, want := range map[string]string{
		"User": "user", "OrderItem": "order_item", "HTTPServer": "http_server", "UserID": "user_id", "V2Plan": "v2_plan", "PlanV2": "plan_v2",
		"APIKeyV2": "api_key_v2", "Order_Item": "order_item", "X": "x", "JSON": "json", "Größe": "größe",
	} {
		if got := snakeCase(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// Sized has numbers of every size.
type Sized struct {
	I    int       `json:"i"`
	I8   int8      `json:"i8"`
	I16  int16     `json:"i16"`
	I32  *int32    `json:"i32"`
	I64  int64     `json:"i64"`
	U    uint      `json:"u"`
	U8   uint8     `json:"u8" plural:"maximum=100"`
	U16  uint16    `json:"u16" plural:"exclusiveMinimum=-1,exclusiveMaximum=65536"`
	U32  uint32    `json:"u32"`
	U64  uint64    `json:"u64" plural:"minimum=5"`
	F32  float32   `json:"f32"`
	F64  float64   `json:"f64"`
	List []int8    `json:"list"`
	Four [4]uint8  `json:"four"`
	Deep [2][]int8 `json:"deep"`
}

// What is stored fits back into the struct, whoever wrote it.
func TestNumbersHaveTheBoundsOfTheirType(t *testing.T) {
	c, err := Of[Sized]()
	if err != nil {
		t.Fatal(err)
	}
	want := []Attribute{
		{Name: "i", Type: Integer},
		{Name: "i8", Type: Integer, Minimum: "-128", Maximum: "127"},
		{Name: "i16", Type: Integer, Minimum: "-32768", Maximum: "32767"},
		{Name: "i32", Type: Integer, Minimum: "-2147483648", Maximum: "2147483647"},
		{Name: "i64", Type: Integer},
		{Name: "u", Type: Integer, Minimum: "0"},
		{Name: "u8", Type: Integer, Minimum: "0", Maximum: "100"},
		{Name: "u16", Type: Integer, ExclusiveMinimum: "-1", ExclusiveMaximum: "65536"},
		{Name: "u32", Type: Integer, Minimum: "0", Maximum: "4294967295"},
		{Name: "u64", Type: Integer, Minimum: "5"},
		{Name: "f32", Type: Number, Minimum: "-3.4028234663852886e+38", Maximum: "3.4028234663852886e+38"},
		{Name: "f64", Type: Number},
		{Name: "list", Type: Array, Items: &Attribute{Type: Integer, Minimum: "-128", Maximum: "127"}},
		{Name: "four", Type: Array, Items: &Attribute{Type: Integer, Minimum: "0", Maximum: "255"}, MinItems: 4, MaxItems: 4},
		{Name: "deep", Type: Array, MinItems: 2, MaxItems: 2, Items: &Attribute{Type: Array, Items: &Attribute{Type: Integer, Minimum: "-128", Maximum: "127"}}},
	}
	if !reflect.DeepEqual(c.Attributes, want) {
		t.Errorf("got\n%+v\nwant\n%+v", c.Attributes, want)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	sized := (*model.Schema)(s).Collection("sizeds")
	for body, fits := range map[string]bool{
		`{"i8":-128,"i16":32767,"i32":-2147483648,"u":9223372036854775807,"u8":0,"u16":65535,"u32":4294967295,"f32":-3.4028234663852886e+38,"four":[0,1,2,255]}`: true,
		`{"i8":128}`: false, `{"i8":-129}`: false, `{"u8":-1}`: false, `{"u16":-1}`: false, `{"u16":65536}`: false, `{"u":-1}`: false, `{"u64":-1}`: false,
		`{"f32":3.5e38}`: false, `{"list":[128]}`: false, `{"four":[1,2,3]}`: false, `{"four":[1,2,3,4,5]}`: false,
	} {
		_, _, err := sized.Decode([]byte(body), model.DecodeOptions{Mode: model.Create, MaxDepth: 8, MaxItems: 1})
		if (err == nil) != fits {
			t.Errorf("%s: %v", body, err)
		}
		if into := (Sized{}); fits && json.Unmarshal([]byte(body), &into) != nil {
			t.Errorf("%s does not fit into the struct", body)
		}
	}
}

type written struct{ text string }

func (w written) MarshalText() ([]byte, error)  { return []byte(w.text), nil }
func (w *written) UnmarshalText(b []byte) error { w.text = string(b); return nil }

type price int

func (p *price) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, (*string)(nil)) }

type tree []tree

type memberKey string

type Formed struct {
	Bytes  []byte      `json:"bytes"`
	Text   written     `json:"text" plural:"type=string,format=email,enum=a@b.c|d@e.f"`
	Price  price       `json:"price" plural:"minimum=0,type=number"`
	Quoted int32       `json:"quoted,string" plural:"type=string"`
	Any    any         `json:"any" plural:"type=object"`
	Number json.Number `json:"number" plural:"renamed_from=figure"`
	Tree   tree        `json:"tree" plural:"type=array"`
	Same   string      `json:"same" plural:"type=string"`
	Ranks  map[int]any `json:"ranks" plural:"type=object"`

	Raw   json.RawMessage   `json:"raw" plural:"type=array"`
	Parts []json.RawMessage `json:"parts"`
	Text2 map[memberKey]any `json:"text2"`
}

// A type with a JSON of its own is what its tag says.
func TestTypesWithCustomJSON(t *testing.T) {
	c, err := Of[Formed]()
	want := []Attribute{
		{Name: "bytes", Type: String, Pattern: base64},
		{Name: "text", Type: String, Format: Email, Enum: []any{"a@b.c", "d@e.f"}},
		{Name: "price", Type: Number, Minimum: "0"},
		{Name: "quoted", Type: String},
		{Name: "any", Type: Object},
		{Name: "number", Type: Number, RenamedFrom: "figure"},
		{Name: "tree", Type: Array},
		{Name: "same", Type: String},
		{Name: "ranks", Type: Object},
		{Name: "raw", Type: Array},
		{Name: "parts", Type: Array},
		{Name: "text2", Type: Object},
	}
	if err != nil || !reflect.DeepEqual(c.Attributes, want) {
		t.Errorf("got\n%+v, %v\nwant\n%+v", c.Attributes, err, want)
	}
}

type base struct {
	_    struct{} `plural:"name=bases"`
	ID   string   `json:"id"`
	Name string   `json:"name" plural:"required"`
	Note string   `json:"note"`
}

type Stamps struct {
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt *string   `json:"updated_at,omitempty"`
}

type Employee struct {
	base
	*Stamps
	Note  string `json:"note" plural:"maxLength=5"`
	Stamp Stamps `json:"stamp"`
}

// The fields of embedded structs are those that encoding/json writes.
func TestEmbeddedStructs(t *testing.T) {
	c, err := Of[Employee]()
	want := Collection{Name: "employees", Attributes: []Attribute{
		{Name: "name", Type: String, Required: true},
		{Name: "note", Type: String, MaxLength: 5},
		{Name: "stamp", Type: Object, Closed: true, Properties: []Attribute{{Name: "created_at", Type: String, Format: DateTime}, {Name: "updated_at", Type: String}}},
	}}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Fatalf("got %+v, %v", c, err)
	}
	text, err := json.Marshal(Employee{base: base{Name: "Ada", Note: "hidden"}, Note: "x"})
	if err != nil || string(text) != `{"id":"","name":"Ada","note":"x","stamp":{"created_at":"0001-01-01T00:00:00Z"}}` {
		t.Errorf("encoding/json writes %s, %v", text, err)
	}
}

type Clock struct{ time.Time }

type Loop struct {
	*Loop
	Name string `json:"name"`
}

type Generic[T any] struct {
	Name string `json:"name"`
}

type pointerToItself *pointerToItself

type Node struct {
	Inner []Node `json:"inner,omitempty"`
}

func TestStructsThatAreNoSchema(t *testing.T) {
	type hidden struct {
		A string `json:"a"`
	}
	for want, declare := range map[string]func() (Collection, error){
		"int is not a struct": Of[int],
		"*schema.OrderItem is a pointer, and a collection is declared by the struct itself: use schema.OrderItem":                                            Of[*OrderItem],
		"schema.Clock has a method MarshalJSON, perhaps that of an embedded struct, so that its JSON is not made of its fields: declare a struct without it": Of[Clock],
		"schema.Loop: Loop is embedded in itself": Of[Loop],
		"schema.Generic[int] has no name to make that of a collection of: give it a field _ struct{} `plural:\"name=…\"`": Of[Generic[int]],
		"struct {} has no name to make that of a collection of: give it a field _ struct{} `plural:\"name=…\"`":           Of[struct{}],
	} {
		if _, err := declare(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	// Of a struct that is written down here, only what follows its name matters.
	for want, declare := range map[string]func() (Collection, error){
		".A: required takes no value: leave the word out if it is not meant": Of[struct {
			A string `json:"a" plural:"required=false"`
		}],
		".A: its default would never be used, as its value is always sent: make it a pointer with omitempty": Of[struct {
			A bool `json:"a" plural:"default=true"`
		}],
		".A: it needs a json tag with the name of its attribute": Of[struct{ A string }],
		".A: no attribute can hold a chan int": Of[struct {
			A chan int `json:"a"`
		}],
		".A: schema.pointerToItself is a recursive type, which a schema cannot express: use json.RawMessage, with type=… in its plural tag if it is not an object": Of[struct {
			A pointerToItself `json:"a"`
		}],
		".A: the keys of a JSON object are strings: use map[string]any, not map[int]string": Of[struct {
			A map[int]string `json:"a"`
		}],
		".A: the members of an object without declared properties can be anything: use map[string]any, or a struct, and not map[string]int": Of[struct {
			A map[string]int `json:"a"`
		}],
		".A: schema.tree is a recursive type, which a schema cannot express: use json.RawMessage, with type=… in its plural tag if it is not an object": Of[struct {
			A tree `json:"a"`
		}],
		".A.Inner: schema.Node is a recursive type, which a schema cannot express: use json.RawMessage, with type=… in its plural tag if it is not an object": Of[struct {
			A Node `json:"a"`
		}],
		".A.B.C: nil would be written as null, which is no value inside an attribute: add omitempty to its json tag": Of[struct {
			A struct {
				B struct {
					C *int `json:"c"`
				} `json:"b"`
			} `json:"a"`
		}],
		".A.B: interface {} is anything, and an attribute has one type: say which by type=… in its plural tag": Of[struct {
			A struct {
				B any `json:"b,omitempty"`
			} `json:"a"`
		}],
		".A.B: a parent belongs to the collection, and not inside its attributes: remove the word": Of[struct {
			A struct {
				B string `json:"b" plural:"parent=as"`
			} `json:"a"`
		}],
		".A.B: maximum=300 is more than a uint8 can hold: it can be 255 at the utmost": Of[struct {
			A []struct {
				B uint8 `json:"b" plural:"maximum=300"`
			} `json:"a"`
		}],
		".ETag: an ETag is text: use a string field of the struct itself": Of[struct {
			ETag int `json:"-" plural:"etag"`
		}],
		".A: float64 is a number in JSON, and a decimal is a string such as \"19.90\": use a string, or a type that writes one, with type=string in its plural tag": Of[struct {
			A float64 `json:"a" plural:"format=decimal,scale=2"`
		}],
		".A: there is no keyword \"requird\" for a plural tag": Of[struct {
			A string `json:"a" plural:"requird"`
		}],
		".A: maxLength must be a whole number, but is \"x\"": Of[struct {
			A string `json:"a" plural:"maxLength=x"`
		}],
		".A: format needs a value: format=…": Of[struct {
			A string `json:"a" plural:"format"`
		}],
		".A: unique is there twice: remove one of them": Of[struct {
			A string `json:"a" plural:"unique,required,unique"`
		}],
		"._: there is no keyword \"nme\" for the plural tag of a collection: use name, singular, description, search, label or renamed_from": Of[struct {
			_ struct{} `plural:"nme=people"`
		}],
		"._: name is there twice: remove one of them": Of[struct {
			_ struct{} `plural:"name=people,name=persons"`
		}],
		".A: on_delete belongs to a reference: add references=… or parent=…, or remove it": Of[struct {
			A string `json:"a" plural:"on_delete=cascade"`
		}],
		".A: a parent is a reference already: leave the word references out": Of[struct {
			A string `json:"a" plural:"parent=as,references=as"`
		}],
		".B: a collection has one parent, and a is it already": Of[struct {
			A string `json:"a" plural:"parent=as"`
			B string `json:"b" plural:"parent=bs"`
		}],
		".ID: it is no attribute, so its plural tag means nothing: remove the tag": Of[struct {
			ID string `json:"id" plural:"required"`
		}],
		".a: it is no attribute, so its plural tag means nothing: remove the tag": Of[struct {
			a string `plural:"required"`
		}],
		".A: it is no attribute, so its plural tag means nothing: remove the tag": Of[struct {
			A string `json:"-" plural:"required"`
		}],
		".ID: id is text: use a string, and not int": Of[struct {
			ID int `json:"id"`
		}],
		".At: created_at is a time: use a time.Time or a string, and not int64": Of[struct {
			At int64 `json:"created_at"`
		}],
		".A: []uint8 is base64 in JSON: leave the pattern out": Of[struct {
			A []byte `json:"a" plural:"pattern=^a"`
		}],
		".A: schema.written writes its own JSON, by MarshalText: say what that is by type=… in its plural tag, type=string for example": Of[struct {
			A *written `json:"a"`
		}],
		".A: schema.price writes its own JSON, by UnmarshalJSON: say what that is by type=… in its plural tag, type=string for example": Of[struct {
			A []price `json:"a"`
		}],
		".A: the word string in its json tag makes a text of it: remove the word, or say type=string in its plural tag": Of[struct {
			A int `json:"a,omitempty,string"`
		}],
		".A: int is an integer in JSON, and not a string: leave the word type out": Of[struct {
			A int `json:"a" plural:"type=string"`
		}],
		".A: type must be string, integer, number, boolean, object or array, but is \"text\"": Of[struct {
			A any `json:"a" plural:"type=text"`
		}],
		".A: time.Time is date-time in JSON: leave the format out": Of[struct {
			A time.Time `json:"a" plural:"format=date"`
		}],
		".A: minimum=-1 is more than a uint8 can hold: it can be 0 at the utmost": Of[struct {
			A uint8 `json:"a" plural:"minimum=-1"`
		}],
		".A: maximum=128 is more than a int8 can hold: it can be 127 at the utmost": Of[struct {
			A int8 `json:"a" plural:"maximum=128"`
		}],
		".A: exclusiveMaximum=129 is more than a *int8 can hold: use maximum=127": Of[struct {
			A *int8 `json:"a" plural:"exclusiveMaximum=129"`
		}],
		".A: maximum=1e39 is more than a float32 can hold: it can be 3.4028234663852886e+38 at the utmost": Of[struct {
			A float32 `json:"a" plural:"maximum=1e39"`
		}],
		".A: [2]string has 2 items always: leave minItems and maxItems out": Of[struct {
			A [2]string `json:"a" plural:"maxItems=3"`
		}],
		": OrderItem is embedded, so that its fields are attributes and its plural tag means nothing: remove the tag": Of[struct {
			OrderItem `plural:"required"`
		}],
		": hidden is an embedded pointer that encoding/json cannot set: embed the struct itself": Of[struct{ *hidden }],
	} {
		_, err := declare()
		if err == nil {
			t.Errorf("no error, want %s", want)
			continue
		}
		// That it has no name comes last.
		text, _, _ := strings.Cut(err.Error(), "\nstruct ")
		if !strings.HasSuffix(text, "}"+want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

type Wrong struct {
	_     struct{} `plural:"nme=people,singular="`
	ID    int      `json:"id"`
	Name  string   `json:"name" plural:"requird,maxLength=x,unique,unique"`
	Small uint8    `json:"small" plural:"minimum=-1,maximum=256"`
	Inner struct {
		A *int           `json:"a"`
		B map[string]int `json:"b" plural:"nope"`
	} `json:"inner"`
	None string
}

// A mistake does not hide the others.
func TestAllMistakesOfAStructAreReported(t *testing.T) {
	_, err := Of[Wrong]()
	want := `schema.Wrong._: there is no keyword "nme" for the plural tag of a collection: use name, singular, description, search, label or renamed_from
schema.Wrong._: singular needs a value: singular=…
schema.Wrong.ID: id is text: use a string, and not int
schema.Wrong.Name: there is no keyword "requird" for a plural tag
schema.Wrong.Name: maxLength must be a whole number, but is "x"
schema.Wrong.Name: unique is there twice: remove one of them
schema.Wrong.Small: minimum=-1 is more than a uint8 can hold: it can be 0 at the utmost
schema.Wrong.Small: maximum=256 is more than a uint8 can hold: it can be 255 at the utmost
schema.Wrong.Inner.A: nil would be written as null, which is no value inside an attribute: add omitempty to its json tag
schema.Wrong.Inner.B: the members of an object without declared properties can be anything: use map[string]any, or a struct, and not map[string]int
schema.Wrong.Inner.B: there is no keyword "nope" for a plural tag
schema.Wrong.Inner.B: nil would be written as null, which is no value inside an attribute: add omitempty to its json tag
schema.Wrong.None: it needs a json tag with the name of its attribute`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// encoding/json would write neither. It takes reflection to get such a struct
// past go vet.
func TestFieldsWithTheSameName(t *testing.T) {
	text := reflect.TypeFor[string]()
	twice := reflect.StructOf([]reflect.StructField{{Name: "A", Type: text, Tag: `json:"a"`}, {Name: "B", Type: text, Tag: `json:"a"`}})
	if _, err := fieldsOf(twice, nil); err == nil || err.Error() != "A and B have the same json name, a: rename one of them" {
		t.Errorf("got %v", err)
	}
}
