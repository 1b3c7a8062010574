// Package pipes connects clients to an HTTP server in the same process, without a network.
package pipes

import (
	"context"
	"errors"
	"net"
)

// Listener is a listener for connections within the process.
type Listener struct {
	connections chan net.Conn
	closed      chan struct{}
}

// Listen returns a new listener.
func Listen() *Listener { return &Listener{make(chan net.Conn), make(chan struct{})} }

// Dial connects to the listener, once it accepts.
func (p *Listener) Dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.connections <- theirs:
		return ours, nil
	case <-p.closed:
	case <-ctx.Done():
	}
	return nil, errors.Join(net.ErrClosed, ours.Close(), theirs.Close())
}

// Accept is that of a net.Listener.
func (p *Listener) Accept() (net.Conn, error) {
	select {
	case connection := <-p.connections:
		return connection, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close is that of a net.Listener; it is called once.
func (p *Listener) Close() error {
	close(p.closed)
	return nil
}

// Addr is that of a net.Listener.
func (p *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "database", Net: "pipe"} }
