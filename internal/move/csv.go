package move

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
)

// cell is a field of a CSV record. An empty field is null, and "" is the empty string.
type cell struct {
	text   []byte // valid until the next record is read
	quoted bool
}

func (c cell) isNothing() bool { return len(c.text) == 0 && !c.quoted }

// cellReader parses CSV as RFC 4180 defines it. The reader of the standard library removes carriage
// returns before line feeds within quotes, and does not distinguish "" from an empty field. Either
// would change data.
type cellReader struct {
	in        *bufio.Reader
	delimiter byte
	line      int64 // line of the next byte

	text  []byte // of the record
	ends  []int  // of its cells, in text
	cells []cell
}

// badRecord is an invalid record. Reading continues after the end of its line.
type badRecord struct {
	reason string
	cell   int // that is invalid; wholeRecord: no single one
}

const wholeRecord = -1

func (e *badRecord) Error() string { return e.reason }

// record reads a record, and returns io.EOF after the last. Line is where it begins.
func (r *cellReader) record() (cells []cell, line int64, err error) {
	r.text, r.ends, r.cells = r.text[:0], r.ends[:0], r.cells[:0]
	line = r.line
	if _, err := r.in.Peek(1); err != nil {
		return nil, line, err
	}
	for last := false; !last; {
		if len(r.cells) == maxCells {
			return nil, line, r.skip(fmt.Sprintf("the row has more than %d cells", maxCells), wholeRecord)
		}
		var quoted bool
		if quoted, last, err = r.field(); err != nil {
			return nil, line, err
		}
		r.ends = append(r.ends, len(r.text))
		r.cells = append(r.cells, cell{quoted: quoted})
	}
	start := 0
	for i, end := range r.ends {
		r.cells[i].text = r.text[start:end]
		start = end
	}
	return r.cells, line, nil
}

// field reads a field and its separator. Last says that it is the last field of the record.
func (r *cellReader) field() (quoted, last bool, err error) {
	c, err := r.in.ReadByte()
	if err == nil && c == '"' {
		quoted = true
		if err := r.quoted(); err != nil {
			return quoted, false, err
		}
		c, err = r.in.ReadByte()
	}
	for ; ; c, err = r.in.ReadByte() {
		if errors.Is(err, io.EOF) {
			return quoted, true, nil
		}
		if err != nil {
			return quoted, false, err
		}
		switch c {
		case r.delimiter:
			return quoted, false, nil
		case '\n':
			r.line++
			return quoted, true, nil
		case '\r':
			if next, err := r.in.Peek(1); err == nil && next[0] == '\n' {
				continue
			}
		}
		switch {
		case quoted:
			return quoted, false, r.skip("something follows the closing quote of a cell: a quote within quotes is written twice", len(r.cells))
		case c == '"':
			return quoted, false, r.skip("a quote is inside a cell that does not begin with one: put the cell into quotes, and write the quote twice", len(r.cells))
		case len(r.text) == maxRow:
			return quoted, false, r.skip(fmt.Sprintf("the row is longer than %d MiB", maxRow>>20), wholeRecord)
		}
		r.text = append(r.text, c)
	}
}

// quoted reads up to the closing quote.
func (r *cellReader) quoted() error {
	began := r.line
	for {
		c, err := r.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("line %d: the quote that begins here is never closed: close it, or write a quote within quotes twice", began)
		case err != nil:
			return err
		case c == '\n':
			r.line++
		case c == '"':
			if next, err := r.in.Peek(1); err != nil || next[0] != '"' {
				return nil
			}
			_, _ = r.in.ReadByte() // peeked above
		}
		if len(r.text) == maxRow {
			return fmt.Errorf("line %d: the quote that begins here is not closed within %d MiB: close it, or write a quote within quotes twice", began, maxRow>>20)
		}
		r.text = append(r.text, c)
	}
}

