// Package processtest has no code, only tests of one SQLite database that is used
// several times at once: by a server and a command, each a process of its own, or by
// a server and a call of the library in one process.
package processtest
