package model_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// mustNew compiles declarations and gives the first collection.
func mustNew(declared ...model.Collection) *model.Collection {
	s, err := compile.Schema(declared...)
	if err != nil {
		panic(err)
	}
	return s.Collections()[0]
}

// things is a collection with an attribute of every type and format.
var things = mustNew(model.Collection{Name: "things", Attributes: []model.Attribute{
	{Name: "text", Type: model.String},
	{Name: "integer", Type: model.Integer},
	{Name: "number", Type: model.Number},
	{Name: "boolean", Type: model.Boolean},
	{Name: "uuid", Type: model.String, Format: model.UUID},
	{Name: "date", Type: model.String, Format: model.Date},
	{Name: "moment", Type: model.String, Format: model.DateTime},
	{Name: "email", Type: model.String, Format: model.Email},
	{Name: "uri", Type: model.String, Format: model.URI},
	{Name: "object", Type: model.Object},
	{Name: "array", Type: model.Array},
}})

func TestColumnsAndFields(t *testing.T) {
	kinds := []model.Kind{model.KindUUID, model.KindText, model.KindInteger, model.KindNumber, model.KindBoolean, model.KindUUID, model.KindDate, model.KindDateTime, model.KindText, model.KindText, model.KindJSON, model.KindJSON, model.KindDateTime, model.KindDateTime, model.KindInteger}
	var got []model.Kind
	for i, column := range things.Columns() {
		got = append(got, column.Kind)
		field := things.Field(column.Name)
		if column.Name == model.RevisionName {
			if field != nil {
				t.Errorf("the revision can be filtered: %v", field)
			}
			continue
		}
		if field == nil || *field != (model.Field{Name: column.Name, Kind: column.Kind, Column: i}) {
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
	if got, want := *things.Field("type"), (model.Field{Name: "type", Kind: model.KindText, Column: model.NoColumn}); got != want {
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
	s, err := compile.Schema(
		model.Collection{Name: "albums"},
		model.Collection{Name: "tracks", NoTimestamps: true, Parent: &model.Parent{Collection: "albums", OnDelete: model.Cascade},
			Attributes: []model.Attribute{
				{Name: "code", Type: model.String, MaxLength: 9, Unique: true, Index: true},
				{Name: "rank", Type: model.Integer, Index: true},
				{Name: "sequel", References: &model.Reference{Collection: "tracks", OnDelete: model.SetNull}, Index: true},
			},
			Unique: [][]string{{"code"}, {"rank", "sequel"}},
			Index:  [][]string{{"rank"}, {"rank", "code"}},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	albums, tracks := s.Collection("albums"), s.Collection("tracks")
	sequel, album := model.Link{From: tracks, Column: 3, To: tracks, OnDelete: model.SetNull}, model.Link{From: tracks, Column: 4, To: albums, OnDelete: model.Cascade}
	checks := []struct {
		name      string
		got, want any
	}{
		{"links", tracks.Links(), []model.Link{sequel, album}},
		{"referrers of tracks", tracks.Referrers(), []model.Link{sequel}},
		{"referrers of albums", albums.Referrers(), []model.Link{album}},
		{"parent", tracks.ParentLink(), &album},
		{"no parent", albums.ParentLink(), (*model.Link)(nil)},
		{"child", albums.Child("tracks"), tracks},
		{"no child", tracks.Child("tracks"), (*model.Collection)(nil)},
		{"unique", tracks.UniqueGroups(), [][]int{{1}, {2, 3}}},
		{"index", tracks.IndexGroups(), []model.IndexGroup{{{Column: 2}}, {{Column: 2}, {Column: 1}}}},
		{"timestamps", []int{tracks.CreatedColumn(), tracks.UpdatedColumn(), tracks.RevisionColumn()}, []int{model.NoColumn, model.NoColumn, 5}},
		{"singular", s.Singular("track"), tracks},
		{"no singular", s.Singular("tracks"), (*model.Collection)(nil)},
		{"collections", s.Collections(), []*model.Collection{albums, tracks}},
	}
	for _, check := range checks {
		if !reflect.DeepEqual(check.got, check.want) {
			t.Errorf("%s: got %v, want %v", check.name, check.got, check.want)
		}
	}
}
