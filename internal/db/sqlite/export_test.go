package sqlite

// What tests from outside use.
var (
	Dialect    dialect
	Cut        = cut
	JoinWords  = joinWords
	Matches    = matches
	SplitWords = splitWords
)
