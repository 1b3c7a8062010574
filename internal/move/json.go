package move

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// lineReader reads NDJSON: one object per line. Empty lines are skipped.
type lineReader struct {
	in           *bufio.Reader
	columns      *Columns
	number, line int64
	text         []byte
}

func (l *lineReader) Next() (Row, error) {
	for {
		tooLong, err := l.read()
		l.line++
		if err != nil && !(errors.Is(err, io.EOF) && len(l.text) > 0) {
			return Row{}, err
		}
		text := bytes.TrimSpace(l.text)
		if len(text) == 0 {
			continue
		}
		l.number++
		row := Row{Number: l.number, Line: l.line}
		if tooLong {
			row.Bad = fmt.Errorf("the line is longer than %d MiB", maxRow>>20)
		} else {
			row.clean(text, l.columns)
		}
		return row, nil
	}
}

// read reads a line, and only the start of one that is too long.
func (l *lineReader) read() (tooLong bool, err error) {
	l.text = l.text[:0]
	for {
		piece, err := l.in.ReadSlice('\n')
		if len(l.text)+len(piece) > maxRow {
			tooLong = true
		} else {
			l.text = append(l.text, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return tooLong, err
		}
	}
}

// arrayReader reads JSON: an array of objects, which may be in the envelope of a response.
type arrayReader struct {
	lines   *lineCounter
	json    *jsontext.Decoder
	columns *Columns
	number  int64
	begun   bool
	wrapped bool
}

func newArrayReader(in io.Reader, columns *Columns) *arrayReader {
	lines := &lineCounter{in: in}
	// A duplicate name makes the row invalid, but reading continues.
	return &arrayReader{lines: lines, columns: columns, json: jsontext.NewDecoder(lines, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

func (a *arrayReader) Next() (Row, error) {
	if !a.begun {
		if err := a.begin(); err != nil {
			return Row{}, err
		}
		a.begun = true
	}
	if a.json.PeekKind() == ']' {
		return Row{}, a.end()
	}
	a.lines.from = a.json.InputOffset()
	value, err := a.json.ReadValue()
	if err != nil {
		return Row{}, a.at(err)
	}
	a.number++
	row := Row{Number: a.number, Line: a.lines.at(a.json.InputOffset() - int64(len(value)))}
	row.clean(value, a.columns)
	return row, nil
}

// begin reads up to the first item.
func (a *arrayReader) begin() error {
	if a.json.PeekKind() == '{' {
		a.wrapped = true
		if _, err := a.json.ReadToken(); err != nil {
			return a.at(err)
		}
		name, err := a.json.ReadToken()
		if err != nil {
			return a.at(err)
		}
		if name.Kind() != '"' || name.String() != "data" {
			return errNoArray
		}
	}
	token, err := a.json.ReadToken()
	switch {
	case errors.Is(err, io.EOF) || err == nil && token.Kind() != '[':
		return errNoArray
	case err != nil:
		return a.at(err)
	}
	return nil
}

var errNoArray = errors.New("the file must be a JSON array of objects (for one object per line, use the format ndjson)")

// end checks that nothing follows the last item.
func (a *arrayReader) end() error {
	closing := 1
	if a.wrapped {
		closing = 2
	}
	for range closing {
		token, err := a.json.ReadToken()
		if err != nil {
			return a.at(err)
		}
		if kind := token.Kind(); kind != ']' && kind != '}' {
			return fmt.Errorf("line %d: there is unexpected text after the array", a.lines.at(a.json.InputOffset()))
		}
	}
	switch _, err := a.json.ReadToken(); {
	case errors.Is(err, io.EOF):
		return io.EOF
	case err == nil || errors.As(err, new(*jsontext.SyntacticError)):
		return fmt.Errorf("line %d: there is unexpected text after the array", a.lines.at(a.json.InputOffset()))
	default:
		return a.at(err)
	}
}

var errTooLong = fmt.Errorf("the row is longer than %d MiB", maxRow>>20)

func (a *arrayReader) at(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case a.lines.failed == errTooLong:
		return fmt.Errorf("row %d: %w", a.number+1, errTooLong)
	case errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF):
		line := a.lines.at(syntax.ByteOffset)
		return fmt.Errorf("line %d: not JSON at character %d: %s", line, syntax.ByteOffset-a.lines.start+1, problemOf(syntax))
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return a.lines.failed // an error of the disk, for example
	}
	return fmt.Errorf("line %d: %w", a.lines.at(a.lines.read), plain(err))
}

// lineCounter maps increasing offsets to line numbers. It fails at a row that is too long.
type lineCounter struct {
	in     io.Reader
	from   int64 // offset of the row that is being read
	read   int64
	ends   []int64 // offsets of line ends after the last one asked for
	passed int64   // line ends
	start  int64   // offset of the line that was last asked for
	failed error   // error of the underlying reader
}

func (l *lineCounter) Read(into []byte) (int, error) {
	if l.read-l.from > maxRow { // the row has not ended yet
		l.failed = errTooLong
		return 0, l.failed
	}
	n, err := l.in.Read(into)
	for from := 0; ; {
		end := bytes.IndexByte(into[from:n], '\n')
		if end < 0 {
			break
		}
		l.ends = append(l.ends, l.read+int64(from+end))
		from += end + 1
	}
	l.read += int64(n)
	l.failed = err
	return n, err
}

func (l *lineCounter) at(offset int64) int64 {
	passed := 0
	for passed < len(l.ends) && l.ends[passed] < offset {
		passed++
	}
	if passed > 0 {
		l.start = l.ends[passed-1] + 1
	}
	l.passed += int64(passed)
	l.ends = append(l.ends[:0], l.ends[passed:]...)
	return l.passed + 1
}
