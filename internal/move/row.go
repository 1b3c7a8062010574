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

	"github.com/plural-go/plural/client"
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

// FormatOf returns the format of a file by the ending of its name, after which .gz may
// stand. It is empty if it cannot be told.
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

	// Timed: it had created_at or updated_at, which the server sets.
	Timed bool

	// Bad is why the row is no resource, if it is none. The next row can still be read.
	Bad error
}

// Reader reads the rows of a file.
type Reader interface {
	// Next reads a row, and returns io.EOF after the last. Any other error says that the
	// file cannot be read any further.
	Next() (Row, error)
}

// maxRow bounds the memory of a row.
const maxRow = 64 << 20

// NewReader reads rows in a format. The attributes are those of the collection: cells of
// CSV do not say themselves what they are.
func NewReader(in io.Reader, format Format, attributes []client.Attribute) (Reader, error) {
	if format == CSV {
		return NewCSVReader(in, attributes, ',')
	}
	text, err := textOf(in)
	switch {
	case err != nil:
		return nil, err
	case format == NDJSON:
		return &lineReader{in: text}, nil
	case format == JSON:
		return newArrayReader(text), nil
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

// clean takes a JSON object as it stands in a file, and makes the body of it that creates
// the resource: without what the server sets.
func (r *Row) clean(text []byte) {
	decoder := jsontext.NewDecoder(bytes.NewReader(text))
	body, err := r.members(decoder)
	if err == nil && len(bytes.TrimSpace(text[decoder.InputOffset():])) > 0 {
		err = errors.New("something follows the end of the object")
	}
	if err != nil {
		r.Bad = plain(err)
		return
	}
	r.Body = body
}

func (r *Row) members(decoder *jsontext.Decoder) ([]byte, error) {
	if decoder.PeekKind() != '{' {
		if _, err := decoder.ReadValue(); err != nil {
			return nil, err
		}
		return nil, errors.New("a row must be a JSON object")
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	body := []byte{'{'}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		start := len(body)
		if start > 1 {
			body = append(body, ',')
		}
		body = append(append(body, name...), ':')
		key := string(name)
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		switch {
		case key == `"created_at"` || key == `"updated_at"`:
			r.Timed = true
			body = body[:start]
			continue
		case key == `"id"` && value.Kind() == 'n':
			body = body[:start] // the server gives it one
			continue
		case key == `"id"`:
			r.setID(bytes.Trim(value, `"`))
		}
		body = append(body, value...)
	}
	_, err := decoder.ReadToken()
	return append(body, '}'), err
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
	rest := r.Body[1:]
	body := append(make([]byte, 0, len(r.Body)+46), `{"id":"`...)
	body = append(id.Append(body), '"')
	if rest[0] != '}' {
		body = append(body, ',')
	}
	r.Body, r.ID, r.minted = append(body, rest...), id.String(), true
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
