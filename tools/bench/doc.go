// Package bench measures the server against what it stands on: a bare net/http
// server, and handlers on SQLite and PostgreSQL as one would write them by hand.
//
// Each is a process of its own on one core, and the load comes from another one.
// They take turns of a second, so that whatever else the machine does meets all
// of them alike, and what counts is the ratio of one to another in the same
// round. The package knows the server as a program that speaks HTTP, and imports
// nothing of it.
//
// See docs/performance.md for how to run it, and what came out.
package bench
