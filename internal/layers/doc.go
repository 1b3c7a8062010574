// Package layers has no code, only tests of the repository itself: which package may import which,
// how long a file may be, and what the public packages export. docs/architecture.md describes the
// same for readers.
package layers
