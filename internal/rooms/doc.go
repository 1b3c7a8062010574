// Package rooms has no code, only the tests that keep the shape of the house:
// which package may import which, and how long a file may be.
// docs/architecture.md draws the same picture for people.
package rooms
