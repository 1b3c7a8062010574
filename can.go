package plural

import (
	"context"
	"fmt"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Question asks whether a role may do something.
type Question struct {
	Role       string
	Verb       schema.AccessVerb
	Collection string

	// ID is that of the resource; empty: any resource.
	ID string

	// Subject and Claims are those of the caller, as rules see them. Without a Subject the caller
	// is anonymous.
	Subject string
	Claims  map[string]any
}

// Decision is the answer to a Question.
type Decision string

// The decisions. Depends: it depends on the resource, as no ID was given.
const (
	Yes     Decision = "yes"
	No      Decision = "no"
	Depends Decision = "depends"
)

// Can explains what Config.Access decides. With an ID, it reads the resource from the
// database. The reasons are in the order of evaluation.
func Can(ctx context.Context, config Config, q Question) (decision Decision, reasons []string, err error) {
	config = config.WithDefaults()
	c := config.model().Collection(q.Collection)
	if c == nil {
		return No, nil, unknownCollection(q.Collection)
	}
	if config.Access == nil {
		return Yes, []string{"the schema file has no access: everybody may do everything"}, nil
	}
	policy, err := auth.Compile(config.model(), config.Access)
	if err != nil {
		return No, nil, err
	}
	explain := func(stored *auth.Stored) error {
		var extent auth.Extent
		extent, reasons, err = policy.Permit(auth.AskedCaller(q.Role, q.Subject, q.Claims)).Explain(q.Verb, c, stored)
		decision = Decision(extent)
		return err
	}
	if q.ID == "" {
		err = explain(nil)
	} else {
		err = judgeStored(ctx, config, c, q.ID, explain)
	}
	if err != nil {
		return No, nil, err
	}
	return decision, reasons, nil
}

// judgeStored calls judge with a resource of the database.
func judgeStored(ctx context.Context, config Config, c *model.Collection, id string, judge func(*auth.Stored) error) error {
	key, err := parseID(id)
	if err != nil {
		return err
	}
	st, err := store.Open(ctx, config.Database, config.model())
	if err != nil {
		return err
	}
	defer st.Close()
	err = resource.New(st).Judge(ctx, reads.Path{Collection: c}, key, judge)
	if fault.Is(err, problem.CodeNotFound) {
		return fmt.Errorf("there is no resource %s in %s", id, c.Name)
	}
	return err
}
