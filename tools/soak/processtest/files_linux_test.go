package processtest

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plural-go/plural/tools/soak/disk"
)

// These tests tell who has opened a file by its flags: SQLite opens every file of
// a database with O_NOFOLLOW, and the packages of Go never do.

// databaseFiles are the ends of the names of the files of a database.
var databaseFiles = []string{".db", ".db-wal", ".db-shm", ".db-journal", ".partial", ".partial-wal", ".partial-shm", ".partial-journal"}

func isDatabaseFile(name string) bool {
	for _, end := range databaseFiles {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// strangers lists the openings of database files by anything but SQLite. A file may be
// created: nobody can have it open then.
func strangers(opened []disk.Opening) (lines []string) {
	for _, o := range opened {
		created := o.Created && o.Flags&syscall.O_EXCL != 0
		if isDatabaseFile(o.Name) && o.Flags&syscall.O_NOFOLLOW == 0 && !created {
			lines = append(lines, fmt.Sprintf("%s with the flags %#o", o.Name, o.Flags))
		}
	}
	return lines
}

// mounted shows a disk that knows every opening.
func mounted(t *testing.T) (d *disk.Disk, dir string) {
	t.Helper()
	d, dir = disk.New(1), t.TempDir()
	unmount, err := d.Mount(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unmount(); err != nil {
			t.Error(err)
		}
	})
	return d, dir
}

// TestFilesAreOpenedBySQLiteAlone: a server under requests and every command leave all files of
// databases to SQLite. When any other descriptor of such a file is closed, the process loses
// its locks.
func TestFilesAreOpenedBySQLiteAlone(t *testing.T) {
	d, data := mounted(t)
	dir := home(t)
	database := filepath.Join(data, databaseFile)
	seen := 0
	judge := func(t *testing.T, what string) {
		t.Helper()
		opened := d.Opened()[seen:]
		seen += len(opened)
		for _, line := range strangers(opened) {
			t.Errorf("%s opens %s", what, line)
		}
	}
	server := serve(t, dir, database)
	use(t, server.base)
	judge(t, "serve")
	if seen < 3 {
		t.Errorf("only %v were opened, so that nothing was tested", d.Opened())
	}
	at := func(name string) string { return filepath.Join(data, name) }
	on := onDatabase("")(dir, "")[1:2:2] // the schema
	on = append(on, "--database=sqlite:"+database)
	writeFile(t, filepath.Join(dir, "rows.ndjson"), `{"title":"imported"}`+"\n")
	after := []string{"--schema=" + filepath.Join(dir, "after.yaml"), "--database=sqlite:" + database}
	for _, c := range []struct {
		args    []string
		refuses string
	}{
		{append([]string{"import", "notes", "rows.ndjson"}, on...), ""},
		{append([]string{"import", "notes", "rows.ndjson", "--dry-run"}, on...), ""},
		{append([]string{"export", "notes", "--output=rows.csv"}, on...), ""},
		{append([]string{"keys", "create", "--name=a", "--role=reader"}, on...), ""},
		{append([]string{"keys", "list"}, on...), ""},
		{append([]string{"keys", "revoke", "AAAAAAAAAAAA"}, on...), "nothing was revoked"},
		{append([]string{"mcp", "--role=reader"}, on...), ""},
		{append([]string{"can", "reader", "read", "notes", "018f4e5c-0000-7000-8000-000000000000"}, on...), "there is no resource"},
		{append([]string{"backup", at("first.db")}, on...), ""},
		{append([]string{"restore", at("first.db")}, on...), "--force permits it"},
		{append([]string{"restore", at("first.db"), "--force"}, on...), ""},
		{[]string{"copy", "--from=sqlite:" + database, "--to=sqlite:" + at("copy.db")}, ""},
		{[]string{"copy", "--from=sqlite:" + database, "--to=sqlite:" + at("copy.db")}, "it is not empty"},
		{append([]string{"doctor"}, on...), ""},
		{append([]string{"doctor", "--repair"}, on...), ""},
		{[]string{"check", server.base, "--collection=drafts"}, ""},
		{append([]string{"migrate", "--plan"}, after...), ""},
		{append([]string{"migrate", "--backup=" + at("before.db")}, after...), ""},
		{append([]string{"restore", at("before.db")}, on[0], "--database=sqlite:"+at("new.db")), ""},
	} {
		out, err := run(dir, []string{"GOGC=5"}, c.args...)
		if (err != nil) != (c.refuses != "") || !strings.Contains(out, c.refuses) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
		judge(t, strings.Join(c.args[:2], " "))
	}
	server.stop(t)
	judge(t, "the end of serve")
}

// use sends requests of every kind.
func use(t *testing.T, base string) {
	t.Helper()
	for i := range 20 {
		if status, answer, err := post(base, fmt.Sprintf(`{"title":"note %d"}`, i)); err != nil || status != http.StatusCreated {
			t.Fatal(status, answer, err)
		}
		for _, path := range []string{"/notes", "/notes?sort=-title&offset=3&limit=-2", "/notes?filter[title]=x", "/-/health", "/-/ready"} {
			// The server has two seconds to find out that it is ready, which a busy machine may exceed.
			for deadline := time.Now().Add(5 * time.Minute); ; {
				response, err := http.Get(base + path)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if response.StatusCode == http.StatusOK {
					break
				}
				if path != "/-/ready" || response.StatusCode != http.StatusServiceUnavailable || time.Now().After(deadline) {
					t.Fatal(path, response.Status)
				}
			}
		}
	}
}

// A test that sees no stranger where there is one would see none at all.
func TestFilesOpenedByOthersAreDetected(t *testing.T) {
	d, data := mounted(t)
	for _, command := range []string{"touch plural.db", "head -c 1 plural.db", "cp plural.db copy.db"} {
		shell := exec.Command("sh", "-c", command)
		shell.Dir = data
		if out, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if got := strangers(d.Opened()); len(got) < 3 {
		t.Errorf("got %v of %v", got, d.Opened())
	}
}

// descriptors lists the flags of the open descriptors of a process on the files of a database.
func descriptors(t *testing.T, pid int, database string) map[string][]int {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	entries, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]int{}
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join(dir, "fd", entry.Name()))
		if err != nil || !strings.HasPrefix(target, database) {
			continue // it may have been closed meanwhile
		}
		info, err := os.Open(filepath.Join(dir, "fdinfo", entry.Name()))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(info); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "flags:"); ok {
				flags, err := strconv.ParseInt(strings.TrimSpace(text), 8, 64)
				if err != nil {
					t.Fatal(err)
				}
				found[filepath.Base(target)] = append(found[filepath.Base(target)], int(flags))
			}
		}
		info.Close()
	}
	return found
}

