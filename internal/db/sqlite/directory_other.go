//go:build !unix

package sqlite

// syncDirectory does nothing: Windows refuses to sync a directory, and its file
// system keeps a journal of names itself.
func syncDirectory(string) error { return nil }
