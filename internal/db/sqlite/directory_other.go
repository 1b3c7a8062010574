//go:build !unix

package sqlite

// syncDirectory does nothing: Windows cannot sync a directory, and its file system journals
// names itself.
func syncDirectory(string) error { return nil }
