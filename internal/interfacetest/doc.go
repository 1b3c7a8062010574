// Package interfacetest holds the tests of the interface as a client sees it:
// whole servers, real HTTP, and every store.
package interfacetest
