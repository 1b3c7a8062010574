package mcp

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
)

const (
	defaultLimit = 20
	maxLimit     = 100
)

// read sends a GET.
func (s *session) read(ctx context.Context, path string, query []params.Param) (*client.Response, error) {
	encoded, err := params.Of(query...)
	if err != nil {
		return nil, problem.Errors{{Code: problem.CodeInvalidParameter, Detail: "The arguments cannot be sent: " + err.Error() + "."}}
	}
	return s.api.Do(ctx, client.Request{Method: http.MethodGet, Path: path, Query: encoded.Encode()})
}

// collections reads the description of all collections.
func (s *session) collections(ctx context.Context) ([]jsontext.Value, error) {
	response, err := s.read(wholeResponse(ctx), "/", nil)
	if err != nil {
		return nil, err
	}
	items, _, err := itemsOf(response)
	return items, err
}

func (s *session) listCollections(ctx context.Context, _ arguments) ([]byte, error) {
	items, err := s.collections(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]jsontext.Value, len(items))
	for i, item := range items {
		read := membersOf(item)
		list[i] = object(jsonMember{"name", read["name"]}, jsonMember{"total", read["total"]}, jsonMember{"label", read["label"]})
	}
	return wholeResult(array(list))
}

func (s *session) describeCollection(ctx context.Context, a arguments) ([]byte, error) {
	items, err := s.collections(ctx)
	if err != nil {
		return nil, err
	}
	me, err := s.api.Me(ctx)
	if err != nil {
		return nil, err
	}
	wanted := a.text("collection")
	at := slices.IndexFunc(items, func(item jsontext.Value) bool { return textOf(membersOf(item)["name"]) == wanted })
	if at < 0 {
		return nil, problem.Errors{wrongArgument("collection", problem.CodeNotFound, "There is no collection "+quote(wanted)+". list_collections has all that you may see.")}
	}
	described := membersOf(items[at])
	rights := jsontext.Value(nil)
	for _, right := range me.Collections {
		if right.Collection == wanted {
			rights = marshalled(right.May)
		}
	}
	return wholeResult(object(
		jsonMember{"name", described["name"]}, jsonMember{"total", described["total"]}, jsonMember{"label", described["label"]}, jsonMember{"search", described["search"]},
		jsonMember{"attributes", described["attributes"]}, jsonMember{"relations", described["relations"]}, jsonMember{"checks", described["checks"]},
		jsonMember{"you_may", rights}, jsonMember{"agents_may_write", marshalled(me.AgentWrites)},
	))
}

func (s *session) query(ctx context.Context, a arguments) ([]byte, error) {
	path := "/" + a.text("collection")
	if parent := a.text("parent"); parent != "" {
		path = "/" + parent + path
	}
	query, err := a.chosen("filter")
	if err != nil {
		return nil, err
	}
	included, err := a.includes()
	if err != nil {
		return nil, err
	}
	query = append(query, included...)
	cursor := a.text("cursor")
	switch {
	case isID(cursor):
		query = append(query, params.Cursor(cursor))
	case a["cursor"] != nil:
		return nil, wrongCursor()
	}
	// One more says whether there are more, and where.
	response, err := s.read(ctx, path, append(query, params.Limit(int64(a.limit()+1))))
	if err != nil {
		return nil, err
	}
	items, next, err := itemsOf(response)
	if err != nil {
		return nil, err
	}
	if len(items) > a.limit() {
		items, next = items[:a.limit()], idOf(items[a.limit()])
	}
	page, err := fit(items, a["fields"] == nil)
	if err != nil {
		return nil, err
	}
	if page.kept < len(items) {
		next = idOf(items[page.kept])
	}
	return page.result(response, next), nil
}

func (s *session) get(ctx context.Context, a arguments) ([]byte, error) {
	query, err := a.includes()
	if err != nil {
		return nil, err
	}
	if fields := a.texts("fields"); fields != nil {
		query = append(query, params.Fields(fields...))
	}
	response, err := s.read(ctx, resourcePath(a), query)
	if err != nil {
		return nil, err
	}
	return oneResult(response)
}

