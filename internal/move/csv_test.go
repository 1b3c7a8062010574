package move

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/plural-go/plural/client"
)

// rowsOf reads all rows of a file: line, and body or what is wrong with it.
func rowsOf(t *testing.T, text string, format Format, attributes []client.Attribute) (rows []string, err error) {
	t.Helper()
	reader, err := NewReader(strings.NewReader(text), format, ColumnsOf(attributes))
	if err != nil {
		return nil, err
	}
	for number := int64(1); ; number++ {
		row, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		if row.Number != number {
			t.Errorf("row %d says that it is %d", number, row.Number)
		}
		if row.Bad != nil {
			rows = append(rows, fmt.Sprintf("%d bad %v", row.Line, row.Bad))
		} else {
			rows = append(rows, fmt.Sprintf("%d %s", row.Line, row.Body))
		}
	}
}

var thing = []client.Attribute{
	{Name: "name", Type: "string", Required: true}, {Name: "note", Type: "string"}, {Name: "count", Type: "integer"},
	{Name: "share", Type: "number"}, {Name: "good", Type: "boolean"}, {Name: "tags", Type: "array"},
}

func TestReading(t *testing.T) {
	for _, test := range []struct {
		name   string
		format Format
		text   string
		want   []string
		err    string
	}{
		{"lines", NDJSON, "{\"name\":\"a\"}\n\n \r\n{\"id\":null,\"name\":\"b\",\"created_at\":\"x\"}\r\n[1]\n{\"a\":1,\"a\":2}\n{} {}\n{\"a\"", []string{
			`1 {"name":"a"}`, `4 {"name":"b"}`, "5 bad a row must be a JSON object", "6 bad not JSON at character 8: duplicate object member name",
			"7 bad something follows the end of the object", "8 bad the JSON ends in the middle of a value"}, ""},
		{"no lines", NDJSON, "", nil, ""},
		{"an array", JSON, "[\n{\"name\":\n\"a\"},\n\n  {\"name\":\"b\"}, 7, {\"a\":1,\"a\":2}\n]\n", []string{
			`2 {"name":"a"}`, `5 {"name":"b"}`, "5 bad a row must be a JSON object", "5 bad not JSON at character 8: duplicate object member name"}, ""},
		{"an envelope", JSON, `{"data":[{"name":"a"}]}`, []string{`1 {"name":"a"}`}, ""},
		{"an empty array", JSON, ` [ ] `, nil, ""},
		{"no array", JSON, `{"name":"a"}`, nil, errNoArray.Error()},
		{"nothing", JSON, ``, nil, errNoArray.Error()},
		{"an array without an end", JSON, "[{\"name\":\"a\"},\n", []string{`1 {"name":"a"}`}, "line 2: the JSON ends in the middle of a value"},
		{"an array that is none", JSON, "[{\"name\":\"a\"},\n{x}]", []string{`1 {"name":"a"}`}, "line 2: not JSON at character 2: invalid character 'x' at start of string (expecting '\"')"},
		{"an array and more", JSON, "[]\n[]", nil, "line 2: there is unexpected text after the array"},
		{"an envelope and more", JSON, `{"data":[],"more":1}`, nil, "line 1: there is unexpected text after the array"},
		{"cells", CSV, "\ufeffname,note,count,share,good,tags\r\na,,1,-1.5,TRUE,\"[1,\"\"x\"\"]\"\r\n\"b\r\n\"\"c\"\"\",\"\",,,,\n\n,'=1,,,false,\n", []string{
			`2 {"name":"a","note":null,"count":1,"share":-1.5,"good":true,"tags":[1,"x"]}`,
			`3 {"name":"b\r\n\"c\"","note":"","count":null,"share":null,"good":null,"tags":null}`,
			`6 {"name":null,"note":"=1","count":null,"share":null,"good":false,"tags":null}`}, ""},
		{"bad cells", CSV, "name,count,good,tags\na,one,,\nb,,maybe,\nc,,,{\nd\ne,\"1\"2,,\nf\"g,,,\n\xff,,,\nh,1,,\ni, 1,,", []string{
			`2 {"name":"a","count":"one","good":null,"tags":null}`, `3 {"name":"b","count":null,"good":"maybe","tags":null}`,
			`4 {"name":"c","count":null,"good":null,"tags":"{"}`, "5 bad the row has 1 cell, but the first line has 4",
			"6 bad column count: something follows the closing quote of a cell: a quote within quotes is written twice",
			"7 bad column name: a quote is inside a cell that does not begin with one: put the cell into quotes, and write the quote twice",
			"8 bad column name: not UTF-8: save the file as CSV UTF-8", `9 {"name":"h","count":1,"good":null,"tags":null}`,
			`10 {"name":"i","count":" 1","good":null,"tags":null}`}, ""},
		{"a quote without an end", CSV, "name\na\n\"b\nc\n", []string{`2 {"name":"a"}`}, "line 3: the quote that begins here is never closed: close it, or write a quote within quotes twice"},
		{"one column", CSV, "note\n\nx\n\"\"\n\n", []string{`3 {"note":"x"}`, `4 {"note":""}`}, ""},
		{"no header", CSV, "", nil, "the file is empty: its first line must have the names of the attributes"},
		{"wrong columns", CSV, "name;note,name,id,id\n", nil, "line 1: there is no attribute \"name;note\": the attributes are id, type, name, note, count, share, good, tags; if ';' separates the columns, use --delimiter\n" +
			"line 1: the column id appears twice"},
		{"lines that end as on an old Macintosh", CSV, "name\ra\rb\r", nil, "line 1: there is no attribute \"name\\ra\\rb\\r\": a line must end with a line feed, or a carriage return and a line feed: save the file as CSV UTF-8"},
		{"something else", CSV, strings.Repeat("\x00", 1000), nil, "line 1: there is no attribute \"" + strings.Repeat(`\x00`, 60) + "…\": the attributes are id, type, name, note, count, share, good, tags; use --map for a column with another name, or --ignore"},
		{"very many columns", CSV, "Name" + strings.Repeat(",Name", 1000), nil, "line 1: there is no attribute \"Name\": did you mean name?" + strings.Repeat("\nline 1: the column Name appears twice", 19) + "\nline 1: the other columns were not examined"},
		{"similar columns", CSV, "Name, note\n", nil, "line 1: there is no attribute \"Name\": did you mean name?\nline 1: there is no attribute \" note\": did you mean note?"},
		{"quotes around everything", CSV, "\"id\",\"type\",\"name\",\"note\",\"count\",\"good\",\"tags\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\"\n\"\",\"\",\"a\",\"b\",\"1\",\"true\",\"[]\"\n", []string{
			`2 {"name":"","note":"","count":null,"good":null,"tags":null}`, `3 {"name":"a","note":"b","count":1,"good":true,"tags":[]}`}, ""},
		{"lines behind a mark", NDJSON, "\ufeff{\"name\":\"a\"}", []string{`1 {"name":"a"}`}, ""},
		{"an array behind a mark", JSON, "\ufeff[\n{\"name\":\"a\"}]", []string{`2 {"name":"a"}`}, ""},
		{"UTF-16", CSV, "\xff\xfen\x00", nil, "this is UTF-16: convert it to UTF-8"},
		{"the other UTF-16", NDJSON, "\xfe\xff\x00{", nil, "this is UTF-16: convert it to UTF-8"},
		{"times", CSV, "id,type,name,created_at,updated_at\n01936F2E-7d3c-7a4b-9c5d-0123456789ab,things,a,x,y\n", []string{
			`2 {"id":"01936F2E-7d3c-7a4b-9c5d-0123456789ab","type":"things","name":"a"}`}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := rowsOf(t, test.text, test.format, thing)
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			if fmt.Sprint(err) != test.err && (err != nil || test.err != "") {
				t.Errorf("got %v, want %s", err, test.err)
			}
		})
	}
}

