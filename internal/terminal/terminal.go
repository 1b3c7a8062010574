// Package terminal writes text of others, which must not control the terminal.
package terminal

import (
	"bytes"
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
	if bytes.IndexFunc(text, isControl) < 0 { // nearly always, as for the access log
		return v.Out.Write(text)
	}
	if _, err := io.WriteString(v.Out, visible(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// isControl reports control characters that are not line ends or tabs: C0, DEL, C1, and those that change the direction of
// the text that follows. Bytes that are not UTF-8 may be control characters as well.
func isControl(r rune) bool {
	if r >= ' ' && r < 0x7f || r == '\n' || r == '\t' {
		return false
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Bidi_Control)
}

// visible replaces control characters by the escapes that they have in JSON, and bytes that are not UTF-8 by those of Go.
func visible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r != utf8.RuneError && isControl(r):
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