// skip reads to the end of the line of an invalid record.
func (r *cellReader) skip(reason string, cell int) error {
	for {
		c, err := r.in.ReadByte()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if c == '\n' {
			r.line++
		}
		if err != nil || c == '\n' {
			return &badRecord{reason, cell}
		}
	}
}

// csvReader reads CSV whose first record contains the names of the columns.
type csvReader struct {
	cells  *cellReader
	means  *Columns
	header []column
	number int64
}

// column describes how to convert the cells of a column.
type column struct {
	title   string // in the file
	name    string // of the attribute
	kind    string // JSON Schema type
	free    bool   // a string without a format, which may be empty
	ignored bool
	lookup  *lookup
	form    *conversion // nil: the cells are written as the schema says
}

func (c *Columns) columnOf(attribute client.Attribute) column {
	return column{name: attribute.Name, kind: attribute.Type, free: attribute.Type == "string" && attribute.Format == "", form: c.reads(attribute.Name)}
}

// Delimiters are the allowed separators of columns.
const Delimiters = ",;\t|"

// NewCSVReader reads rows of CSV with columns separated by one of Delimiters.
func NewCSVReader(in io.Reader, columns *Columns, delimiter byte) (Reader, error) {
	text, err := textOf(in)
	if err != nil {
		return nil, err
	}
	r := &csvReader{cells: &cellReader{in: text, delimiter: delimiter, line: 1}, means: columns}
	header, _, err := r.cells.record()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty: its first line must have the names of the attributes")
	}
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	return r, r.name(header)
}

// maxProblems bounds how many wrong columns are reported: a file may not be CSV at all.
const maxProblems = 20

// name reads the header. It reports all wrong columns together.
func (r *csvReader) name(header []cell) error {
	known := map[string]column{}
	for _, attribute := range r.means.attributes {
		known[attribute.Name] = r.means.columnOf(attribute)
	}
	for _, name := range ownMembers {
		known[name] = column{name: name, kind: "string", form: r.means.reads(name)}
	}
	var problems []error
	columns, given := map[string]bool{}, map[string]string{}
	for _, each := range header {
		name := string(each.text)
		attribute := r.means.attributeOf(name)
		found, ok := known[attribute]
		if len(problems) == maxProblems {
			return errors.Join(append(problems, errors.New("line 1: the other columns were not examined"))...)
		}
		switch {
		case columns[name]:
			problems = append(problems, fmt.Errorf("line 1: the column %s appears twice", shorten(name)))
		case r.means.ignored[name]:
			found, attribute = column{ignored: true}, ""
		case !ok:
			problems = append(problems, fmt.Errorf("line 1: there is no attribute %q: %s", shorten(name), r.advice(name, known)))
		case given[attribute] != "" || r.means.fixed(attribute):
			problems = append(problems, fmt.Errorf("line 1: %w", r.means.twice(attribute, given[attribute], name)))
		}
		columns[name], given[attribute] = true, name
		found.title, found.lookup = name, r.means.lookups[found.name]
		r.header = append(r.header, found)
	}
	return errors.Join(append(problems, r.absent(columns))...)
}

// absent reports columns that the flags name and the file does not have.
func (r *csvReader) absent(columns map[string]bool) error {
	for column := range columns {
		delete(r.means.unseen, column)
	}
	return r.means.absent("line 1: there is no column", slices.Sorted(maps.Keys(columns)))
}

// advice suggests a name for an unknown column.
func (r *csvReader) advice(name string, known map[string]column) string {
	meant := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
	if _, ok := known[meant]; ok {
		return "did you mean " + meant + "?"
	}
	if strings.Contains(name, "\r") {
		return "a line must end with a line feed, or a carriage return and a line feed: save the file as CSV UTF-8"
	}
	advice := "the attributes are " + strings.Join(namesOf(r.means.attributes), ", ")
	if at := strings.IndexAny(name, Delimiters); at >= 0 {
		return advice + fmt.Sprintf("; if %q separates the columns, use --delimiter", name[at])
	}
	return advice + "; use --map for a column with another name, or --ignore"
}