func (s *session) aggregate(ctx context.Context, a arguments) ([]byte, error) {
	query, err := a.chosen("filter")
	if err != nil {
		return nil, err
	}
	having, err := a.filters("having")
	if err != nil {
		return nil, err
	}
	if having != nil {
		query = append(query, params.Having(having...))
	}
	for argument, group := range map[string]func(...string) params.Param{
		"by": params.By, "sum": params.Sum, "avg": params.Avg, "min": params.Min, "max": params.Max, "distinct": params.Distinct,
	} {
		if fields := a.texts(argument); fields != nil {
			query = append(query, group(fields...))
		}
	}
	offset := 0
	if a["cursor"] != nil {
		if offset, err = strconv.Atoi(a.text("cursor")); err != nil || offset < 1 {
			return nil, wrongCursor()
		}
		query = append(query, params.Offset(int64(offset)))
	}
	response, err := s.read(ctx, "/-/groups/"+a.text("collection"), append(query, params.Limit(int64(a.limit()+1))))
	if err != nil {
		return nil, err
	}
	items, cut, err := itemsOf(response)
	if err != nil {
		return nil, err
	}
	groups := make([]jsontext.Value, min(len(items), a.limit()))
	for i := range groups {
		groups[i] = without(items[i], "id", "type") // which say nothing
	}
	page, err := fit(groups, false)
	if err != nil {
		return nil, err
	}
	next := ""
	if page.kept < len(items) || cut != "" {
		next = strconv.Itoa(offset + page.kept)
	}
	return page.result(response, next), nil
}

func (s *session) history(ctx context.Context, a arguments) ([]byte, error) {
	path, query := "/changes", []params.Param{}
	switch collection := a.text("collection"); {
	case a["id"] != nil && collection == "":
		return nil, problem.Errors{wrongArgument("collection", problem.CodeRequired, "The history of a resource needs collection beside id.")}
	case a["id"] != nil && a["kind"] != nil:
		return nil, problem.Errors{wrongArgument("kind", problem.CodeInvalidParameter, "The history of one resource has all kinds. Leave kind or id out.")}
	case a["id"] != nil:
		path = resourcePath(a) + "/changes"
	case collection != "":
		query = append(query, params.Where("collection").Is(collection))
	}
	if kind := a.text("kind"); kind != "" {
		query = append(query, params.Where("kind").Is(kind))
	}
	if cursor := a.text("cursor"); isID(cursor) {
		query = append(query, params.Cursor(cursor))
	} else if a["cursor"] != nil {
		return nil, wrongCursor()
	}
	response, err := s.read(ctx, path, append(query, params.Limit(-int64(a.limit()+1))))
	if err != nil {
		return nil, err
	}
	items, cut, err := itemsOf(response)
	if err == nil && cut != "" {
		err = problem.Errors{wrongArgument("limit", problem.CodeInvalidParameter, "The changes are too large to be read together. Give a lower limit.")}
	}
	if err != nil {
		return nil, err
	}
	slices.Reverse(items) // the latest first, so that what does not fit is earlier
	more := len(items) > a.limit()
	page, err := fit(items[:min(len(items), a.limit())], true)
	if err != nil {
		return nil, err
	}
	next := ""
	if more || page.kept < len(items) {
		next = idOf(items[page.kept-1]) // what lies before it
	}
	return page.result(response, next), nil
}

func resourcePath(a arguments) string { return "/" + a.text("collection") + "/" + a.text("id") }

func isID(text string) bool { return uuid.fits(jsontext.Value(quote(text))) }

func wrongCursor() error {
	return problem.Errors{wrongArgument("cursor", problem.CodeInvalidParameter, "This is not the cursor of a result of this tool. Leave it out to begin at the start.")}
}

func marshalled(value any) jsontext.Value {
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return nil // no value of ours is like that
	}
	return text
}

// membersOf are the members of a JSON object.
func membersOf(item jsontext.Value) map[string]jsontext.Value {
	read := map[string]jsontext.Value{}
	_ = json.Unmarshal(item, &read) // the server wrote it
	return read
}

func idOf(item jsontext.Value) string { return textOf(membersOf(item)["id"]) }

func array(items []jsontext.Value) jsontext.Value {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = string(item)
	}
	return jsontext.Value("[" + strings.Join(texts, ",") + "]")
}
