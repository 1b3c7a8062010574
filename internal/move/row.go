// Package move imports resources from files into collections, and exports them to files:
// NDJSON, JSON and CSV, row by row. It talks to a server as any client does.
package move

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/model"
)

// Format is how rows are written in a file.
type Format string

// The formats.
const (
	NDJSON Format = "ndjson" // a resource in each line
	JSON   Format = "json"   // an array of resources
	CSV    Format = "csv"    // RFC 4180, with the names of the attributes in the first line
)

// Formats are all there are.
var Formats = []Format{NDJSON, JSON, CSV}

// FormatOf returns the format of a file by the ending of its name, which .gz may follow. It is empty if
// the ending is unknown.
func FormatOf(name string) (format Format, zipped bool) {
	name, zipped = strings.CutSuffix(strings.ToLower(name), ".gz")
	for ending, format := range map[string]Format{".ndjson": NDJSON, ".jsonl": NDJSON, ".json": JSON, ".csv": CSV} {
		if strings.HasSuffix(name, ending) {
			return format, zipped
		}
	}
	return "", zipped
}

// Row is a row of a file.
type Row struct {
	Number int64 // the first is 1
	Line   int64 // where it begins
	Body   []byte
	ID     string // empty if it has none, or an invalid one
	given  bool   // the file has an id, valid or not
	minted bool   // the id was generated

	references []pending // attributes that are not in the Body yet

	// Timed: it had created_at or updated_at, which the server sets.
	Timed bool

	// Computed are the attributes that it had and that the server computes.
	Computed []string

	// Bad is why the row is no resource, if it is none. The next row can still be read.
	Bad error
}

// Reader reads the rows of a file.
type Reader interface {
	// Next reads a row, and returns io.EOF after the last. Any other error says that the
	// file cannot be read any further.
	Next() (Row, error)
}

// maxRow bounds the memory of a row: it has sixteen times the size that a server accepts by default.
const maxRow = 16 << 20

// maxCells bounds the memory of the cells of a row, each of which needs more than its text. A spreadsheet has at most 16,384 columns.
const maxCells = 1 << 16

// NewReader reads rows in a format.
func NewReader(in io.Reader, format Format, columns *Columns) (Reader, error) {
	if format == CSV {
		return NewCSVReader(in, columns, ',')
	}
	text, err := textOf(in)
	switch {
	case err != nil:
		return nil, err
	case format == NDJSON:
		return &lineReader{in: text, columns: columns}, nil
	case format == JSON:
		return newArrayReader(text, columns), nil
	}
	return nil, fmt.Errorf("there is no format %q", format)
}

const byteOrderMark = "\xef\xbb\xbf"

// textOf skips the byte order mark of a file, which some programs write.
func textOf(in io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(in, 256<<10)
	start, _ := text.Peek(len(byteOrderMark)) // an error comes again with the first row
	switch {
	case string(start) == byteOrderMark:
		_, _ = text.Discard(len(byteOrderMark))
	case bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff")):
		return nil, errors.New("this is UTF-16: convert it to UTF-8")
	}
	return text, nil
}

// clean makes the body that creates a resource of a JSON object in a file: it leaves out what the server
// sets.
func (r *Row) clean(text []byte, columns *Columns) {
	decoder := &columns.decoder
	decoder.Reset(bytes.NewBuffer(text)) // a Buffer is read where it is, and not copied
	body, err := r.members(decoder, columns, make([]byte, 0, len(text)+idMember))
	if err == nil && len(bytes.TrimSpace(text[decoder.InputOffset():])) > 0 {
		err = errors.New("something follows the end of the object")
	}
	if err != nil {
		r.Bad = plain(err)
		return
	}
	r.Body = body
}

// idMember is how many bytes the id of a row has in its body.
const idMember = len(`,"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab"`)

// members appends a resource without what the server sets.
func (r *Row) members(decoder *jsontext.Decoder, columns *Columns, body []byte) ([]byte, error) {
	if decoder.PeekKind() != '{' {
		if _, err := decoder.ReadValue(); err != nil {
			return nil, err
		}
		return nil, errors.New("a row must be a JSON object")
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	body = append(body, '{')
	var given map[string]string // columns, by attribute
	if columns.isMapped() {
		given = map[string]string{}
	}
	for decoder.PeekKind() != '}' {
		token, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		column, known := columns.known[token.String()]
		if !known { // a name is copied once, and not for each row
			column = token.String()
			columns.remember(column)
		}
		delete(columns.unseen, column)
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		if columns.ignored[column] {
			continue
		}
		name := columns.attributeOf(column)
		if other, again := given[name]; again || columns.fixed(name) {
			return nil, columns.twice(name, other, column)
		}
		if given != nil {
			given[name] = column
		}
		extended, err := r.member(body, columns, name, value)
		if r.isMisread(err, columns.shown(name)) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", columns.shown(name), err)
		}
		body = extended
	}
	_, err := decoder.ReadToken()
	return columns.appendConstants(body), err
}

// member appends a member to the body of a row, unless the server sets it, or it is a reference that is
// looked up later.
func (r *Row) member(body []byte, columns *Columns, name string, value jsontext.Value) ([]byte, error) {
	if isTime(name) && !columns.times {
		r.Timed = true
		return body, nil
	}
	if columns.computed[name] {
		r.Computed = append(r.Computed, name)
		return body, nil
	}
	value, err := columns.convert(name, value)
	if err != nil {
		return nil, err
	}
	switch {
	case (name == "id" || isTime(name)) && value.Kind() == 'n':
		return body, nil // the server sets it
	case name == "id":
		r.setID(bytes.Trim(value, `"`))
	case columns.lookups[name] != nil:
		text, null, err := columns.lookups[name].text(value)
		if err != nil || !null {
			r.references = append(r.references, pending{columns.lookups[name], text})
			return body, err
		}
	}
	return append(appendMember(body, name), value...), nil
}

// size is how many bytes the row has in an array, with its references.
func (r *Row) size() int {
	size := len(r.Body) + 1
	for _, each := range r.references {
		size += len(each.attribute) + 42
	}
	return size
}

// setID records the id of a row. The server refuses an invalid one.
func (r *Row) setID(text []byte) {
	r.given = true
	if id, ok := model.ParseID(text); ok {
		r.ID = id.String()
	}
}

// withID sets a generated id.
func (r *Row) withID(id model.ID) {
	body := append(appendMember(r.Body[:len(r.Body)-1], "id"), '"')
	r.Body, r.ID, r.minted = append(id.Append(body), `"}`...), id.String(), true
}

// plain shortens an error about JSON.
func plain(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return errors.New("the JSON ends in the middle of a value")
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON at character %d: %s", syntax.ByteOffset+1, problemOf(syntax))
	}
	return err
}

func problemOf(syntax *jsontext.SyntacticError) string {
	return strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
}
