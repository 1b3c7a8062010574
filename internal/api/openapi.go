package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/openapi"
	"github.com/plural-go/plural/schema"
)

// document is the OpenAPI document for callers of one kind.
type document struct {
	body []byte
	mark string // tells documents apart
}

// documents is those that were asked for. There is one for each kind of caller, and where
// a program mounts the server in many places one for each of these.
type documents struct {
	mutex sync.Mutex
	all   map[string]*document
	size  int // of all bodies
}

// maxDocuments is how many bytes of them are kept: there can be many places. One is kept in
// any case.
const maxDocuments = 64 << 20

// of finds a document, or makes it.
func (d *documents) of(name string, make func() []byte) *document {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if found := d.all[name]; found != nil {
		return found
	}
	body := make()
	if d.size += len(body); d.size > maxDocuments {
		clear(d.all)
		d.size = len(body)
	}
	sum := sha256.Sum256(body)
	d.all[name] = &document{body: body, mark: hex.EncodeToString(sum[:12])}
	return d.all[name]
}

// openAPI answers with the document of what the caller may do.
func (a *API) openAPI(r *http.Request, by *auth.Permit) (*reply, error) {
	condition, err := conditionOf(r)
	if err != nil {
		return nil, err
	}
	found := a.openapis.of(by.Shape()+" "+a.Prefix, func() []byte { return openapi.Document(a.Schema, a.documentOptions(by)) })
	zipped := wantsGzip(r)
	etag := `"` + found.mark + `"`
	if zipped {
		etag = `"` + found.mark + `.gzip"`
	}
	unchanged, err := condition.AllowsReading(etag)
	if err != nil {
		return nil, err
	}
	// It changes with the schema or the access, and so with a new start of the server only;
	// asking again costs next to nothing.
	head := header("Cache-Control", "private, no-cache")
	head.Set("ETag", etag)
	head["Vary"] = acceptEncoding
	if unchanged {
		return &reply{status: http.StatusNotModified, header: head}, nil
	}
	head.Set("Content-Type", "application/json")
	if zipped {
		head.Set("Content-Encoding", "gzip")
	}
	return &reply{status: http.StatusOK, header: head, body: found.body, zipped: zipped}, nil
}

// documentOptions is the options of the document for a caller, here.
func (a *API) documentOptions(by *auth.Permit) openapi.Options {
	options := a.Document
	options.Prefix = a.Prefix
	if a.Guard != nil {
		options.By = by
		options.Public = a.Guard.Policy.Permit(auth.Caller{Role: schema.PublicRole})
	}
	return options
}
