package model

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// mustNew compiles declarations and gives the first collection.
func mustNew(declared ...Collection) *Collection {
	s, err := New(declared...)
	if err != nil {
		panic(err)
	}
	return s.Collections()[0]
}

// things is a collection with an attribute of every type and format.
var things = mustNew(Collection{Name: "things", Attributes: []Attribute{
	{Name: "text", Type: String},
	{Name: "integer", Type: Integer},
	{Name: "number", Type: Number},
	{Name: "boolean", Type: Boolean},
	{Name: "uuid", Type: String, Format: UUID},
	{Name: "date", Type: String, Format: Date},
	{Name: "moment", Type: String, Format: DateTime},
	{Name: "email", Type: String, Format: Email},
	{Name: "uri", Type: String, Format: URI},
	{Name: "object", Type: Object},
	{Name: "array", Type: Array},
}})

func TestColumnsAndFields(t *testing.T) {
	kinds := []Kind{KindUUID, KindText, KindInteger, KindNumber, KindBoolean, KindUUID, KindDate, KindDateTime, KindText, KindText, KindJSON, KindJSON, KindDateTime, KindDateTime, KindInteger}
	var got []Kind
	for i, column := range things.Columns() {
		got = append(got, column.Kind)
		field := things.Field(column.Name)
		if column.Name == RevisionName {
			if field != nil {
				t.Errorf("the revision can be filtered: %v", field)
			}
			continue
		}
		if field == nil || *field != (Field{Name: column.Name, Kind: column.Kind, Column: i}) {
			t.Errorf("column %d is %+v, but its field is %+v", i, column, field)
		}
		from, to := things.AttributeColumns()
		if isAttribute := from <= i && i < to; isAttribute != (column.Attribute != nil) || isAttribute && column.Attribute.Name != column.Name {
			t.Errorf("column %d has the attribute %+v", i, column.Attribute)
		}
	}
	if !slices.Equal(got, kinds) {
		t.Errorf("got %v, want %v", got, kinds)
	}
	if got, want := *things.Field("type"), (Field{Name: "type", Kind: KindText, Column: NoColumn}); got != want {
		t.Errorf("type is %+v, want %+v", got, want)
	}
	if things.Field("nope") != nil {
		t.Error("there is a field nope")
	}
	want := []string{"array", "boolean", "created_at", "date", "email", "id", "integer", "moment", "number", "object", "text", "type", "updated_at", "uri", "uuid"}
	if got := things.FieldNames(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := fmt.Sprint(things.CreatedColumn(), things.UpdatedColumn(), things.RevisionColumn()); got != "12 13 14" {
		t.Errorf("the columns of the server are %s", got)
	}
}

func TestLinks(t *testing.T) {
	s, err := New(
		Collection{Name: "albums"},
		Collection{Name: "tracks", NoTimestamps: true, Parent: &Parent{Collection: "albums", OnDelete: Cascade},
			Attributes: []Attribute{
				{Name: "code", Type: String, MaxLength: 9, Unique: true, Index: true},
				{Name: "rank", Type: Integer, Index: true},
				{Name: "sequel", References: &Reference{Collection: "tracks", OnDelete: SetNull}, Index: true},
			},
			Unique: [][]string{{"code"}, {"rank", "sequel"}},
			Index:  [][]string{{"rank"}, {"rank", "code"}},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	albums, tracks := s.Collection("albums"), s.Collection("tracks")
	sequel, album := Link{From: tracks, Column: 3, To: tracks, OnDelete: SetNull}, Link{From: tracks, Column: 4, To: albums, OnDelete: Cascade}
	checks := []struct {
		name      string
		got, want any
	}{
		{"links", tracks.Links(), []Link{sequel, album}},
		{"referrers of tracks", tracks.Referrers(), []Link{sequel}},
		{"referrers of albums", albums.Referrers(), []Link{album}},
		{"parent", tracks.ParentLink(), &album},
		{"no parent", albums.ParentLink(), (*Link)(nil)},
		{"child", albums.Child("tracks"), tracks},
		{"no child", tracks.Child("tracks"), (*Collection)(nil)},
		{"unique", tracks.UniqueGroups(), [][]int{{1}, {2, 3}}},
		{"index", tracks.IndexGroups(), []IndexGroup{{{Column: 2}}, {{Column: 2}, {Column: 1}}}},
		{"timestamps", []int{tracks.CreatedColumn(), tracks.UpdatedColumn(), tracks.RevisionColumn()}, []int{NoColumn, NoColumn, 5}},
		{"singular", s.Singular("track"), tracks},
		{"no singular", s.Singular("tracks"), (*Collection)(nil)},
		{"collections", s.Collections(), []*Collection{albums, tracks}},
	}
	for _, check := range checks {
		if !reflect.DeepEqual(check.got, check.want) {
			t.Errorf("%s: got %v, want %v", check.name, check.got, check.want)
		}
	}
}
