package db

// Databases and checksums take numbers as bits, whatever their sign.

func BitsOf(v int64) uint64 { return uint64(v) } // #nosec G115 -- the same bits

func FromBits(v uint64) int64 { return int64(v) } // #nosec G115 -- the same bits
