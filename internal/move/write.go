package move

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
)

// Writer writes rows to a file.
type Writer interface {
	Write(representation []byte) error
	// Close writes what follows the last row. It does not close the file.
	Close() error
}

// NewWriter writes rows in a format. The attributes are those of the collection, for a
// file without rows.
func NewWriter(out io.Writer, format Format, attributes []client.Attribute) (Writer, error) {
	switch format {
	case NDJSON:
		return &lineWriter{out: out}, nil
	case JSON:
		return &arrayWriter{out: out}, nil
	case CSV:
		return &csvWriter{out: out, attributes: attributes}, nil
	}
	return nil, fmt.Errorf("there is no format %q", format)
}

type lineWriter struct {
	out  io.Writer
	line []byte
}

func (w *lineWriter) Write(representation []byte) error {
	w.line = append(append(w.line[:0], representation...), '\n')
	_, err := w.out.Write(w.line)
	return err
}

func (w *lineWriter) Close() error { return nil }

type arrayWriter struct {
	out   io.Writer
	begun bool
	line  []byte
}

func (w *arrayWriter) Write(representation []byte) error {
	start := ",\n"
	if !w.begun {
		w.begun, start = true, "[\n"
	}
	w.line = append(append(w.line[:0], start...), representation...)
	_, err := w.out.Write(w.line)
	return err
}

func (w *arrayWriter) Close() error {
	end := "\n]\n"
	if !w.begun {
		end = "[]\n"
	}
	_, err := io.WriteString(w.out, end)
	return err
}

// csvWriter writes CSV. Its columns are the members of the first resource, as all
// resources of a collection have the same ones.
type csvWriter struct {
	out        io.Writer
	attributes []client.Attribute
	names      []string
	line       []byte
}

func (w *csvWriter) Write(representation []byte) error {
	if w.names == nil {
		names, err := memberNames(representation)
		if err != nil {
			return err
		}
		if err := w.header(names); err != nil {
			return err
		}
	}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(representation))
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	w.line = w.line[:0]
	for i, name := range w.names {
		token, err := decoder.ReadToken()
		if err != nil {
			return err
		}
		if token.Kind() != '"' || token.String() != name {
			return fmt.Errorf("a resource has other members than the first one: %s in place of %s", token, name)
		}
		if i > 0 {
			w.line = append(w.line, ',')
		}
		value, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		if w.line, err = appendCell(w.line, value); err != nil {
			return err
		}
	}
	if decoder.PeekKind() != '}' {
		return errors.New("a resource has more members than the first one")
	}
	_, err := w.out.Write(append(w.line, "\r\n"...))
	return err
}

func memberNames(representation []byte) (names []string, err error) {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(representation))
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		names = append(names, name.String())
		if err := decoder.SkipValue(); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func (w *csvWriter) header(names []string) error {
	w.names = names
	_, err := io.WriteString(w.out, strings.Join(names, ",")+"\r\n")
	return err
}

func (w *csvWriter) Close() error {
	if w.names != nil {
		return nil
	}
	return w.header(append(namesOf(w.attributes), "created_at", "updated_at"))
}

// appendCell appends a value as a cell. Null is an empty cell, and the empty string a
// quoted one.
func appendCell(line []byte, value jsontext.Value) ([]byte, error) {
	switch value.Kind() {
	case 'n':
		return line, nil
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return line, err
		}
		return appendText(line, guarded(string(text))), nil
	case '{', '[':
		return appendText(line, string(value)), nil
	default:
		return append(line, value...), nil
	}
}

func appendText(line []byte, text string) []byte {
	if text != "" && !strings.ContainsAny(text, "\",\r\n") && strings.TrimSpace(text) == text {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"')
}

// A spreadsheet takes a cell that begins with one of these for a formula, and may have it do
// things. The wide ones are those of Japanese and Chinese keyboards.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// isFormula reports whether a text is a formula, without the apostrophes before it.
func isFormula(text string) bool {
	text = strings.TrimLeft(text, "'")
	return text != "" && strings.ContainsRune(formulaStarts, []rune(text[:min(len(text), 4)])[0])
}

// guarded makes a text one that no spreadsheet takes for a formula: with an apostrophe
// before it. Texts that look as if they had one get another, so that unguarded gives back what
// was there.
func guarded(text string) string {
	if isFormula(text) && !negativeNumber.MatchString(text) {
		return "'" + text
	}
	return text
}

// negativeNumber is what begins as a formula does and is none, such as a decimal below zero.
var negativeNumber = regexp.MustCompile(`^-[0-9]+(\.[0-9]+)?$`)

func unguarded(text string) string {
	if strings.HasPrefix(text, "'") && isFormula(text) {
		return text[1:]
	}
	return text
}
