// Package soak breaks a server on purpose, over and over, and looks whether it
// kept its promises: no acknowledged write is lost, none is done twice, none is
// done by half.
//
// The server is the real program, on a real database. Writers send requests and
// note in a ledger what they sent and what they were answered. The process is
// killed, or its disk loses power; then the server is started again, and the
// ledger is compared with what is there. Of several nodes on one PostgreSQL, each
// or the database gets into trouble while the writers go on. The package knows the
// server by its interface and by its database, and imports nothing of it.
//
// See docs/reliability.md for how to run it, and what came out.
package soak
