package store

import (
	"slices"
	"testing"
	"time"

	"github.com/plural-go/plural/schema"
)

// A post below a user that is to be created needs the creation for its path and
// for its reference, and waits for it once.
func TestOperationNeededForTwoReasons(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, st *Store) {
		var user, post Job
		write(t, st, func(tx *Tx) error {
			user = Job{Operation: tx.NewID(), Method: "POST", Collection: "users", Resource: tx.NewID(), Body: `{}`}
			post = Job{Operation: tx.NewID(), Method: "POST", Collection: "posts", Resource: tx.NewID(), Parent: &user.Resource, Body: `{}`}
			if err := tx.Enqueue(user, nil); err != nil {
				return err
			}
			return tx.Enqueue(post, []schema.ID{user.Operation, user.Operation})
		})
		claimed := func() (operations []schema.ID) {
			write(t, st, func(tx *Tx) error {
				jobs, err := tx.Claim(10, time.Minute)
				operations = nil
				for _, job := range jobs {
					operations = append(operations, job.Operation)
				}
				return err
			})
			return operations
		}
		if got := claimed(); !slices.Equal(got, []schema.ID{user.Operation}) {
			t.Errorf("before the user is created, %v can be done", got)
		}
		write(t, st, func(tx *Tx) error { return tx.Finish(user) })
		if got := claimed(); !slices.Equal(got, []schema.ID{post.Operation}) {
			t.Errorf("once the user is created, %v can be done", got)
		}
	})
}
