package move

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/model"
)

// lookup finds the resources that an attribute refers to, by values of a unique attribute of theirs. It
// remembers those that it has found.
type lookup struct {
	attribute  string // that refers
	collection string // of the resources
	by         string
	kind       string // of the values: string, integer or uuid
	known      map[string]found
}

// found is the resource that has a value.
type found struct {
	id      string
	several bool // more than one has it
}

// pending is a reference of a row that has not been looked up yet.
type pending struct {
	*lookup
	value string
}

const (
	lookupValues = 200     // in one request
	lookupBytes  = 8 << 10 // of their text in a URL
	lookupKnown  = 100_000 // that are remembered
)

// collections are those of a server. They are read when they are first needed.
type collections struct {
	client *client.Client
	all    []client.Description
}

// lookup makes the lookup of an attribute.
func (c *collections) lookup(ctx context.Context, collection client.Description, attribute client.Attribute, by string) (*lookup, error) {
	if c.all == nil {
		all, err := c.client.Collections(ctx)
		if err != nil {
			return nil, err
		}
		c.all = all
	}
	at := slices.IndexFunc(c.all, func(d client.Description) bool { return d.Name == attribute.References })
	if at < 0 {
		return nil, fmt.Errorf("the collection %s cannot be read: it is needed to look up %s", attribute.References, attribute.Name)
	}
	l := &lookup{attribute: attribute.Name, collection: attribute.References, by: by, known: map[string]found{}}
	var names []string
	for _, each := range append([]client.Attribute{{Name: "id", Type: "string", Format: "uuid"}}, c.all[at].Attributes...) {
		if each.Name != by {
			names = append(names, each.Name)
			continue
		}
		switch {
		case each.Type == "integer" || each.Type == "string" && each.Format == "":
			l.kind = each.Type
		case each.Format == "email" || each.Format == "uri":
			l.kind = "string"
		case each.Format == "uuid":
			l.kind = each.Format
		default:
			return nil, fmt.Errorf("%s cannot be found by %s: use an attribute that is a string or an integer", l.collection, by)
		}
		return l, nil
	}
	return nil, fmt.Errorf("%s has no attribute %q: it has %s", l.collection, by, strings.Join(names, ", "))
}

// text is the value that a JSON value looks for. Null: there is no reference.
func (l *lookup) text(value jsontext.Value) (text string, null bool, err error) {
	switch kind := value.Kind(); {
	case kind == 'n':
		return "", true, nil
	case kind == '"' && l.kind != "integer":
		unquoted, err := jsontext.AppendUnquote(nil, value)
		if err == nil {
			text, err = l.parse(string(unquoted))
		}
		return text, false, err
	case kind == '0' && l.kind == "integer":
		text, err := l.parse(string(value))
		return text, false, err
	}
	return "", false, l.wrong(string(value))
}

// parse checks a text. Different texts of one number or id become the same.
func (l *lookup) parse(text string) (string, error) {
	switch l.kind {
	case "integer":
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "", l.wrong(strconv.Quote(text))
		}
		return strconv.FormatInt(number, 10), nil
	case "uuid":
		id, ok := model.ParseID(text)
		if !ok {
			return "", l.wrong(strconv.Quote(text))
		}
		return id.String(), nil
	}
	return text, nil
}

func (l *lookup) wrong(shown string) error {
	kind := map[string]string{"string": "a string", "integer": "an integer", "uuid": "a UUID"}[l.kind]
	return fmt.Errorf("%s must be %s, as %s of %s is", shorten(shown), kind, l.by, l.collection)
}

// find looks for values that are not known yet, with few requests.
func (l *lookup) find(ctx context.Context, c *client.Client, values []string) error {
	if len(l.known) > lookupKnown {
		clear(l.known)
	}
	wanted := map[string]bool{}
	query, size := url.Values{}, 0
	flush := func() error {
		if len(query) == 0 {
			return nil
		}
		err := l.request(ctx, c, query)
		query, size = url.Values{}, 0
		return err
	}
	for _, value := range values {
		if _, ok := l.known[value]; ok || wanted[value] || !l.findable(value) {
			continue
		}
		wanted[value] = true
		cost := len(url.QueryEscape(value)) + len(l.by) + 16
		if len(query["filter["+l.by+"]"]) == lookupValues || size+cost > lookupBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		query.Add("filter["+l.by+"]", value)
		size += cost
	}
	return flush()
}

// findable reports whether a resource can have a value, and a URL can hold it.
func (l *lookup) findable(value string) bool {
	return !strings.ContainsRune(value, 0) && len(value) <= lookupBytes/4
}

