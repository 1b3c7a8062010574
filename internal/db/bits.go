package db

// BitsOf and FromBits convert between int64 and uint64 and keep all 64 bits. Databases have only
// signed integers.

func BitsOf(v int64) uint64 { return uint64(v) } // #nosec G115 -- the same bits

func FromBits(v uint64) int64 { return int64(v) } // #nosec G115 -- the same bits
