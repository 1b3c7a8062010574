// Package process runs child processes: "plural serve", or a program that prints the same line when it is
// ready, for the crash harness and the benchmark, on Linux; and PostgreSQL, for package pgserver.
package process
