package search

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// TestPutFindsWordsOfChanges: only the words of attributes that have changed are found and stored.
func TestPutFindsWordsOfChanges(t *testing.T) {
	s, err := compile.Schema(model.Collection{Name: "texts", NoTimestamps: true, Search: []string{"title", "note", "body"}, Attributes: []model.Attribute{
		{Name: "title", Type: model.String}, {Name: "note", Type: model.String}, {Name: "body", Type: model.String}, {Name: "code", Type: model.Integer},
	}})
	if err != nil {
		t.Fatal(err)
	}
	texts := s.Collection("texts")
	title, _ := texts.AttributeColumns()
	record := func(n byte, values ...string) model.Record {
		record := make(model.Record, len(texts.Columns()))
		record[model.IDColumn] = model.IDValue(model.ID{15: n})
		for i, value := range values {
			record[title+i] = model.TextValue(value)
		}
		return record
	}
	long := strings.Repeat("long text ", 10)
	before := []model.Record{record(1, "one", "n", long), record(2, "two", "n", long), record(3, "three", "n", long), record(4, "same", "n", long), record(5, "five", "n", long), record(6, "six", "x", long)}
	after := []model.Record{record(1, "New new", "n", long), record(2, "New new", "n", long), record(3, "New new", "m", long), record(4, "same", "n", long), record(5, "a", "b", "c"), record(6, "a", "b", "")}
	var got []db.ResourceWords
	sql := db.SearchSQL{Put: func(_ db.Conn, rows []db.ResourceWords) error {
		got = append(got, rows...)
		return nil
	}}
	if err := Put(new(Texts), nil, sql, texts, before, after); err != nil {
		t.Fatal(err)
	}
	row := func(n byte, words, marks string, kept int) db.ResourceWords {
		return db.ResourceWords{ID: model.IDValue(model.ID{15: n}), Words: words, Marks: marks, Kept: kept}
	}
	want := []db.ResourceWords{row(1, " anew", "a", 101), row(2, " anew", "a", 101), row(3, " anew bm", "ab", 100), row(5, " aa bb cc", "", 0), row(6, " aa bb", "", 0)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	// Short texts count as they are, the different words of long ones once in each resource, and values that stay not at all.
	after[0][title+2], after[1][title+2] = model.TextValue(strings.Repeat("long text ", 200)), model.TextValue(strings.Repeat("long text ", 200))
	before[2] = nil
	if got, want := Bytes(new(Texts), texts, before, after), (7+10)+(7+10)+(7+1+100)+0+3+2; got != want {
		t.Errorf("got %d bytes of words, want %d", got, want)
	}
}

// TestTextsAreSplitOnce: what is known of a long text is used.
func TestTextsAreSplitOnce(t *testing.T) {
	s, err := compile.Schema(model.Collection{Name: "notes", NoTimestamps: true, Search: []string{"text"}, Attributes: []model.Attribute{{Name: "text", Type: model.String}}})
	if err != nil {
		t.Fatal(err)
	}
	notes, long := s.Collection("notes"), strings.Repeat("long text ", 200)
	record := make(model.Record, len(notes.Columns()))
	record[model.IDColumn], record[notes.SearchColumns()[0]] = model.IDValue(model.ID{15: 1}), model.TextValue(long)
	var texts Texts
	texts.Add(notes, record)
	if want := map[string]splitText{long: {[]string{"long", "text"}, 10}}; !reflect.DeepEqual(texts.split, want) {
		t.Errorf("got %v, want %v", texts.split, want)
	}
	texts.split[long] = splitText{[]string{"known"}, MaxBytes + 1}
	var got []db.ResourceWords
	sql := db.SearchSQL{Put: func(_ db.Conn, rows []db.ResourceWords) error {
		got = append(got, rows...)
		return nil
	}}
	if err := Put(&texts, nil, sql, notes, nil, []model.Record{record}); err != nil || !reflect.DeepEqual(got, []db.ResourceWords{{ID: record[model.IDColumn], Words: " aknown"}}) {
		t.Errorf("got %v, %v", got, err)
	}
	texts.split[long] = splitText{nil, 7}
	if got := Bytes(&texts, notes, []model.Record{nil}, []model.Record{record}); got != 7 {
		t.Errorf("got %d bytes", got)
	}
}

// TestChoiceOfAWay: the words are compared in the order of ids where matches are frequent, and otherwise the index is asked for the
// words that are less frequent than others.
func TestChoiceOfAWay(t *testing.T) {
	for _, each := range []struct {
		name   string
		sample Sample
		dense  bool
		common []bool
		rare   []bool
	}{
		{"frequent matches", Sample{200, 2, []int{40, 20}}, true, []bool{true, false}, []bool{false, false}},
		{"few matches of frequent words", Sample{200, 1, []int{40, 3}}, false, []bool{true, false}, []bool{false, true}},
		{"words that are in no text", Sample{200, 0, []int{40, 0, 0}}, false, []bool{true, false, false}, []bool{false, true, true}},
		{"a small collection", Sample{99, 99, []int{99}}, false, []bool{false}, []bool{false}},
	} {
		if s := each.sample; s.Dense() != each.dense || !slices.Equal(s.Common(), each.common) || !slices.Equal(s.Rare(), each.rare) {
			t.Errorf("%s: got %v %v %v", each.name, s.Dense(), s.Common(), s.Rare())
		}
	}
}
