// Package terminal writes text of others, which must not control the terminal.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visibly writes text with its control characters visible.
type Visibly struct{ Out io.Writer }

// Write is that of an io.Writer.
func (v Visibly) Write(text []byte) (int, error) {
	if isPlain(text) { // nearly always, as for the access log
		return v.Out.Write(text)
	}
	if _, err := io.WriteString(v.Out, visible(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// isPlain reports whether a text has only visible ASCII characters, line ends and tabs. To decode the characters of a line of the access
// log would take nearly a tenth of the instructions of a GET.
func isPlain(text []byte) bool {
	for _, c := range text {
		if visible := ' ' <= c && c < 0x7f; !visible && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// isControl reports control characters that are not line ends or tabs: C0, DEL, C1, and those that change the direction of
// the text that follows.
func isControl(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Bidi_Control)
}

// visible replaces control characters by the escapes that they have in JSON, and bytes that are not UTF-8 by those of Go.
func visible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case isControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// Is reports whether a writer is a terminal.
func Is(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
