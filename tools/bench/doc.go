// Package bench is the benchmark. It compares the server with a bare net/http server, and
// with hand-written handlers on SQLite and PostgreSQL.
//
// Each is a process on one core, and the load comes from another core. They run in turns of
// a second, so that other load of the machine affects all of them, and results are ratios
// within one round. The package uses the server only by HTTP, and imports none of its code.
//
// See CONTRIBUTING.md for how to run it, and docs/performance.md for results.
package bench
