package db

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// searchPrefix begins the names of the tables with the words of resources. No collection name starts
// with an underscore, and none has a dot.
const searchPrefix = "_search."

// SearchTable is the name of the table with the words of a collection's resources. It leaves room for
// the names of what belongs to the table.
func SearchTable(c *model.Collection) string {
	name := c.Name
	if len(name) > 40 {
		sum := sha256.Sum256([]byte(name))
		name = name[:23] + "_" + hex.EncodeToString(sum[:8])
	}
	return searchPrefix + name
}

// Columns of a table with the words of resources. They have other names than all columns of
// collections, so that a condition on both is never ambiguous.
const (
	SearchResource = "_resource" // id
	SearchWords    = "_words"
	// SearchRank is a number that has the order of the ids, only with Traits.OrderedSearch. SearchMatch is what
	// Dialect.SearchJoin is ordered by: that number, or the id.
	SearchRank  = "_rank"
	SearchMatch = "_match"
)

// SearchSQL is the SQL of a table with the words of resources. Words are a text: each with a space
// before it, sorted, and each once.
type SearchSQL struct {
	Create     []string // makes the table
	Finish     []string // makes its index, or improves it, when it has the words of all resources
	Drop       []string
	Definition TableDefinition // what Describe returns for it

	// Put sets the words of resources.
	Put    func(c Conn, rows []ResourceWords) error
	Stored string // an expression for the words of a row

	// Numbered selects numbers of resources, by which the index knows them, and their words; Indexed
	// selects the same from the index, word by word. Empty: the database guarantees that they agree.
	Numbered, Indexed string
	// Verify lets the database compare all of the index with the table. It needs the write lock. Nil: as for Indexed.
	Verify func(c Conn) (agrees bool, err error)
	// Disordered counts the resources whose ranks do not have the order of their ids. Empty: there are no ranks.
	Disordered string
}

// ResourceWords is words of a resource that are stored.
type ResourceWords struct {
	ID    model.Value
	Words string
	// Marks are the first characters of the words that are replaced. The other words of the resource stay. Empty: all
	// are replaced.
	Marks string
	Kept  int // bytes of the texts whose words stay
}

// SearchTerms is what a search looks for: all of them.
type SearchTerms []SearchTerm

// Join joins conditions on the prefixes of terms: one of each term must hold.
func (t SearchTerms) Join(and, or string, condition func(prefix string, rare bool) string) string {
	all := make([]string, len(t))
	for i, term := range t {
		any := make([]string, len(term.Prefixes))
		for j, prefix := range term.Prefixes {
			any[j] = condition(prefix, term.Rare)
		}
		all[i] = "(" + strings.Join(any, or) + ")"
	}
	return strings.Join(all, and)
}

// SearchTerm is a word of a search.
type SearchTerm struct {
	Prefixes []string // at least one must be the beginning of a word
	// Rare: few of the resources that an index finds by a shorter prefix have the whole one. So it is faster if the
	// index finds the whole one, even if it has no list for that.
	Rare bool
}
