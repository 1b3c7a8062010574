package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

// The servers to compare with, as arguments of Serve.
const (
	serveBare     = "bare"
	serveSQLite   = "sqlite"   // with the file of the database
	servePostgres = "postgres" // with the URL of the database
)

// Serve is one of the servers that the harness compares with, until the context
// ends. It tells its address as the real one does.
func Serve(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("%q is no server", args)
	}
	handler, closeHandler, err := newHandler(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	defer closeHandler()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	fmt.Fprintf(out, "  API   http://%s/\n", listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

func newHandler(ctx context.Context, kind, database string) (handler http.Handler, closeHandler func(), err error) {
	switch kind {
	case serveBare:
		return newBare(), func() {}, nil
	case serveSQLite:
		db, err := openHandSQLite(database)
		if err != nil {
			return nil, nil, err
		}
		return newHandWritten(db), db.close, nil
	case servePostgres:
		db, err := openHandPostgres(ctx, database)
		if err != nil {
			return nil, nil, err
		}
		return newHandWritten(db), db.close, nil
	}
	return nil, nil, fmt.Errorf("%s is no server", kind)
}

// bare is net/http with nothing behind it: /n is n bytes that are always the same.
// What is sent is read and dropped.
type bare []byte

// maxBare is the longest body of the bare server.
const maxBare = 1 << 20

func newBare() bare { return bytes.Repeat([]byte{'x'}, maxBare) }

// ServeHTTP implements http.Handler.
func (b bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	length := r.URL.Path[1:]
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > len(b) {
		http.NotFound(w, r)
		return
	}
	if r.ContentLength > 0 {
		_, _ = io.Copy(io.Discard, r.Body) // a client that breaks off gets no answer anyway
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", length)
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
	}
	_, _ = w.Write(b[:n]) // likewise
}
