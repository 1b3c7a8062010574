//go:build linux

package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
	"github.com/plural-go/plural/tools/soak/stored"
)

// observe reads all collections through the interface. It also compares the totals of the server with
// the number of listed resources.
func observe(ctx context.Context, c *client) (found *ledger.Observed, problems []string, err error) {
	found = &ledger.Observed{Resources: map[ledger.Ref]ledger.Value{}}
	children := map[string]int{} // by the path of the sub-collection
	for collection, parent := range stored.Collections {
		list, header, err := c.list(ctx, "/"+collection+"?limit=1000000000")
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, wrongTotal("/"+collection, header, len(list))...)
		for _, representation := range list {
			found.Resources[ledger.Ref{Collection: collection, ID: ledger.Identify(representation).ID}] = ledger.ParseValue(representation)
			if parent == "" {
				continue
			}
			var members map[string]any
			if err := json.Unmarshal(representation, &members); err != nil {
				return nil, nil, err
			}
			if id, ok := members[parent].(string); ok {
				children["/accounts/"+id+"/"+collection]++
			}
		}
	}
	checked := 0
	for path, n := range children {
		if checked++; checked > 5 { // a few are enough: each needs a request
			break
		}
		_, header, err := c.get(ctx, path+"?limit=0")
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, wrongTotal(path, header, n)...)
	}
	return found, problems, nil
}

func wrongTotal(path string, header http.Header, there int) []string {
	if total := header.Get("X-Total-Count"); total != strconv.Itoa(there) {
		return []string{fmt.Sprintf("%s: X-Total-Count is %q, and %d are there", path, total, there)}
	}
	return nil
}

// operation is a resource of the collection operations, as far as the harness uses it.
type operation struct {
	Status string
	Errors []struct {
		Status int
		Code   string
	}
}

// maxSettle is how long operations may take when no more are added.
var maxSettle = time.Minute

// settle waits until all operations have finished.
func settle(ctx context.Context, c *client) error {
	for deadline := time.Now().Add(maxSettle); ; {
		list, _, err := c.list(ctx, "/operations?filter[status][in]=pending,running&limit=1")
		if err != nil || len(list) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("an operation is still not done after %v: %s", maxSettle, list[0])
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// resolve reads the outcome of an accepted request from its operation.
func resolve(ctx context.Context, c *client, l *ledger.Ledger, r *ledger.Request, now func() time.Duration) (over bool, err error) {
	answer, _, err := c.get(ctx, r.Operation)
	if err != nil {
		return false, err
	}
	var envelope struct{ Data operation }
	if err := json.Unmarshal([]byte(answer.Body), &envelope); err != nil {
		return false, err
	}
	l.Update(func() {
		switch op := envelope.Data; op.Status {
		case "succeeded":
			over, r.Outcome, r.Over = true, ledger.Done, now()
		case "failed":
			over, r.Outcome, r.Over = true, ledger.Refused, now()
			r.Failure = &ledger.Answer{Body: answer.Body}
			if len(op.Errors) > 0 {
				r.Failure.Status = op.Errors[0].Status
			}
		}
	})
	return over, nil
}
