package move

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
)

// cell is a field of a record of CSV. An empty one is null, and "" the empty string.
type cell struct {
	text   string
	quoted bool
}

// cellReader takes CSV apart as RFC 4180 says. The standard library's takes a carriage
// return out of every line end within quotes, and does not tell "" from nothing; either
// would change data.
type cellReader struct {
	in   *bufio.Reader
	line int64 // of what comes next
}

// badRecord is a record that is no CSV, and is over at the end of its line.
type badRecord struct{ reason string }

func (e *badRecord) Error() string { return e.reason }

// record reads a record, and gives io.EOF behind the last. What it is given is used
// again. Line is where the record begins.
func (r *cellReader) record(cells []cell) (_ []cell, line int64, err error) {
	cells, line = cells[:0], r.line
	if _, err := r.in.Peek(1); err != nil {
		return nil, line, err
	}
	for size := 0; ; {
		field, last, err := r.field(maxRow - size)
		if err != nil {
			return nil, line, err
		}
		size += len(field.text)
		cells = append(cells, field)
		if last {
			return cells, line, nil
		}
	}
}

// field reads a field with what ends it. Last says that the record ends with it.
func (r *cellReader) field(most int) (field cell, last bool, err error) {
	var text strings.Builder
	c, err := r.in.ReadByte()
	if err == nil && c == '"' {
		field.quoted = true
		if err := r.quoted(&text, most); err != nil {
			return field, false, err
		}
		c, err = r.in.ReadByte()
	}
	for ; ; c, err = r.in.ReadByte() {
		if errors.Is(err, io.EOF) {
			last = true
			break
		}
		if err != nil {
			return field, false, err
		}
		if c == '\r' {
			if next, err := r.in.Peek(1); err == nil && next[0] == '\n' {
				continue
			}
		}
		if c == '\n' {
			r.line++
			last = true
			break
		}
		if c == ',' {
			break
		}
		switch {
		case field.quoted:
			return field, false, r.skip("something follows the closing quote of a cell: a quote within quotes is written twice")
		case c == '"':
			return field, false, r.skip("a quote stands within a cell that does not begin with one: put the cell into quotes, and write the quote twice")
		case text.Len() == most:
			return field, false, r.skip(fmt.Sprintf("the row is longer than %d MiB", maxRow>>20))
		}
		text.WriteByte(c)
	}
	field.text = text.String()
	return field, last, nil
}

// quoted reads up to the closing quote.
func (r *cellReader) quoted(text *strings.Builder, most int) error {
	began := r.line
	for {
		c, err := r.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("line %d: the quote that begins here is never closed", began)
		case err != nil:
			return err
		case c == '\n':
			r.line++
		case c == '"':
			if next, err := r.in.Peek(1); err != nil || next[0] != '"' {
				return nil
			}
			r.in.ReadByte() // which is there
		}
		if text.Len() == most {
			return fmt.Errorf("line %d: the row is longer than %d MiB", began, maxRow>>20)
		}
		text.WriteByte(c)
	}
}

// skip reads to the end of the line of a record that is none.
func (r *cellReader) skip(reason string) error {
	for {
		c, err := r.in.ReadByte()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if c == '\n' {
			r.line++
		}
		if err != nil || c == '\n' {
			return &badRecord{reason}
		}
	}
}

// csvReader reads CSV whose first record has the names of the attributes.
type csvReader struct {
	cells   *cellReader
	columns []column
	number  int64
	record  []cell
	body    []byte
}

// column is what a cell is to become.
type column struct {
	name     string
	kind     string // type of JSON Schema
	required bool
}

const byteOrderMark = "\xef\xbb\xbf"

func newCSVReader(in io.Reader, attributes []client.Attribute) (*csvReader, error) {
	buffered := bufio.NewReaderSize(in, 256<<10)
	if start, err := buffered.Peek(len(byteOrderMark)); err == nil && string(start) == byteOrderMark {
		buffered.Discard(len(byteOrderMark)) // spreadsheets put it there
	}
	r := &csvReader{cells: &cellReader{in: buffered, line: 1}}
	header, _, err := r.cells.record(nil)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty: its first line must have the names of the attributes")
	}
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	return r, r.name(header, attributes)
}

// name finds out what the columns are. All that are wrong are reported together.
func (r *csvReader) name(header []cell, attributes []client.Attribute) error {
	known := map[string]column{}
	names := []string{"id", "type"}
	for _, attribute := range attributes {
		known[attribute.Name] = column{attribute.Name, attribute.Type, attribute.Required}
		names = append(names, attribute.Name)
	}
	for _, name := range []string{"id", "type", "created_at", "updated_at"} {
		known[name] = column{name: name, kind: "string"}
	}
	var problems []error
	seen := map[string]bool{}
	for _, each := range header {
		found, ok := known[each.text]
		switch {
		case !ok:
			problems = append(problems, fmt.Errorf("line 1: there is no attribute %q: columns are separated by commas, and there can be %s", each.text, strings.Join(names, ", ")))
		case seen[each.text]:
			problems = append(problems, fmt.Errorf("line 1: the column %s comes twice", each.text))
		}
		seen[each.text] = true
		r.columns = append(r.columns, found)
	}
	return errors.Join(problems...)
}

func (r *csvReader) Next() (Row, error) {
	for {
		record, line, err := r.cells.record(r.record)
		row := Row{Number: r.number + 1, Line: line}
		var bad *badRecord
		switch {
		case errors.As(err, &bad):
			row.Bad = bad
		case err != nil:
			return Row{}, err
		case len(record) == 1 && record[0] == (cell{}) && len(r.columns) > 1:
			continue // an empty line
		default:
			r.record = record
			r.fill(&row, record)
		}
		r.number++
		return row, nil
	}
}

// fill makes the body of a record.
func (r *csvReader) fill(row *Row, record []cell) {
	if len(record) != len(r.columns) {
		row.Bad = fmt.Errorf("the row has %d cells, and the first line %d", len(record), len(r.columns))
		return
	}
	body := append(r.body[:0], '{')
	for i, each := range record {
		column := r.columns[i]
		value, err := column.value(each)
		if err != nil {
			row.Bad = fmt.Errorf("column %s: %w", column.name, err)
			return
		}
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = append(body, '"')
		body = append(append(body, column.name...), '"', ':')
		body = append(body, value...)
	}
	r.body = append(body, '}')
	row.clean(r.body)
}

// value is a cell in JSON.
func (c column) value(from cell) ([]byte, error) {
	if !utf8.ValidString(from.text) {
		return nil, errors.New("not UTF-8: save the file as CSV UTF-8")
	}
	empty := from.text == ""
	if empty && !from.quoted && !(c.required && c.kind == "string") {
		return []byte("null"), nil
	}
	value := jsontext.Value(from.text)
	switch c.kind {
	case "string":
		quoted, err := jsontext.AppendQuote(nil, unguarded(from.text))
		return quoted, err
	case "boolean":
		// Spreadsheets write them in capitals.
		if lower := strings.ToLower(from.text); lower == "true" || lower == "false" {
			return []byte(lower), nil
		}
		return nil, fmt.Errorf("must be true or false, but is %.60q", from.text)
	case "integer", "number":
		if value.Kind() != '0' || !value.IsValid() || strings.TrimSpace(from.text) != from.text {
			return nil, fmt.Errorf("must be a number such as 42 or -1.5, but is %.60q", from.text)
		}
	default:
		if !value.IsValid() {
			return nil, fmt.Errorf("must be JSON of the type %s, but is %.60q", c.kind, from.text)
		}
	}
	return value, nil
}
