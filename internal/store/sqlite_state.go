package store

// fileState is the state of an SQLite database: the header of the index of its log, which all
// connections of all processes share in memory, and which every commit changes. It is
// how SQLite itself notices that somebody has written.
type fileState [12]uint32

// pages is how many pages the log has.
func (s fileState) pages() uint32 { return s[4] }