func (r *csvReader) Next() (Row, error) {
	for {
		record, line, err := r.cells.record()
		row := Row{Number: r.number + 1, Line: line}
		var bad *badRecord
		switch {
		case errors.As(err, &bad) && bad.cell >= 0 && bad.cell < len(r.header):
			row.Bad = fmt.Errorf("column %s: %w", r.header[bad.cell].title, bad)
		case errors.As(err, &bad):
			row.Bad = bad
		case err != nil:
			return Row{}, err
		case len(record) == 1 && record[0].isNothing():
			continue // an empty line
		default:
			r.fill(&row, record)
		}
		r.number++
		return row, nil
	}
}

// fill builds the body of a record, without the attributes that the server sets.
func (r *csvReader) fill(row *Row, record []cell) {
	if len(record) != len(r.header) {
		row.Bad = fmt.Errorf("the row has %s, but the first line has %d", cellsOf(len(record)), len(r.header))
		return
	}
	body := append(make([]byte, 0, 2*len(r.cells.text)+32*len(record)+idMember), '{')
	for i, each := range record {
		column := r.header[i]
		if len(r.means.conversions) > 0 && r.means.isNull(column.name, unguarded(string(each.text))) {
			each = cell{}
		}
		switch {
		case column.ignored:
			continue
		case isTime(column.name) && !r.means.times:
			row.Timed = true
			continue
		case r.means.computed[column.name]:
			row.Computed = append(row.Computed, column.name)
			continue
		case (column.name == "id" || column.name == "type" || isTime(column.name)) && len(each.text) == 0:
			continue
		case column.name == "id":
			row.setID(each.text)
		case column.lookup != nil && len(each.text) > 0:
			if err := row.addReference(column.lookup, each); err != nil {
				row.Bad = fmt.Errorf("%s: %w", r.means.shown(column.name), err)
				return
			}
			continue
		}
		extended, err := column.append(appendMember(body, column.name), each)
		if row.isMisread(err, r.means.shown(column.name)) {
			continue
		}
		if err != nil {
			row.Bad = fmt.Errorf("column %s: %w", column.title, err)
			return
		}
		body = extended
	}
	row.Body = r.means.appendConstants(body)
}

// addReference adds a reference to the resource that has the value of a cell.
func (r *Row) addReference(l *lookup, from cell) error {
	if !utf8.Valid(from.text) {
		return errNotUTF8
	}
	value, err := l.parse(unguarded(string(from.text)))
	r.references = append(r.references, pending{l, value})
	return err
}

var errNotUTF8 = errors.New("not UTF-8: save the file as CSV UTF-8")

func cellsOf(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprint(n, " cells")
}

// append appends a cell as JSON. A text that does not have the type of the column becomes a string,
// which the server reports together with all other errors of the row.
func (c column) append(body []byte, from cell) ([]byte, error) {
	if !utf8.Valid(from.text) {
		return nil, errNotUTF8
	}
	// Some programs quote every cell: "" is an empty string only where the column allows one.
	if len(from.text) == 0 && !(c.free && from.quoted) {
		return append(body, "null"...), nil
	}
	if c.form != nil {
		return c.form.append(body, unguarded(string(from.text)))
	}
	value := jsontext.Value(from.text)
	switch c.kind {
	case "string":
		return jsontext.AppendQuote(body, unguarded(string(from.text)))
	case "boolean":
		// Spreadsheets write them in capitals.
		if lower := strings.ToLower(string(from.text)); lower == "true" || lower == "false" {
			return append(body, lower...), nil
		}
	case "integer", "number":
		if value.Kind() == '0' && value.IsValid() && len(bytes.TrimSpace(value)) == len(value) {
			return append(body, value...), nil
		}
	default:
		if value.IsValid() {
			return append(body, value...), nil
		}
	}
	return jsontext.AppendQuote(body, from.text)
}
