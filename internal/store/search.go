package store

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/search"
)

// Texts remembers the words of texts: see Tx.UseTexts.
type Texts = search.Texts

// UseTexts gives the transaction the words of texts that it may store, so that these are not split while other writes wait. It adds
// others to them.
func (t *Tx) UseTexts(texts *Texts) { t.texts = texts }

// putWords stores the words of resources for search, in the transaction that writes the resources.
// Before are the previous states, nil for new resources.
func (t *Tx) putWords(c *model.Collection, before, after []model.Record) error {
	if table := t.bound.table(c); table.words != "" {
		return search.Put(t.texts, t.conn, table.search, c, before, after)
	}
	return nil
}

// MaxWordBytes bounds the different words that one request gives to the index, those of each resource by themselves: on
// SQLite the index takes half a second for a megabyte, while all other writes wait. One resource has less (search.MaxBytes).
const MaxWordBytes = 1 << 20

// WordBytes counts the bytes of different words that resources get. Before are the previous states, nil for each new one.
func (t *Tx) WordBytes(c *model.Collection, before, after []model.Record) int {
	return search.Bytes(t.texts, c, before, after)
}
