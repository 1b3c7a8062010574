//go:build linux

package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/plural-go/plural/tools/soak/ledger"
	"github.com/plural-go/plural/tools/soak/stored"
)

// act executes one action, or several that belong together. An action does nothing if the writer
// has no resource for it.
func (w *writer) act(ctx context.Context) error {
	actions := []struct {
		weight int
		action func(context.Context) error
	}{
		{15, w.createAccount},
		{15, w.createChild},
		{10, w.createArray},
		{20, w.patch},
		{4, w.stalePatch},
		{10, w.put},
		{8, w.remove},
		{5, w.chain},
		{15, w.swap},
		{10, w.move},
		{8 * btoi(len(w.answered) > 0), w.repeat},
	}
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	pick := w.rng.IntN(total)
	for _, a := range actions {
		if pick -= a.weight; pick < 0 {
			return a.action(ctx)
		}
	}
	panic("unreachable")
}

// mode gives a request an Idempotency-Key, or makes it asynchronous, or both.
func (w *writer) mode(m *message) {
	if m.header == nil {
		m.header = map[string]string{}
	}
	pick := w.rng.IntN(10)
	if pick >= 4 && pick < 8 || pick == 9 && w.chance(2) {
		m.header["Idempotency-Key"] = `"` + w.id() + `"`
	}
	if pick >= 6 {
		m.header["Prefer"] = "respond-async"
	}
	if pick == 9 {
		m.header["Prefer"] += ", wait=2"
	}
}

// attributes are the attributes of every resource, and more, given as name and value.
func attributes(token string, more ...string) map[string]any {
	members := map[string]any{"token": token, "text": ledger.Text(token)}
	for i := 0; i < len(more); i += 2 {
		members[more[i]] = more[i+1]
	}
	return members
}

func encode(members any) string {
	body, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return string(body)
}

func (w *writer) createAccount(ctx context.Context) error {
	members := attributes(w.token())
	r := &ledger.Request{Kind: ledger.Create}
	if w.chance(4) {
		members["code"] = w.run.code(w.rng) // which others want as well
		r.MayFail = []int{http.StatusConflict}
	}
	return w.do(ctx, w.creation(r, "/accounts", "accounts", members, nil))
}

// creation is a request that creates one resource. Half of the requests have an id.
func (w *writer) creation(r *ledger.Request, path, collection string, members map[string]any, parent *item) *exchange {
	effect := ledger.Effect{Ref: ledger.Ref{Collection: collection}, Change: ledger.Created, Token: members["token"].(string)}
	if w.chance(2) {
		effect.Ref.ID = w.id()
		members["id"] = effect.Ref.ID
	}
	r.Effects = []ledger.Effect{effect}
	m := message{method: "POST", path: path, body: encode(members)}
	w.mode(&m)
	return &exchange{
		request: r,
		message: m,
		learn: func(a ledger.Answer) {
			w.learnNew(r.Effects[0], a.ETag, parent)
			w.adopt(parent)
		},
		forget: func() { w.abandon(parent) },
	}
}

// learnNew adds a created resource to those of the writer.
func (w *writer) learnNew(e ledger.Effect, etag string, parent *item) {
	it := &item{ref: e.Ref, etag: etag, parent: parent}
	if parent == nil {
		w.accounts = append(w.accounts, it)
	} else {
		parent.children = append(parent.children, it)
	}
}

// abandon stops using the account to which a resource belongs, because the writer does not know its
// exact state.
func (w *writer) abandon(it *item) {
	root := it.root()
	w.accounts = slices.DeleteFunc(w.accounts, func(other *item) bool { return other == root })
}

// adopt uses an abandoned account again.
func (w *writer) adopt(it *item) {
	if root := it.root(); root != nil && !slices.Contains(w.accounts, root) {
		w.accounts = append(w.accounts, root)
	}
}

func (it *item) root() *item {
	for it != nil && it.parent != nil {
		it = it.parent
	}
	return it
}

// account picks one of the writer's accounts.
func (w *writer) account() *item {
	if len(w.accounts) == 0 {
		return nil
	}
	return w.accounts[w.rng.IntN(len(w.accounts))]
}

// any picks one of the writer's resources, more often one further down.
func (w *writer) any() *item {
	it := w.account()
	for it != nil && len(it.children) > 0 && w.chance(2) {
		it = it.children[w.rng.IntN(len(it.children))]
	}
	return it
}