// TestDescriptorsOfAServer: what a running server has open of its database is SQLite's: one
// descriptor of the memory that connections share, and for each connection one of the database and
// at most one of the log.
func TestDescriptorsOfAServer(t *testing.T) {
	dir := home(t)
	database := filepath.Join(dir, databaseFile)
	seeded(t, database)
	server := serve(t, dir, database)
	l := startLoad(t, server.base)
	var connections, logs int
	look := func() {
		found := descriptors(t, server.command.Process.Pid, database)
		for name, flags := range found {
			for _, f := range flags {
				if f&syscall.O_NOFOLLOW == 0 {
					t.Errorf("%s is open with the flags %#o, and not by SQLite", name, f)
				}
			}
		}
		if shared := len(found[databaseFile+"-shm"]); shared != 1 {
			t.Errorf("the shared memory is open %d times", shared)
		}
		connections, logs = len(found[databaseFile]), len(found[databaseFile+"-wal"])
	}
	l.beside(t, func() {
		for range 3 {
			use(t, server.base)
			look()
			if t.Failed() {
				return
			}
		}
	})
	look() // now that nobody opens or closes a connection
	if connections == 0 || logs > connections {
		t.Errorf("the database is open %d times, and its log %d times", connections, logs)
	}
	server.stop(t)
}
