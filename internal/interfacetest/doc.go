// Package interfacetest tests the interface as a client sees it: it sends HTTP requests to whole
// servers, on SQLite and on PostgreSQL. It has no code that is not a test.
package interfacetest