func (w *writer) createChild(ctx context.Context) error {
	account := w.account()
	if account == nil {
		return nil
	}
	if len(account.children) == 0 || w.chance(2) {
		path := "/accounts/" + account.ref.ID + "/orders"
		return w.do(ctx, w.creation(&ledger.Request{Kind: ledger.Create}, path, "orders", attributes(w.token()), account))
	}
	order := account.children[w.rng.IntN(len(account.children))]
	members := attributes(w.token(), "order_id", order.ref.ID)
	return w.do(ctx, w.creation(&ledger.Request{Kind: ledger.Create}, "/notes", "notes", members, order))
}

// createArray creates several resources by one request. Sometimes one of them is invalid; then none
// may be created.
func (w *writer) createArray(ctx context.Context) error {
	account := w.account()
	if account == nil {
		return nil
	}
	r := &ledger.Request{Kind: ledger.CreateArray}
	var bodies []map[string]any
	for range 2 + w.rng.IntN(15) {
		members := attributes(w.token())
		effect := ledger.Effect{Ref: ledger.Ref{Collection: "orders"}, Change: ledger.Created, Token: members["token"].(string)}
		if w.chance(2) {
			effect.Ref.ID = w.id()
			members["id"] = effect.Ref.ID
		}
		r.Effects = append(r.Effects, effect)
		bodies = append(bodies, members)
	}
	if w.chance(8) {
		taken := attributes(w.token(), "id", account.ref.ID)
		bodies = append(bodies, taken, taken)
		r.MustFail, r.MayFail = true, []int{http.StatusConflict}
	}
	m := message{method: "POST", path: "/accounts/" + account.ref.ID + "/orders", body: encode(bodies)}
	if w.chance(2) {
		m.header = map[string]string{"Idempotency-Key": `"` + w.id() + `"`}
	}
	return w.do(ctx, &exchange{
		request: r,
		message: m,
		learn: func(ledger.Answer) {
			for _, e := range r.Effects {
				w.learnNew(e, "", account)
			}
		},
		forget: func() { w.abandon(account) },
	})
}

// change is a request that changes the value of a resource.
func (w *writer) change(it *item, r *ledger.Request, m message, token string) *exchange {
	r.Effects = []ledger.Effect{{Ref: it.ref, Change: ledger.Updated, Token: token}}
	return &exchange{
		request: r,
		message: m,
		learn: func(a ledger.Answer) {
			it.oldETag, it.etag = it.etag, a.ETag
			w.adopt(it)
		},
		forget: func() { w.abandon(it) },
	}
}

func (w *writer) patch(ctx context.Context) error {
	it := w.any()
	if it == nil {
		return nil
	}
	token := w.token()
	m := message{method: "PATCH", path: it.path(), body: encode(attributes(token))}
	if it.etag != "" {
		m.header = map[string]string{"If-Match": it.etag}
	}
	w.mode(&m)
	return w.do(ctx, w.change(it, &ledger.Request{Kind: ledger.Patch}, m, token))
}

func (it *item) path() string { return "/" + it.ref.Collection + "/" + it.ref.ID }

// stalePatch sends a PATCH with an outdated If-Match.
func (w *writer) stalePatch(ctx context.Context) error {
	it := w.any()
	if it == nil || it.oldETag == "" {
		return nil
	}
	token := w.token()
	m := message{method: "PATCH", path: it.path(), body: encode(attributes(token)), header: map[string]string{"If-Match": it.oldETag}}
	w.mode(&m)
	r := &ledger.Request{Kind: ledger.StalePatch, MustFail: true, MayFail: []int{http.StatusPreconditionFailed}}
	return w.do(ctx, w.change(it, r, m, token))
}

func (w *writer) put(ctx context.Context) error {
	it := w.any()
	if it == nil {
		return nil
	}
	token := w.token()
	members := attributes(token)
	m := message{method: "PUT", path: it.path()}
	switch it.ref.Collection {
	case "orders": // the path says whose it is
		m.path = it.parent.path() + it.path()
	case "notes":
		members["order_id"] = it.parent.ref.ID
	}
	m.body = encode(members)
	w.mode(&m)
	return w.do(ctx, w.change(it, &ledger.Request{Kind: ledger.Put}, m, token))
}

// remove deletes a resource, and by cascade its children.
func (w *writer) remove(ctx context.Context) error {
	it := w.any()
	if it == nil {
		return nil
	}
	m := message{method: "DELETE", path: it.path()}
	w.mode(&m)
	return w.do(ctx, w.removal(it, m))
}

