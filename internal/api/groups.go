package api

import (
	"net/http"
	"strconv"

	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
)

// groupsPrefix is the path below which the groups of collections are.
const groupsPrefix = "/-/groups"

func (a *API) groupsTarget(name string) (*target, error) {
	c := a.Schema.Collection(name)
	if c == nil {
		return nil, &unknownName{word: name, groups: true}
	}
	return &target{kind: groupsPath, pattern: groupsPrefix + "/" + c.Name, path: resource.Path{Collection: c}}, nil
}

// groups replies with a range of the groups of a collection.
func (a *API) groups(r *http.Request, out *response, t *target) (*reply, error) {
	condition, err := conditionOf(r)
	if err != nil {
		return nil, err
	}
	if unchanged, err := condition.AllowsReading(""); err != nil || unchanged { // groups have no ETag
		return &reply{status: http.StatusNotModified}, err
	}
	exact := prefers(r, "count", "exact")
	q, err := query.ParseGroups(t.path.Collection, r.URL.RawQuery, a.limits(t))
	if err != nil {
		return nil, err
	}
	patience := a.startQueryTimer(r.Context())
	groups, err := a.Resources.Groups(patience, t.path, q, resource.ListOptions{Exact: exact, Caller: shareOf(out)})
	if err != nil {
		defer patience.end()
		return nil, patience.explain(err)
	}
	stream := a.newListStream(groupRows{groups})
	stream.patience = patience
	reply := &reply{status: http.StatusOK, stream: stream}
	defer func() {
		if reply.header == nil { // an error or a panic: the stream was not handed over
			stream.close()
		}
	}()
	if err := stream.begin(r); err != nil {
		return nil, patience.explain(err)
	}
	if !stream.ended {
		if err := groups.Check(); err != nil {
			return nil, patience.explain(err)
		}
	}
	head := http.Header{}
	if exact {
		head.Set("X-Total-Count", strconv.FormatInt(groups.Total, 10))
		head.Set("Preference-Applied", "count=exact")
	}
	if err := setLinks(head, a.addressOf(t), q, "", groups.Neighbours); err != nil {
		return nil, err
	}
	return reply, reply.complete(r, stream, head, groups.Extend)
}

// groupRows is the groups of a collection.
type groupRows struct{ groups *resource.Groups }

func (g groupRows) next(dst []byte) ([]byte, bool, error) { return g.groups.Append(dst) }

func (g groupRows) close() { g.groups.Close() }