// endless is a text that goes on for ever behind its start.
type endless struct {
	start string
	read  int
}

func (e *endless) Read(into []byte) (int, error) {
	n := copy(into, e.start)
	e.start = e.start[n:]
	for i := n; i < len(into); i++ {
		into[i] = 'x'
	}
	e.read += len(into)
	return len(into), nil
}

// TestRowsWithoutEnd: no row is read into memory for ever. That of a line which has no end
// is waited for, and not kept.
func TestRowsWithoutEnd(t *testing.T) {
	for format, start := range map[Format]string{JSON: "[{\"name\":\"a\"},\n{\"name\":\"", CSV: "name\na\n\""} {
		text := &endless{start: start}
		reader, err := NewReader(text, format, ColumnsOf(thing))
		if err != nil {
			t.Fatal(err)
		}
		if row, err := reader.Next(); err != nil || string(row.Body) != `{"name":"a"}` {
			t.Fatalf("%s: got %s, %v", format, row.Body, err)
		}
		want := map[Format]string{
			JSON: "row 2: the row is longer than 16 MiB",
			CSV:  "line 3: the quote that begins here is not closed within 16 MiB: close it, or write a quote within quotes twice",
		}[format]
		if _, err := reader.Next(); err == nil || err.Error() != want || text.read > 33<<20 {
			t.Errorf("%s: got %v after %d bytes", format, err, text.read)
		}
	}
}

