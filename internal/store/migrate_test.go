package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

const shopsBefore = `
collections:
  shops:
    attributes:
      name: {type: string, maxLength: 100}
      size: {type: string}
      code: {type: string}
      chain: {type: string, format: uuid}
  goods:
    singular: good
    attributes:
      title: {type: string}
    parent: shops
`

const shopsAfter = `
collections:
  stores:
    renamed_from: shops
    attributes:
      name: {type: string, maxLength: 100, unique: true}
      size: {type: integer}
      code: {type: string, maxLength: 2}
      chain: {references: stores}
      country: {type: string, default: nl}
    required: [country]
  goods:
    singular: good
    attributes:
      title: {type: string}
    required: [title]
    parent: stores
`

func id(n int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", n) }

// loadShops makes a database of shopsBefore and closes it.
func loadShops(t *testing.T, url string, shops, goods []string) {
	t.Helper()
	s := parse(t, shopsBefore)
	st, err := Open(context.Background(), url, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range shops {
		insert(t, st, s.Collection("shops"), body)
	}
	for _, body := range goods {
		insert(t, st, s.Collection("goods"), body)
	}
	closeStore(t, st)
}

func planLines(steps []*migrate.Step) []string {
	var lines []string
	for _, step := range steps {
		line := fmt.Sprintf("%s; %s; %s", step.Class, step.Text, step.Cost)
		if step.Violations > 0 {
			line += "; " + step.Complaint() + fmt.Sprintf("; blocked: %v", step.Blocked)
		}
		if warning := step.Warning(); warning != "" {
			line += "; " + warning
		}
		for _, sample := range step.Samples {
			line += fmt.Sprintf("; %s %s -> %s", sample.ID, sample.Before, sample.After)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestPlanReportsViolations(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		loadShops(t, url,
			[]string{
				`{"id":"` + id(1) + `","name":"A","size":"12","code":"x"}`,
				`{"id":"` + id(2) + `","name":"A","size":"big","code":"xyz","chain":"` + id(1) + `"}`,
				`{"id":"` + id(3) + `","name":null,"size":"1.5","chain":"` + id(9) + `"}`,
			},
			[]string{`{"id":"` + id(4) + `","shop_id":"` + id(1) + `"}`, `{"id":"` + id(5) + `","title":"Lamp"}`})
		steps, _, err := migrate.Plan(context.Background(), url, parse(t, shopsAfter), migrate.Whole)
		want := []string{
			"rewriting; collection shops is renamed to stores; touches no resource",
			"additive; stores: the singular becomes store; touches no resource",
			"rewriting; stores: size is converted from string to integer; checks 3 resources; 2 resources violate this: " + id(2) + ` "big", ` + id(3) + ` "1.5" (Cannot be converted to integer); blocked: false`,
			"rewriting; stores: code is restricted by maxLength; checks 2 resources; 1 resource violates this: " + id(2) + ` "xyz" (Must be at most 2 characters long, but has 3); blocked: false`,
			"rewriting; stores: chain refers to stores; checks 2 resources; 1 resource violates this: " + id(3) + ` "` + id(9) + `" (no resource of stores has this id); blocked: false`,
			"additive; stores: new attribute country (string); existing resources get the default; writes 3 resources",
			"rewriting; stores: values of name must be unique; checks 3 resources; 1 resource violates this: " + id(2) + ` "A" (another resource has the same value); blocked: true`,
			"rewriting; goods: title becomes required; checks 2 resources; 1 resource violates this: " + id(4) + " (it has no value); blocked: true",
			"rewriting; goods: attribute shop_id is renamed to store_id; rebuilds the indexes of 2 resources",
		}
		if got := planLines(steps); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, got\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		_, err = migrate.Run(context.Background(), url, parse(t, shopsAfter), migrate.Options{AllowLoss: true})
		var refused *migrate.RefusedError
		if !errors.As(err, &refused) || !refused.Blocked || len(refused.Steps) != 2 {
			t.Errorf("got %v", err)
		}
		open(t, url, parse(t, shopsBefore)) // nothing was changed
	})
}

func TestMigrateWithLoss(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		loadShops(t, url,
			[]string{`{"id":"` + id(1) + `","name":"A","size":"12","code":"xyz","chain":"` + id(9) + `"}`, `{"id":"` + id(2) + `","name":"B","size":"big","chain":"` + id(1) + `"}`},
			[]string{`{"id":"` + id(4) + `","title":"Lamp","shop_id":"` + id(1) + `"}`})
		after := parse(t, shopsAfter)
		_, err := migrate.Run(context.Background(), url, after, migrate.Options{})
		want := "the migration is refused, and nothing was changed:\n" +
			"  - stores: size is converted from string to integer: 1 resource violates this: " + id(2) + " \"big\" (Cannot be converted to integer)\n" +
			"  - stores: code is restricted by maxLength: 1 resource violates this: " + id(1) + " \"xyz\" (Must be at most 2 characters long, but has 3)\n" +
			"  - stores: chain refers to stores: 1 resource violates this: " + id(1) + " \"" + id(9) + "\" (no resource of stores has this id)\n" +
			"\"plural migrate --allow-loss\" permits it; values that would be invalid become null."
		if err == nil || err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
		if _, err := migrate.Run(context.Background(), url, after, migrate.Options{AllowLoss: true}); err != nil {
			t.Fatal(err)
		}
		st := open(t, url, after)
		stores, goods := after.Collection("stores"), after.Collection("goods")
		read(t, st, func(tx *Tx) {
			expectRecord(t, tx, stores, 1, `"name":"A","size":12,"code":null,"chain":null,"country":"nl"`)
			expectRecord(t, tx, stores, 2, `"name":"B","size":null,"code":null,"chain":"`+id(1)+`","country":"nl"`)
			expectRecord(t, tx, goods, 4, `"title":"Lamp","store_id":"`+id(1)+`"`)
			expectTotals(t, tx, stores, 2)
			expectTotals(t, tx, goods, 1)
			parent, _ := model.ParseID(id(1))
			if n, err := tx.Total(goods, &parent); n != 1 || err != nil {
				t.Errorf("the parent has %d, %v", n, err)
			}
		})
		// Values were converted, so that a new history begins.
		write(t, st, func(tx *Tx) error {
			two, _ := model.ParseID(id(2))
			record, err := tx.Get(stores, nil, two)
			if err == nil {
				_, err = tx.Delete(stores, record)
			}
			return err
		})
		sequence(t, st)
		read(t, st, func(tx *Tx) {
			entries, last, more, err := tx.Log(changelog.Query{Most: 10})
			if err != nil || last != 4 || more || len(entries) != 1 || entries[0].Collection != stores || entries[0].Kind != changelog.Deleted {
				t.Errorf("the change log has %v up to %d, %v", entries, last, err)
			}
			if bounds, err := tx.Bounds(); bounds.Floor != 3 || err != nil {
				t.Errorf("the floor is %d, %v", bounds.Floor, err)
			}
		})
	})
}

func expectRecord(t *testing.T, tx *Tx, c *model.Collection, n int, attributes string) {
	t.Helper()
	key, _ := model.ParseID(id(n))
	record, err := tx.Get(c, nil, key)
	if err != nil || record == nil {
		t.Fatalf("%s %d: %v", c.Name, n, err)
	}
	got := string(c.Append(nil, record))
	if want := `{"id":"` + id(n) + `","type":"` + c.Name + `",` + attributes + `,"created_at"`; !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSchemaHistory: the database knows the schemas that it had.
func TestSchemaHistory(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		loadShops(t, url, nil, nil)
		for range 2 { // the second time there is nothing to do
			if _, err := migrate.Run(context.Background(), url, parse(t, shopsAfter), migrate.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		st := open(t, url, parse(t, shopsAfter))
		want := []string{"1 " + string(parse(t, shopsBefore).Document()), "2 " + string(parse(t, shopsAfter).Document())}
		var got []string
		read(t, st, func(tx *Tx) {
			err := db.Each(tx.conn, func(row model.Row) {
				got = append(got, fmt.Sprintf("%d %s", row.Int(0), row.AppendText(nil, 1)))
			}, "SELECT version, document FROM "+db.SchemasTable+" ORDER BY version")
			if err != nil {
				t.Fatal(err)
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestOpenAppliesAdditiveSteps(t *testing.T) {
	const after = shopsBefore + "  extras: {}\n"
	eachDatabase(t, func(t *testing.T, url string) {
		loadShops(t, url, []string{`{"name":"A"}`}, nil)
		_, err := Open(context.Background(), url, parse(t, after))
		want := "the database does not fit the schema:\n  - new collection extras (additive)\n" +
			`"plural migrate" changes the database. With "--migrate additive" the server applies such steps itself.`
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		var taken []string
		st, err := Open(context.Background(), url, parse(t, after), MigrateAdditive(func(step *migrate.Step) { taken = append(taken, step.Text+", "+step.Cost) }))
		if err != nil {
			t.Fatal(err)
		}
		closeStore(t, st)
		if !slices.Equal(taken, []string{"new collection extras, touches no resource"}) {
			t.Errorf("took %q", taken)
		}
		open(t, url, parse(t, after))
	})
}

// migrateAndStop is another process: it migrates, says when it has come to a
// stage, and stays there until it is killed.
func migrateAndStop(stage, url string) {
	migrate.StageReached = func(reached string) {
		if reached == stage {
			fmt.Println("reached")
			select {}
		}
	}
	file, err := schema.Parse([]byte(shopsAfter))
	if err == nil {
		_, err = migrate.Run(context.Background(), url, (*model.Schema)(file.Schema), migrate.Options{AllowLoss: true})
	}
	fmt.Println("not reached:", err)
}

// TestKilledMigrationLeavesTheOld kills a process in the middle of a migration,
// at every stage: what was there is there as it was, and can be migrated.
func TestKilledMigrationLeavesTheOld(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		loadShops(t, url, []string{`{"id":"` + id(1) + `","name":"A","size":"12"}`}, []string{`{"id":"` + id(4) + `","title":"Lamp","shop_id":"` + id(1) + `"}`})
		for _, stage := range []string{"columns", "values", "names", "alterations", "indexes", "totals", "verification"} {
			killAt(t, stage, url)
			st, err := Open(context.Background(), url, parse(t, shopsBefore))
			if err != nil {
				t.Fatalf("killed at %s: %v", stage, err)
			}
			read(t, st, func(tx *Tx) {
				expectRecord(t, tx, st.schema.Collection("shops"), 1, `"name":"A","size":"12","code":null,"chain":null`)
				expectTotals(t, tx, st.schema.Collection("goods"), 1)
			})
			closeStore(t, st)
		}
		if _, err := migrate.Run(context.Background(), url, parse(t, shopsAfter), migrate.Options{}); err != nil {
			t.Fatal(err)
		}
		st := open(t, url, parse(t, shopsAfter))
		read(t, st, func(tx *Tx) {
			expectRecord(t, tx, st.schema.Collection("stores"), 1, `"name":"A","size":12,"code":null,"chain":null,"country":"nl"`)
		})
	})
}

func killAt(t *testing.T, stage, url string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "PLURAL_TEST_STOP_AT="+stage, "PLURAL_TEST_DATABASE="+url)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if killed := child.Process.Signal(syscall.SIGKILL); killed != nil {
		t.Error(killed)
	}
	child.Wait()
	if err != nil || line != "reached\n" {
		t.Fatalf("%s: %q, %v", stage, line, err)
	}
}

// TestRenamedAmongReservedNames: a name that the database keeps to itself is
// stored under another one, before and after.
func TestRenamedAmongReservedNames(t *testing.T) {
	const before = `
collections:
  sqlite_things: {singular: sqlite_thing, attributes: {a: {type: integer, index: true}}}
  parts: {parent: {collection: sqlite_things, attribute: whole}}
`
	const after = `
collections:
  sqlite_wholes: {singular: sqlite_whole, renamed_from: sqlite_things, attributes: {a: {type: integer, index: true}}, required: [a]}
  parts: {parent: {collection: sqlite_wholes, attribute: whole}}
`
	eachDatabase(t, func(t *testing.T, url string) {
		st, err := Open(context.Background(), url, parse(t, before))
		if err != nil {
			t.Fatal(err)
		}
		insert(t, st, st.schema.Collection("sqlite_things"), `{"id":"`+id(1)+`","a":1}`)
		insert(t, st, st.schema.Collection("parts"), `{"id":"`+id(2)+`","whole":"`+id(1)+`"}`)
		closeStore(t, st)
		if _, err := migrate.Run(context.Background(), url, parse(t, after), migrate.Options{}); err != nil {
			t.Fatal(err)
		}
		st = open(t, url, parse(t, after))
		read(t, st, func(tx *Tx) {
			expectRecord(t, tx, st.schema.Collection("sqlite_wholes"), 1, `"a":1`)
			expectRecord(t, tx, st.schema.Collection("parts"), 2, `"whole":"`+id(1)+`"`)
		})
	})
}

// TestInterruptedMigrationLeavesTheOld: whoever gives up in the middle finds what
// was there.
func TestInterruptedMigrationLeavesTheOld(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		loadShops(t, url, []string{`{"id":"` + id(1) + `","name":"A","size":"12"}`}, nil)
		ctx, cancel := context.WithCancel(context.Background())
		migrate.StageReached = func(stage string) {
			if stage == "alterations" {
				cancel()
			}
		}
		defer func() { migrate.StageReached = func(string) {} }()
		if _, err := migrate.Run(ctx, url, parse(t, shopsAfter), migrate.Options{}); err == nil {
			t.Error("it was not interrupted")
		}
		st := open(t, url, parse(t, shopsBefore))
		read(t, st, func(tx *Tx) {
			expectRecord(t, tx, st.schema.Collection("shops"), 1, `"name":"A","size":"12","code":null,"chain":null`)
		})
	})
}

// TestMigrateWithBackup: the backup is what the migration changes, and there is
// none of one that is refused.
func TestMigrateWithBackup(t *testing.T) {
	dir := t.TempDir()
	url, file := "sqlite:"+filepath.Join(dir, "live.db"), filepath.Join(dir, "copy.db")
	loadShops(t, url, []string{`{"id":"` + id(1) + `","name":"A","size":"12"}`}, nil)
	server := open(t, url, parse(t, shopsBefore))
	_, err := migrate.Run(context.Background(), url, parse(t, strings.Replace(shopsAfter, "size: {type: integer}", "size: {type: boolean}", 1)), migrate.Options{Before: func() error { return admin.Backup(context.Background(), url, file) }})
	var refused *migrate.RefusedError
	if !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a refused migration wrote a backup")
	}
	// What comes in while a migration is being prepared is either too late, or in the backup.
	write(t, server, func(tx *Tx) error { return db.ExecAll(tx.conn, "UPDATE shops SET size = 'big'") })
	if _, err := migrate.Run(context.Background(), url, parse(t, shopsAfter), migrate.Options{AllowLoss: true, Before: func() error { return admin.Backup(context.Background(), url, file) }}); err != nil {
		t.Fatal(err)
	}
	copied := open(t, "sqlite:"+file, parse(t, shopsBefore))
	read(t, copied, func(tx *Tx) {
		expectRecord(t, tx, copied.schema.Collection("shops"), 1, `"name":"A","size":"big","code":null,"chain":null`)
	})
}

// TestTriggersAreNotLost: they are not Plural's to drop.
func TestTriggersAreNotLost(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "live.db")
	loadShops(t, url, []string{`{"id":"` + id(1) + `","name":"A"}`}, nil)
	st := open(t, url, parse(t, shopsBefore))
	write(t, st, func(tx *Tx) error {
		return db.ExecAll(tx.conn, "CREATE TRIGGER mine AFTER INSERT ON shops BEGIN SELECT 1; END")
	})
	_, err := migrate.Run(context.Background(), url, parse(t, shopsAfter), migrate.Options{})
	want := "the trigger mine, which Plural did not create, would be lost: drop it first, and create it again afterwards"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if _, err := migrate.Run(context.Background(), url, parse(t, shopsBefore+"  extras: {}\n"), migrate.Options{}); err != nil {
		t.Errorf("what leaves the table alone: %v", err)
	}
}

// TestAnotherTypeAfterADefault: what existing resources got when an attribute was added has its former type.
func TestAnotherTypeAfterADefault(t *testing.T) {
	versions := []string{
		"collections: {things: {}}",
		"collections: {things: {attributes: {a: {type: string, default: '12'}}}}",
		"collections: {things: {attributes: {a: {type: integer}}}}",
	}
	for _, rows := range []int{0, 1} {
		eachDatabase(t, func(t *testing.T, url string) {
			s := parse(t, versions[0])
			st := open(t, url, s)
			for range rows {
				insert(t, st, s.Collection("things"), `{}`)
			}
			closeStore(t, st)
			for _, version := range versions[1:] {
				if _, err := migrate.Run(context.Background(), url, parse(t, version), migrate.Options{}); err != nil {
					t.Fatal(err)
				}
				closeStore(t, open(t, url, parse(t, version)))
			}
			want := []string{`"a":12`}[:rows]
			if got := attributesOf(t, open(t, url, parse(t, versions[2]))); !slices.Equal(got, want) {
				t.Errorf("got %v", got)
			}
		})
	}
}
