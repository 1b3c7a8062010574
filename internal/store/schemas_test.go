package store

import (
	"context"
	"testing"

	"github.com/plural-go/plural/internal/migrate"
)

// TestEarlierSchemas: a server that is started with the schema from before a migration is
// told so, and not to undo it.
func TestEarlierSchemas(t *testing.T) {
	const before = "collections:\n  users:\n    attributes:\n      name: {type: string}\n"
	const after = before + "      nick: {type: string}\n"
	eachDatabase(t, func(t *testing.T, url string) {
		for _, yaml := range []string{before, after} {
			st, err := Open(context.Background(), url, parse(t, yaml), MigrateAdditive(func(*migrate.Step) {}))
			if err != nil {
				t.Fatal(err)
			}
			if yaml == after {
				insert(t, st, st.schema.Collection("users"), `{"nick":"A"}`)
			}
			closeStore(t, st)
		}
		const back = "This is schema version 1 of the database, which is now at version 2"
		_, err := Open(context.Background(), url, parse(t, before), MigrateAdditive(func(*migrate.Step) {}))
		want := "the database does not fit the schema:\n  - users: attribute nick is removed (losing)\n" +
			back + `. Start the server with the current schema. "plural migrate" would migrate back, with the steps above.`
		if err == nil || err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
		_, err = migrate.Run(context.Background(), url, parse(t, before), migrate.Options{})
		want = "the migration is refused, and nothing was changed:\n  - users: attribute nick is removed: it loses the values of 1 resource\n" +
			back + ". To continue, use the current schema.\n" + `"plural migrate --allow-loss" permits it; values that would be invalid become null.`
		if err == nil || err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
	})
}