// request asks for the resources that have the values of a filter. If there are more resources than
// values, one has been found twice among the first of them.
func (l *lookup) request(ctx context.Context, c *client.Client, query url.Values) error {
	query.Set("limit", strconv.Itoa(len(query["filter["+l.by+"]"])+1))
	if l.by != "id" {
		query.Set("fields", l.by)
	}
	answer, err := c.Do(ctx, client.Request{Method: http.MethodGet, Path: "/" + l.collection, Query: query.Encode()})
	if err != nil {
		return fmt.Errorf("%s cannot be looked up: %w", l.attribute, err)
	}
	var list struct {
		Data []map[string]jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		return fmt.Errorf("the list of %s: %w", l.collection, err)
	}
	for _, each := range list.Data {
		id, err := jsontext.AppendUnquote(nil, each["id"])
		if err != nil {
			return fmt.Errorf("the list of %s: %w", l.collection, err)
		}
		value, _, err := l.text(each[l.by])
		if err != nil {
			return fmt.Errorf("the list of %s: %w", l.collection, err)
		}
		_, again := l.known[value]
		l.known[value] = found{id: string(id), several: again}
	}
	return nil
}

// missing says why a value has no resource.
func (l *lookup) missing(value string) error {
	shown := shorten(strconv.Quote(value))
	if l.kind == "integer" {
		shown = value
	}
	if l.known[value].several {
		return fmt.Errorf("several resources of %s have the %s %s: use an attribute that is unique", l.collection, l.by, shown)
	}
	return fmt.Errorf("there is no resource in %s with the %s %s", l.collection, l.by, shown)
}

// one is the id of the resource that has a value.
func (l *lookup) one(ctx context.Context, c *client.Client, text string) (string, error) {
	value, err := l.parse(text)
	if err != nil {
		return "", err
	}
	if err := l.find(ctx, c, []string{value}); err != nil {
		return "", err
	}
	if found, ok := l.known[value]; ok && !found.several {
		return found.id, nil
	}
	return "", l.missing(value)
}

// lookUp finds the references of rows. It returns the rows that can be sent, and those that wait until
// these are stored, as they refer to one of them. It refuses rows with references to nothing; stopped says
// that the import ends at one, and all rows before it are returned.
func (i *importer) lookUp(ctx context.Context, rows []Row) (ready, waiting []Row, stopped bool, err error) {
	wanted := map[*lookup][]string{}
	for _, row := range rows {
		for _, each := range row.references {
			wanted[each.lookup] = append(wanted[each.lookup], each.value)
		}
	}
	if len(wanted) == 0 {
		return rows, nil, false, nil
	}
	for l, values := range wanted {
		if err := l.find(ctx, i.Client, values); err != nil {
			return nil, nil, false, err
		}
	}
	stored := map[pending]bool{} // what the rows before a row will have stored
	for n, row := range rows {
		var missing []error
		for _, each := range row.references {
			if found, ok := each.known[each.value]; ok && !found.several {
				continue
			}
			if i.DryRun && i.isOwn(each.lookup) && !each.known[each.value].several {
				continue // it may be in the file
			}
			if stored[each] && !stopped {
				return ready, rows[n:], false, nil
			}
			missing = append(missing, fmt.Errorf("%s: %w", i.Columns.shown(each.attribute), each.missing(each.value)))
		}
		switch {
		case missing != nil:
			i.refuse(row, strings.ReplaceAll(errors.Join(missing...).Error(), "\n", "; "))
			stopped = stopped || i.stops()
		case !stopped:
			for l := range wanted {
				if i.isOwn(l) {
					stored[pending{l, l.keyOf(row)}] = true
				}
			}
			row.refer()
			ready = append(ready, row)
		}
	}
	return ready, nil, stopped, nil
}

// isOwn reports whether a lookup finds resources of the collection that is imported.
func (i *importer) isOwn(l *lookup) bool { return l.collection == i.Collection.Name }

// keyOf is the value by which a lookup finds a row once it is stored; empty if it has none.
func (l *lookup) keyOf(row Row) string {
	var members map[string]jsontext.Value
	if json.Unmarshal(row.Body, &members) != nil {
		return ""
	}
	key, _, _ := l.text(members[l.by]) // the server refuses what is wrong with it
	return key
}

// refer sets the references of a row. In a dry run one may be unknown, which the server reports.
func (r *Row) refer() {
	body := r.Body[:len(r.Body)-1]
	for _, each := range r.references {
		id := each.known[each.value].id
		if id == "" {
			id = minted.next(now()).String()
		}
		body = append(append(append(appendMember(body, each.attribute), '"'), id...), '"')
	}
	r.Body, r.references = append(body, '}'), nil
}
