package db

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// Indexes lists the indexes that the table of a collection must have besides its primary key. The
// id follows the columns, as it does in every order, unless the index is unique or on items.
func Indexes(c *model.Collection) []IndexDefinition {
	var indexes []IndexDefinition
	add := func(unique bool, parts model.IndexGroup) {
		index := IndexDefinition{Unique: unique, Parts: parts}
		for _, part := range parts {
			index.Columns = append(index.Columns, part.Name(c))
			index.Expression = index.Expression || part.Path != "" || part.Items
			index.Items = index.Items || part.Items
		}
		index.Name = indexName(c, index)
		indexes = append(indexes, index)
	}
	for _, group := range c.UniqueGroups() {
		add(true, IndexOf(group...))
	}
	for _, link := range c.Links() {
		add(false, IndexOf(link.Column, model.IDColumn))
	}
	for _, group := range c.IndexGroups() {
		if !group[0].Items { // which are alone
			group = append(slices.Clone(group), IndexOf(model.IDColumn)...)
		}
		add(false, group)
	}
	return indexes
}

// IndexOf is the values of an index on columns.
func IndexOf(columns ...int) model.IndexGroup {
	group := make(model.IndexGroup, len(columns))
	for i, column := range columns {
		group[i].Column = column
	}
	return group
}

// Same reports whether two definitions are those of one index. An expression is compared by the name
// of its index, which depends on it: databases write expressions in other ways than they were given.
func (i IndexDefinition) Same(other IndexDefinition) bool {
	if i.Expression || other.Expression {
		return i.Expression == other.Expression && i.Name == other.Name
	}
	return i.Unique == other.Unique && slices.Equal(i.Columns, other.Columns)
}

// CreateIndex returns the statements that create an index of Indexes.
func CreateIndex(d Dialect, c *model.Collection, index IndexDefinition) []string {
	if index.Items {
		return d.CreateItemIndex(index.Name, Quote(d, c.Name), Quote(d, index.Columns[0]), index.Parts[0].Inside(c).Kind().Item())
	}
	columns := make([]string, len(index.Parts))
	for i, part := range index.Parts {
		columns[i] = Quote(d, c.Columns()[part.Column].Name)
		if part.Path != "" {
			columns[i] = "(" + d.Inside(columns[i], strings.Split(part.Path, "."), part.Inside(c).Kind().Inside()) + ")"
		}
		// As in ORDER BY, so that sorted lists can use the index.
		if part.Column != model.IDColumn {
			columns[i] += Choose(part.Descending, " DESC", "") + d.Nulls(part.Descending)
		}
	}
	return []string{"CREATE " + Choose(index.Unique, "UNIQUE ", "") + "INDEX " + Quote(d, index.Name) +
		" ON " + Quote(d, c.Name) + " (" + strings.Join(columns, ", ") + ")"}
}

// ItemsDiffer is the query of Dialect.ItemsDiffer for an index of Indexes; empty: there is nothing to compare.
func ItemsDiffer(d Dialect, c *model.Collection, index IndexDefinition) string {
	if !index.Items {
		return ""
	}
	return d.ItemsDiffer(index.Name, Quote(d, c.Name), Quote(d, index.Columns[0]), index.Parts[0].Inside(c).Kind().Item())
}

// ItemIndexPrefix begins the names of indexes on the items of arrays.
const ItemIndexPrefix = "_items."

// indexName starts with an underscore, as no collection does, and is at most as long as every
// database allows. The name of an expression has a hash of it.
func indexName(c *model.Collection, index IndexDefinition) string {
	prefix := Choose(index.Unique, "_unique.", "_index.")
	if index.Items {
		prefix = ItemIndexPrefix
	}
	name := prefix + c.Name + "." + strings.Join(index.Columns, ".")
	hashed := name
	if index.Expression {
		for _, part := range index.Parts {
			if part.Path != "" || part.Items {
				hashed += " " + part.Inside(c).Kind().Inside().String()
			}
		}
	}
	if len(name) > 63 || index.Expression {
		sum := sha256.Sum256([]byte(hashed))
		name = name[:min(len(name), 46)] + "_" + hex.EncodeToString(sum[:8])
	}
	return name
}

// IndexBegins reports whether an index of a collection begins with a column, and so has its order.
func IndexBegins(c *model.Collection, column int) bool {
	return slices.ContainsFunc(Indexes(c), func(index IndexDefinition) bool {
		first := index.Parts[0]
		return first.Column == column && first.Path == "" && !first.Items
	})
}