func (w *writer) removal(it *item, m message) *exchange {
	r := &ledger.Request{Kind: ledger.Delete, Effects: it.removals(nil)}
	return &exchange{
		request: r,
		message: m,
		learn: func(ledger.Answer) {
			if it.parent == nil {
				w.abandon(it)
				return
			}
			siblings := &it.parent.children
			*siblings = slices.DeleteFunc(*siblings, func(other *item) bool { return other == it })
			w.adopt(it)
		},
		forget: func() { w.abandon(it) },
	}
}

func (it *item) removals(effects []ledger.Effect) []ledger.Effect {
	effects = append(effects, ledger.Effect{Ref: it.ref, Change: ledger.Deleted})
	for _, child := range it.children {
		effects = child.removals(effects)
	}
	return effects
}

// chain sends several asynchronous writes of one resource before it waits for any. They must be
// executed in this order.
func (w *writer) chain(ctx context.Context) error {
	it := &item{ref: ledger.Ref{Collection: "accounts", ID: w.id()}}
	async := map[string]string{"Prefer": "respond-async"}
	token := w.token()
	steps := []*exchange{{
		request: &ledger.Request{Kind: ledger.Create, Effects: []ledger.Effect{{Ref: it.ref, Change: ledger.Created, Token: token}}},
		message: message{method: "POST", path: "/accounts", body: encode(attributes(token, "id", it.ref.ID)), header: async},
	}}
	for range w.rng.IntN(4) {
		token := w.token()
		m := message{method: "PATCH", path: it.path(), body: encode(attributes(token)), header: async}
		steps = append(steps, w.change(it, &ledger.Request{Kind: ledger.Patch}, m, token))
	}
	if w.chance(2) {
		steps = append(steps, w.removal(it, message{method: "DELETE", path: it.path(), header: async}))
	}
	for _, x := range steps {
		// No writer uses the account afterwards; only the checks read it.
		x.chained, x.learn, x.forget = true, func(ledger.Answer) {}, func() {}
		if err := w.do(ctx, x); err != nil {
			return err
		}
		if x.request.Outcome != ledger.Accepted {
			break // the others are about what is not there
		}
	}
	for _, x := range steps {
		if x.request.Outcome == ledger.Accepted {
			if err := w.await(ctx, x.request); err != nil {
				return err
			}
		}
	}
	return nil
}

// swap reads a shared counter and increments it by compare-and-swap.
func (w *writer) swap(ctx context.Context) error {
	ref := w.run.counters[w.rng.IntN(len(w.run.counters))]
	path := "/" + ref.Collection + "/" + ref.ID
	call := w.run.now()
	answer, err := w.get(ctx, path)
	if err != nil {
		return err
	}
	data := answer.Data()[0]
	before := ledger.ParseValue(data)
	w.run.ledger.Read(ledger.Read{Ref: ref, Token: before.Token, Call: call, Return: w.run.now()})
	var counter struct{ Count int }
	if err := json.Unmarshal(data, &counter); err != nil {
		return fmt.Errorf("%s: %w", answer.Body, err)
	}
	members := attributes(w.token())
	members["count"] = counter.Count + 1
	m := message{method: "PATCH", path: path, body: encode(members), header: map[string]string{"If-Match": answer.ETag}}
	w.mode(&m)
	return w.do(ctx, &exchange{
		request: &ledger.Request{
			Kind: ledger.Swap, Shared: true, Expects: before.Token, MayFail: []int{http.StatusPreconditionFailed},
			Effects: []ledger.Effect{{Ref: ref, Change: ledger.Updated, Token: members["token"].(string)}},
		},
		message: m,
		learn:   func(ledger.Answer) {},
		forget:  func() {},
	})
}

// move gives a ticket, which all writers share, a state that its lifecycle may not allow. Nobody knows which state it has.
func (w *writer) move(ctx context.Context) error {
	ref := w.run.tickets[w.rng.IntN(len(w.run.tickets))]
	members := attributes(w.token(), "state", stored.States[w.rng.IntN(len(stored.States))])
	m := message{method: []string{"PATCH", "PUT"}[w.rng.IntN(2)], path: "/" + ref.Collection + "/" + ref.ID, body: encode(members)}
	w.mode(&m)
	return w.do(ctx, &exchange{
		request: &ledger.Request{
			Kind: ledger.Move, Shared: true, Blind: true, MayFail: []int{http.StatusConflict},
			Effects: []ledger.Effect{{Ref: ref, Change: ledger.Updated, Token: members["token"].(string)}},
		},
		message: m,
		learn:   func(ledger.Answer) {},
		forget:  func() {},
	})
}
