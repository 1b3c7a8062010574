package bench

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The handler that one would write by hand for one collection, with care for its
// speed and none for anything else: JSON is appended straight to the answer, a list is
// sent piece by piece, writers share a transaction.

// database is what the handler stands on.
type database interface {
	// get appends the user with an id, or returns errNone.
	get(ctx context.Context, dst []byte, id [16]byte) ([]byte, error)
	// list adds users to a page.
	list(ctx context.Context, q listQuery, p *page) error
	// create returns when the user is durable.
	create(ctx context.Context, u *newUser) error
	// rename appends the user with its new name, or returns errNone.
	rename(ctx context.Context, dst []byte, id [16]byte, name, now string) ([]byte, error)
	close()
}

var errNone = errors.New("there is no such user")

type listQuery struct {
	onlyActive    bool
	offset, limit int64
}

// newUser is a user that is created.
type newUser struct {
	id      [16]byte
	Name    string `json:"name"`
	Email   string `json:"email"`
	Active  bool   `json:"active"`
	created string
}

const contentType = "application/json;charset=utf-8"

type handWritten struct{ database }

func newHandWritten(db database) http.Handler {
	h := handWritten{db}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", h.getOne)
	mux.HandleFunc("GET /users", h.getMany)
	mux.HandleFunc("POST /users", h.post)
	mux.HandleFunc("PATCH /users/{id}", h.patch)
	return mux
}

func (h handWritten) getOne(w http.ResponseWriter, r *http.Request) {
	id, err := parseID(r.PathValue("id"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer, err = h.get(r.Context(), append((*buffer)[:0], `{"data":`...), id)
	h.answer(w, r, http.StatusOK, buffer, err)
}

func (h handWritten) post(w http.ResponseWriter, r *http.Request) {
	u := newUser{Active: true, created: now()}
	if err := json.NewDecoder(r.Body).Decode(&u); err != nil || u.Name == "" || u.Email == "" {
		http.Error(w, "a user has a name and an email", http.StatusUnprocessableEntity)
		return
	}
	u.id = newID()
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	err := h.create(r.Context(), &u)
	*buffer = appendUser(append((*buffer)[:0], `{"data":`...), u.id[:], u.Name, u.Email, u.Active, u.created, u.created)
	h.answer(w, r, http.StatusCreated, buffer, err)
}

func (h handWritten) patch(w http.ResponseWriter, r *http.Request) {
	id, err := parseID(r.PathValue("id"))
	var change struct {
		Name string `json:"name"`
	}
	if err != nil || json.NewDecoder(r.Body).Decode(&change) != nil || change.Name == "" {
		http.Error(w, "a user has a name", http.StatusUnprocessableEntity)
		return
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer, err = h.rename(r.Context(), append((*buffer)[:0], `{"data":`...), id, change.Name, now())
	h.answer(w, r, http.StatusOK, buffer, err)
}

// answer sends a buffer that holds the beginning of an envelope.
func (h handWritten) answer(w http.ResponseWriter, r *http.Request, status int, buffer *[]byte, err error) {
	switch {
	case err == errNone:
		http.NotFound(w, r)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	*buffer = append(*buffer, '}')
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(*buffer)))
	w.WriteHeader(status)
	_, _ = w.Write(*buffer) // a client that is gone needs no answer
}

func (h handWritten) getMany(w http.ResponseWriter, r *http.Request) {
	q := listQuery{limit: 100}
	values := r.URL.Query()
	for name, target := range map[string]*int64{"limit": &q.limit, "offset": &q.offset} {
		if value := values.Get(name); value != "" {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				http.Error(w, name+" is a number", http.StatusBadRequest)
				return
			}
			*target = n
		}
	}
	q.onlyActive = values.Has("filter[active]")
	buffer := buffers.Get().(*[]byte)
	p := &page{w: w, buffer: append((*buffer)[:0], `{"data":[`...)}
	defer func() {
		*buffer = p.buffer
		buffers.Put(buffer)
	}()
	w.Header().Set("Content-Type", contentType)
	if err := h.list(r.Context(), q, p); err != nil {
		panic(http.ErrAbortHandler)
	}
	p.buffer = append(p.buffer, "]}"...)
	if !p.begun {
		w.Header().Set("Content-Length", strconv.Itoa(len(p.buffer)))
	}
	_, _ = w.Write(p.buffer) // as above
}

// page is a list on its way out.
type page struct {
	w      http.ResponseWriter
	buffer []byte
	rows   int
	begun  bool // something is sent already
}

const pieceSize = 32 << 10

// next makes room for another row.
func (p *page) next() error {
	if p.rows++; p.rows == 1 {
		return nil
	}
	p.buffer = append(p.buffer, ',')
	if len(p.buffer) < pieceSize {
		return nil
	}
	_, err := p.w.Write(p.buffer)
	p.buffer, p.begun = p.buffer[:0], true
	return err
}

var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, pieceSize+4<<10)) }}

// appendUser appends a user as JSON.
func appendUser[text string | []byte](dst, id []byte, name, email text, active bool, created, updated text) []byte {
	dst = append(dst, `{"id":"`...)
	dst = appendID(dst, id)
	dst = append(dst, `","type":"users","name":`...)
	dst = appendString(dst, name)
	dst = append(dst, `,"email":`...)
	dst = appendString(dst, email)
	dst = append(dst, `,"active":`...)
	dst = strconv.AppendBool(dst, active)
	dst = append(dst, `,"created_at":"`...)
	dst = append(dst, created...)
	dst = append(dst, `","updated_at":"`...)
	dst = append(dst, updated...)
	return append(dst, `"}`...)
}

func appendID(dst, id []byte) []byte {
	dst = append(hex.AppendEncode(dst, id[:4]), '-')
	dst = append(hex.AppendEncode(dst, id[4:6]), '-')
	dst = append(hex.AppendEncode(dst, id[6:8]), '-')
	dst = append(hex.AppendEncode(dst, id[8:10]), '-')
	return hex.AppendEncode(dst, id[10:])
}

// appendString appends a string as JSON. What needs no escape, which is nearly
// everything, is copied in one go.
func appendString[text string | []byte](dst []byte, s text) []byte {
	dst = append(dst, '"')
	clean := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			dst = append(append(dst, s[clean:i]...), `\u00`...)
			dst = hex.AppendEncode(dst, []byte{c})
			clean = i + 1
		}
	}
	return append(append(dst, s[clean:]...), '"')
}

func parseID(text string) (id [16]byte, err error) {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return id, errNone
	}
	_, err = hex.Decode(id[:], []byte(text[:8]+text[9:13]+text[14:18]+text[19:23]+text[24:]))
	return id, err
}

// newID is a UUIDv7.
func newID() (id [16]byte) {
	rand.Read(id[6:])
	var milliseconds [8]byte
	binary.BigEndian.PutUint64(milliseconds[:], uint64(time.Now().UnixMilli()))
	copy(id[:6], milliseconds[2:])
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id
}

func now() string { return time.Now().UTC().Format(timeLayout) }

const timeLayout = "2006-01-02T15:04:05.000Z"