// TestRowsOfManyCells: a row of nothing but separators, which are no part of its text, is not read into memory for ever either.
func TestRowsOfManyCells(t *testing.T) {
	many := strings.Repeat(",", maxCells) + "\n"
	for _, test := range []struct {
		text, err string
		want      []string
	}{
		{text: many, err: "line 1: the row has more than 65536 cells"},
		{text: many[1:], err: `line 1: there is no attribute "": the attributes are id, type, name, note, count, share, good, tags; use --map for a column with another name, or --ignore`},
		{text: "name\n" + many + many[1:] + "a\n", want: []string{"2 bad the row has more than 65536 cells", "3 bad the row has 65536 cells, but the first line has 1", `4 {"name":"a"}`}},
	} {
		got, err := rowsOf(t, test.text, CSV, thing)
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			err = errors.New(first)
		}
		if strings.Join(got, "\n") != strings.Join(test.want, "\n") || fmt.Sprint(err) != test.err && (err != nil || test.err != "") {
			t.Errorf("got %q, %v\nwant %q, %s", got, err, test.want, test.err)
		}
	}
}

// TestDelimiters: what separates columns is told, and anything else is text.
func TestDelimiters(t *testing.T) {
	for _, delimiter := range Delimiters {
		text := strings.ReplaceAll("name|note\na|\"x|y\"\n", "|", string(delimiter))
		reader, err := NewCSVReader(strings.NewReader(text), ColumnsOf(thing), byte(delimiter))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal("x" + string(delimiter) + "y") // of a string, which never fails
		if row, err := reader.Next(); err != nil || string(row.Body) != `{"name":"a","note":`+string(want)+`}` {
			t.Errorf("%q: got %s %v %v", delimiter, row.Body, row.Bad, err)
		}
	}
}

