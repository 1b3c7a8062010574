package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

// The servers to compare with, as arguments of Serve.
const (
	serveBare     = "bare"     // with the lengths of the bodies it answers with
	serveSQLite   = "sqlite"   // with the file of the database
	servePostgres = "postgres" // with the URL of the database
)

// Serve is one of the servers that the harness compares with, until the context
// ends. It tells its address as the real one does.
func Serve(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 2 {
		return fmt.Errorf("%q is no server", args)
	}
	handler, closeHandler, err := newHandler(ctx, args[0], args[1:])
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

func newHandler(ctx context.Context, kind string, args []string) (handler http.Handler, closeHandler func(), err error) {
	switch kind {
	case serveBare:
		handler, err = newBare(args)
		return handler, func() {}, err
	case serveSQLite:
		db, err := openHandSQLite(args[0])
		if err != nil {
			return nil, nil, err
		}
		return newHandWritten(db), db.close, nil
	case servePostgres:
		db, err := openHandPostgres(ctx, args[0])
		if err != nil {
			return nil, nil, err
		}
		return newHandWritten(db), db.close, nil
	}
	return nil, nil, fmt.Errorf("%s is no server", kind)
}

// bare is net/http with nothing behind it: /n is n bytes that are always the same.
// What is sent is read and dropped.
type bare map[string][]byte

func newBare(lengths []string) (bare, error) {
	bodies := bare{}
	for _, length := range lengths {
		n, err := strconv.Atoi(length)
		if err != nil {
			return nil, err
		}
		body := make([]byte, n)
		for i := range body {
			body[i] = 'x'
		}
		bodies["/"+length] = body
	}
	return bodies, nil
}

// ServeHTTP implements http.Handler.
func (b bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, known := b[r.URL.Path]
	if !known {
		http.NotFound(w, r)
		return
	}
	if r.ContentLength > 0 {
		_, _ = io.Copy(io.Discard, r.Body) // a client that breaks off gets no answer anyway
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
	}
	_, _ = w.Write(body) // likewise
}
