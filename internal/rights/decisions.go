package rights

import (
	"context"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// questionInput declares the body of a question.
var questionInput = func() *model.Collection {
	verbs := schema.Attribute{Name: "verb", Type: schema.String}
	for _, verb := range schema.AccessVerbs() {
		verbs.Enum = append(verbs.Enum, string(verb))
	}
	return declareInput("decisions", legible("role", true), legible("sub", false), schema.Attribute{Name: "claims", Type: schema.Object},
		legible("collection", false), schema.Attribute{Name: "resource_id", Type: schema.String, Format: schema.UUID}, verbs)
}()

// Question asks what a caller may do.
type Question struct {
	by         *auth.Permit // of the caller that is asked about
	claims     string       // their claims as they were sent
	collection string       // empty: all
	resource   *model.ID    // nil: resources in general
	verb       schema.AccessVerb
}

// Decision is the answer for one verb in one collection.
type Decision struct {
	ID         string            `json:"id"`
	Type       string            `json:"type"`
	Role       string            `json:"role"`
	Subject    *string           `json:"sub"`
	Collection string            `json:"collection"`
	ResourceID *string           `json:"resource_id"`
	Verb       schema.AccessVerb `json:"verb"`
	Decision   auth.Extent       `json:"decision"`
	Reasons    []string          `json:"reasons"`
}

// decisionNamespace is the UUIDv5 namespace of the ids of decisions.
var decisionNamespace = model.ID{0xb2, 0x57, 0x9d, 0x14, 0x6c, 0x0e, 0x4f, 0x71, 0x93, 0x2a, 0xe8, 0x45, 0x1d, 0x7b, 0x60, 0xcf}

// DecodeQuestion reads a question of a caller. It must be about a role that the caller may grant, or about the public.
func DecodeQuestion(body []byte, maxDepth int, policy *auth.Policy, by *auth.Permit) (q Question, err error) {
	values, text, err := decodeOne(questionInput, body, maxDepth,
		"Send one question, as an object. Without a verb and a collection, it is about all of them.", "A question has no id. The id of a resource is resource_id.")
	if err != nil {
		return q, err
	}
	// Everybody is public without credentials.
	if roles := append(slices.Clone(by.Grantable()), schema.PublicRole); !slices.Contains(roles, text("role")) {
		return q, fault.At("/role", problem.CodeForbidden, "You may not ask about this role. You may ask about %s.", strings.Join(slices.Compact(slices.Sorted(slices.Values(roles))), ", "))
	}
	q = Question{claims: text("claims"), collection: text("collection"), verb: schema.AccessVerb(text("verb"))}
	var claims map[string]any
	if q.claims != "" {
		if err := model.DecodeExactly([]byte(q.claims), &claims); err != nil {
			return q, err // it was checked
		}
	}
	q.by = policy.Permit(auth.AskedCaller(text("role"), text("sub"), claims))
	if id := values[questionInput.Field("resource_id").Column]; !id.IsNull() {
		if q.collection == "" {
			return q, fault.At("/collection", problem.CodeRequired, "resource_id needs the collection of the resource.")
		}
		key := id.ID()
		q.resource = &key
	}
	return q, nil
}

// Decide answers a question of a caller for each verb and collection that it is about.
func Decide(ctx context.Context, s *model.Schema, reader *reads.Reader, by *auth.Permit, q Question) ([]Decision, error) {
	var about []*model.Collection
	for _, c := range s.All() {
		// What neither of them may know of does not exist.
		if (q.collection == "" || q.collection == c.Name) && (by.MayKnow(c) || q.by.MayKnow(c)) {
			about = append(about, c)
		}
	}
	if q.collection != "" && len(about) == 0 {
		return nil, fault.At("/collection", problem.CodeUnknownReference, "There is no collection %s.", fault.Quote(q.collection))
	}
	list := []Decision{}
	explain := func(stored *auth.Stored) error {
		for _, c := range about {
			for _, verb := range schema.AccessVerbs() {
				if q.verb != "" && q.verb != verb {
					continue
				}
				if err := q.by.CheckAsked(by, verb, c); stored != nil && err != nil {
					return err
				}
				extent, reasons, err := q.by.Explain(verb, c, stored)
				if err != nil {
					return err
				}
				list = append(list, q.represent(c, verb, extent, reasons))
			}
		}
		return nil
	}
	if q.resource == nil {
		return list, explain(nil)
	}
	err := reader.Judge(ctx, reads.Path{Collection: about[0], By: by}, *q.resource, explain)
	if fault.Is(err, problem.CodeNotFound) {
		return nil, fault.At("/resource_id", problem.CodeUnknownReference, "There is no resource %s in %s that you may read.", *q.resource, about[0].Name)
	}
	return list, err
}

func (q Question) represent(c *model.Collection, verb schema.AccessVerb, extent auth.Extent, reasons []string) Decision {
	d := Decision{
		Type: "decisions", Role: q.by.Caller.Role, Subject: orNull(q.by.Caller.Subject), Collection: c.Name, Verb: verb, Decision: extent, Reasons: reasons,
	}
	if q.resource != nil {
		d.ResourceID = orNull(q.resource.String())
	}
	d.ID = model.NamedID(decisionNamespace, model.MustMarshal([]any{d.Role, d.Subject, q.claims, d.Collection, d.ResourceID, d.Verb})).String()
	return d
}
