// Package soak is the crash harness. It makes a server fail again and again, and
// checks that no acknowledged write is lost, executed twice, or executed in part.
//
// The server is the real program, on a real database. Writers send requests, and
// record each request and its response in a ledger. The harness kills the process
// or cuts the power of its disk, starts the server again, and compares the stored
// data with the ledger. With several nodes on one PostgreSQL, it makes nodes or the
// database fail while the writers continue. The package uses the server only by its
// interface and its database, and imports none of its code.
//
// See docs/reliability.md for how to run it, and for results.
package soak
