package move

import (
	"testing"
)

// byKey updates the people who have an attribute of the row.
func byKey(key string) func(*Import) {
	return func(i *Import) { i.OnConflict, i.Key = UpdateOnConflict, key }
}

// TestUpdateByKey: rows change the resources that have their values of a unique attribute, and create
// the others.
func TestUpdateByKey(t *testing.T) {
	const first = "01936f2e-7d3c-7a4b-9c5d-000000000001"
	eachStore(t, func(t *testing.T, w *dataset) {
		done, _, err := w.take("email,name,age\na,A,1\nb,B,2\n", CSV, byKey("email"))
		same(t, done, Imported{Created: 2, Next: 3})
		same(t, err, nil)
		// Only the columns of the file are changed.
		done, _, err = w.take("email,age\nb,3\n", CSV, byKey("email"))
		same(t, done, Imported{Upserted: 1, Next: 2})
		same(t, err, nil)
		done, _, err = w.take(`[{"email":"a","name":"A2"},{"id":"`+first+`","email":"c","name":"C"}]`, JSON, byKey("email"))
		same(t, done, Imported{Upserted: 2, Next: 3})
		same(t, err, nil)
		w.expect("C A2 B")
		// The same import once more changes nothing.
		before := w.export(NDJSON, "")
		done, _, err = w.take("email,age\nb,3\n", CSV, byKey("email"))
		same(t, done, Imported{Upserted: 1, Next: 2})
		same(t, err, nil)
		same(t, w.export(NDJSON, ""), before)
		// By id, which is the default.
		done, _, err = w.take(`{"id":"`+first+`","age":7}`+"\n"+`{"name":"D"}`, NDJSON, byKey(""))
		same(t, done, Imported{Upserted: 2, Next: 3})
		same(t, err, nil)
		w.expect("C A2 B D")
	})
}

// TestUpdateByKeyRefuses: bad rows are those that can be neither created nor changed.
func TestUpdateByKeyRefuses(t *testing.T) {
	const other = "01936f2e-7d3c-7a4b-9c5d-000000000009"
	eachStore(t, func(t *testing.T, w *dataset) {
		if _, _, err := w.take("email,name\na,A\n", CSV, byKey("email")); err != nil {
			t.Fatal(err)
		}
		text := `[{"email":"a","age":-1},{"email":"new"},{"name":"N"},{"email":"a","id":"` + other + `"},{"email":"b","name":"B"},{"email":"b","name":"B"},{"email":"a","age":4}]`
		for _, change := range []func(*Import){dryRun, skip} {
			before := w.names()
			done, bad, err := w.take(text, JSON, byKey("email"), skip, change)
			same(t, err, nil)
			same(t, len(bad), int(done.Bad))
			if done.Bad != 5 || done.Created+done.Upserted != 2 || done.Next != 8 {
				t.Errorf("got %+v\n%v", done, bad)
			}
			if done.Upserted == 0 {
				w.expect(before)
			}
		}
		w.expect("A B")
	})
}

// TestUpdateByKeyOfLostAnswers: what was sent again has found what it had created.
func TestUpdateByKeyOfLostAnswers(t *testing.T) {
	eachStore(t, func(t *testing.T, w *dataset) {
		w.cut.Store(2)
		done, _, err := w.take("email,name\na,A\nb,B\n", CSV, byKey("email"))
		same(t, done, Imported{Upserted: 2, Next: 3})
		same(t, err, nil)
		w.expect("A B")
	})
}
