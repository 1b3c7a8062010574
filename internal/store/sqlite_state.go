package store

// fileState is the state of an SQLite database: the header of the index of its log, which all
// connections of all processes share in memory, and which every commit changes. It is
// how SQLite itself notices that somebody has written.
type fileState [12]uint32

// commits counts the transactions that were committed, as far as 32 bits go.
func (s fileState) commits() uint32 { return s[2] }

// pages is how many pages the log has.
func (s fileState) pages() uint32 { return s[4] }

// behind reports whether a state is that of one commit after another, or the same.
func (s fileState) behind(before fileState) bool {
	return s == before || s.commits() == before.commits()+1
}
