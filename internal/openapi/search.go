package openapi

import (
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// search lists the parameter of a collection in which the reader can search.
func (b *builder) search(c *model.Collection) list {
	var names []string
	for _, name := range c.SearchNames(b.By.Visible(c)) {
		names = append(names, "`"+name+"`")
	}
	if len(names) == 0 {
		return nil
	}
	text := fmt.Sprintf("Each of these words is the beginning of a word in %s. Case and accents do not matter. At most %d words.", strings.Join(names, " or "), query.MaxWords)
	return list{b.inQuery(c.Name+".search", "search", text, object{{"type", "string"}, {"maxLength", query.MaxSearch}, {"pattern", `[\p{L}\p{N}]`}}, "ada lov")}
}
