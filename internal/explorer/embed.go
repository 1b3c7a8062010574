// Package explorer embeds the web pages, the explorer and the API reference, which package api
// serves. Their source is in web/; make web builds it into dist/, which is committed.
package explorer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed dist
var dist embed.FS

// File is a file as it is served.
type File struct {
	Type   string // of its content
	Body   []byte
	Zipped []byte // the same in gzip; nil if it is short
	ETag   string // without quotes
	Fixed  bool   // its name has a hash of its content: it never changes
}

// files are compressed at the first request, so that a server whose pages are not used does not.
var files = sync.OnceValue(func() map[string]*File {
	all := map[string]*File{}
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "dist/")
		all[name] = newFile(name, body)
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

// contentTypes are all that the build makes. The system's own table could say otherwise.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

// minZipped is the length from which on it is worth to compress a file.
const minZipped = 1 << 10

func newFile(name string, body []byte) *File {
	f := &File{Type: contentTypes[path.Ext(name)], Body: body, Fixed: path.Base(path.Dir(name)) == "assets"}
	f.ETag = tag(body)
	if len(body) < minZipped {
		return f
	}
	var zipped bytes.Buffer
	zipper, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // which is a level
	_, _ = zipper.Write(body)                                       // to memory: it cannot fail
	_ = zipper.Close()
	f.Zipped = zipped.Bytes()
	return f
}

func tag(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Find returns a file of a page by its path below the page, or nil.
func Find(page, name string) *File { return files()[page+"/"+name] }

// baseMark is where the document of a page says what its addresses are relative to.
const baseMark = `<base href="/" />`

// Document returns the document of a page for the path that it is mounted at, and the newest version of the interface (0: it has none),
// which is the one that the explorer uses. It is the same for all addresses below, so it says itself what its links are relative to.
func Document(page, at string, version int) *File {
	f := *Find(page, "index.html")
	head := `<base href="` + html.EscapeString(at) + `/" />`
	if version > 0 {
		head += "\n    " + `<meta name="api-version" content="` + strconv.Itoa(version) + `" />`
	}
	f.Body = bytes.Replace(f.Body, []byte(baseMark), []byte(head), 1)
	f.Zipped, f.ETag = nil, tag(f.Body) // it is short
	return &f
}