// TestCells: how a value is written as a cell, and that it is read again. No cell begins a formula. The explorer writes
// and reads the same (internal/explorer/web/explorer/test/files.test.ts).
func TestCells(t *testing.T) {
	text, err := os.ReadFile("testdata/cells.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Type, Cell string
		Value      json.RawMessage
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range cases {
		attributes := []client.Attribute{{Name: "value", Type: c.Type}, {Name: "end", Type: "integer"}}
		value := jsontext.Value(c.Value).Clone()
		err := value.Compact()
		got, failed := appendCell(nil, value)
		if err := errors.Join(err, failed); err != nil || string(got) != c.Cell {
			t.Errorf("%s is written as %q, %v; want %q", c.Value, got, err, c.Cell)
		}
		rows, err := rowsOf(t, "value,end\r\n"+c.Cell+",\r\n", CSV, attributes)
		if err != nil || len(rows) != 1 || !sameJSON(strings.TrimPrefix(rows[0], "2 "), `{"value":`+string(c.Value)+`,"end":null}`) {
			t.Errorf("%q is read as %q, %v; want %s", c.Cell, rows, err, c.Value)
		}
	}
}

// TestFileRoundTrip: what is written is what is read, to the byte, in every format.
func TestFileRoundTrip(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("'=+-@\t\r\n\",; a＝")), 0, 6, -1))
	rapid.Check(t, func(t *rapid.T) {
		for _, format := range Formats {
			var file bytes.Buffer
			writer, err := NewWriter(&file, format, thing)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for range rapid.IntRange(0, 4).Draw(t, "rows") {
				value := map[string]any{"id": "01936f2e-7d3c-7a4b-9c5d-0123456789ab", "name": text.Draw(t, "name"), "count": rapid.Int64().Draw(t, "count")}
				if value["note"] = nil; rapid.Bool().Draw(t, "noted") {
					value["note"] = text.Draw(t, "note")
				}
				value["good"] = rapid.SampledFrom([]any{nil, true, false}).Draw(t, "good")
				value["tags"] = rapid.SampledFrom([]any{nil, []any{}, []any{"=1", nil, "a\"b,c"}}).Draw(t, "tags")
				row, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, string(row))
				if err := writer.Write(row); err != nil {
					t.Fatal(err)
				}
			}
			if err := writer.Close(); err != nil {
				t.Fatal(err)
			}
			reader, err := NewReader(&file, format, ColumnsOf(thing))
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range want {
				got, err := reader.Next()
				if err != nil || got.Bad != nil || !sameJSON(string(got.Body), row) {
					t.Fatalf("%s: got  %s %v %v\nwant %s", format, got.Body, got.Bad, err, row)
				}
			}
			if _, err := reader.Next(); !errors.Is(err, io.EOF) {
				t.Fatalf("%s: at the end there is %v", format, err)
			}
		}
	})
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return fmt.Sprintf("%#v", x) == fmt.Sprintf("%#v", y)
}

// FuzzCells compares our reader of CSV with the standard library's, where the two
// mean to read the same: without carriage returns, and in UTF-8.
func FuzzCells(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "\"a\"\"\",\n", "a\n\n\nb", "\"a\nb\",c\n\"", "a\"b\nc", "\"a\"b\nc,d", ",\n,,\n", "\"\"", "\"a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\r") || !utf8.ValidString(text) {
			return
		}
		theirs := csv.NewReader(strings.NewReader(text))
		theirs.FieldsPerRecord = -1
		ours := &cellReader{in: bufio.NewReader(strings.NewReader(text)), delimiter: ',', line: 1}
		for {
			want, theirErr := theirs.Read()
			record, line, err := ours.record()
			for err == nil && len(record) == 1 && record[0].isNothing() {
				record, line, err = ours.record() // an empty line, which they pass over
			}
			if theirErr != nil || err != nil {
				if (theirErr == nil) != (err == nil) || errors.Is(theirErr, io.EOF) != errors.Is(err, io.EOF) {
					t.Fatalf("line %d: got %v, want %v", line, err, theirErr)
				}
				return // they do not go on behind a mistake as we do
			}
			var got []string
			for _, each := range record {
				got = append(got, string(each.text))
			}
			if strings.Join(got, "\x00") != strings.Join(want, "\x00") || len(got) != len(want) {
				t.Fatalf("line %d: got %q, want %q", line, got, want)
			}
			if at, _ := theirs.FieldPos(0); int64(at) != line {
				t.Fatalf("got line %d, want %d", line, at)
			}
		}
	})
}

// FuzzRows: whatever a file has in it, it is read to its end or to an error, and what is
// read is an object.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{"[{\"name\":\"a\"},{}]", "{\"name\":1}\n{\"x\":[]}\n", "name,tags\na,\"[]\"\n", "{\"data\":[{}", "[1,{\"a\":1,\"a\":1}]\n\n", "id\n\"\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range Formats {
			reader, err := NewReader(strings.NewReader(text), format, ColumnsOf(thing))
			if err != nil {
				continue
			}
			line := int64(1)
			for {
				row, err := reader.Next()
				if err != nil {
					break
				}
				if row.Line < line || row.Line > int64(strings.Count(text, "\n"))+1 {
					t.Fatalf("%s: row %d is said to be in line %d behind line %d", format, row.Number, row.Line, line)
				}
				line = row.Line
				if row.Bad == nil && (!json.Valid(row.Body) || row.Body[0] != '{') {
					t.Fatalf("%s: row %d is %q", format, row.Number, row.Body)
				}
			}
		}
	})
}
