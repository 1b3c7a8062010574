//go:build linux

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// create makes a file without a mount.
func (d *Disk) create(name string) *file {
	f := &file{}
	d.rename(renaming{name: f})
	return f
}

// After a power cut every byte is one that was there when the file was last
// synced, or one that was written since; and where nothing was written since,
// it is the former.
func TestCutKeepsWhatWasSynced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := New(rapid.Uint64().Draw(t, "seed"))
		f := d.create("a")
		d.syncNames()
		const size = 4 * sector
		synced := []byte{}
		var since []change
		for range rapid.IntRange(1, 12).Draw(t, "operations") {
			switch rapid.IntRange(0, 4).Draw(t, "operation") {
			case 0:
				d.sync(f)
				synced, since = slices.Clone(f.data), nil
			case 1:
				c := change{offset: rapid.Int64Range(0, size).Draw(t, "size"), truncates: true}
				d.truncate(f, c.offset)
				since = append(since, c)
			default:
				data := bytes.Repeat([]byte{byte(1 + len(since))}, rapid.IntRange(1, 2*sector).Draw(t, "length"))
				c := change{offset: rapid.Int64Range(0, size).Draw(t, "offset"), data: slices.Clone(data)}
				d.write(f, data, c.offset)
				clear(data) // it is the caller's
				since = append(since, c)
			}
		}
		told := d.Cut()
		left := d.Content()["a"]
		at := func(content []byte, i int) int {
			if i >= len(content) {
				return -1
			}
			return int(content[i])
		}
		for i := range 7 * sector {
			admissible := []int{at(synced, i)}
			for _, c := range since {
				end := int(c.offset) + len(c.data)
				switch {
				case c.truncates && i >= int(c.offset):
					admissible = append(admissible, -1)
				case i >= int(c.offset) && i < end:
					admissible = append(admissible, int(c.data[0]))
				}
				if i < end && i >= len(synced) || c.truncates {
					admissible = append(admissible, 0) // a hole, as the size was changed
				}
			}
			if !slices.Contains(admissible, at(left, i)) {
				t.Fatalf("byte %d is %d, and may be %v; %s", i, at(left, i), admissible, told)
			}
		}
	})
}

func TestWritesAreSplitAtSectors(t *testing.T) {
	var got [][2]int
	for _, part := range (change{offset: 500, data: make([]byte, 600)}).sectors() {
		got = append(got, [2]int{int(part.offset), len(part.data)})
	}
	if want := [][2]int{{500, 12}, {512, 512}, {1024, 76}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Among many cuts there are those that keep nothing, all, a beginning, and
// parts out of order.
func TestCutsAreOfEveryKind(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(200) {
		d := New(seed)
		f := d.create("a")
		d.syncNames()
		for i := range 8 {
			d.write(f, []byte{1}, int64(i)*sector)
		}
		d.Cut()
		var pattern []byte
		for i := range 8 {
			arrived := i*sector < len(d.Content()["a"]) && d.Content()["a"][i*sector] == 1
			pattern = append(pattern, "01"[btoi(arrived)])
		}
		switch s := string(pattern); {
		case s == "00000000":
			kinds["none"]++
		case s == "11111111":
			kinds["all"]++
		case !bytes.Contains(pattern, []byte("01")):
			kinds["the first"]++
		default:
			kinds["any"]++
		}
	}
	for _, kind := range []string{"none", "all", "the first", "any"} {
		if kinds[kind] < 20 {
			t.Errorf("only %d of 200 cuts keep %s", kinds[kind], kind)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A name is not on the platter until the directory is synced, whatever is done
// to the file.
func TestNamesAreLostUntilTheDirectoryIsSynced(t *testing.T) {
	lost, kept := 0, 0
	for seed := range uint64(50) {
		d := New(seed)
		f := d.create("a")
		d.write(f, []byte("x"), 0)
		d.sync(f)
		d.Cut()
		if _, there := d.Content()["a"]; there {
			kept++
		} else {
			lost++
		}
	}
	if lost == 0 || kept == 0 {
		t.Errorf("lost %d times, kept %d times", lost, kept)
	}
}

// A renaming is kept whole or lost whole.
func TestRenamingIsNeverHalfDone(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range uint64(50) {
		d := New(seed)
		f := d.create("old")
		d.syncNames()
		d.rename(renaming{"old": nil, "new": f})
		d.Cut()
		content := d.Content()
		_, old := content["old"]
		_, renamed := content["new"]
		outcomes[fmt.Sprint(old, renamed)]++
	}
	if len(outcomes) != 2 || outcomes["true false"] == 0 || outcomes["false true"] == 0 {
		t.Error(outcomes)
	}
}

// A power cut that comes soon strikes in the middle of what is being written.
func TestCutSoonStrikesDuringAnOperation(t *testing.T) {
	struck := map[Op]int{}
	for seed := range uint64(20) {
		d := New(seed)
		f := d.create("a")
		told := make(chan string)
		go func() { told <- d.CutSoon() }()
		for op, errno := Write, syscall.Errno(0); errno == 0; {
			d.mutex.Lock()
			if op = Write; d.rng.IntN(4) == 0 {
				op, errno = Sync, d.sync(f)
			} else {
				_, errno = d.write(f, []byte("x"), 0)
			}
			d.mutex.Unlock()
			if errno != 0 {
				struck[op]++
				if text := <-told; !strings.HasPrefix(text, "during a "+string(op)+", ") {
					t.Errorf("it struck at a %s, and told: %s", op, text)
				}
			}
		}
	}
	if struck[Write] == 0 || struck[Sync] == 0 {
		t.Error(struck)
	}
	if told := New(0).CutSoon(); told != "" {
		t.Errorf("nothing was written, and it told: %s", told)
	}
}

func TestLyingDiskLosesWhatWasSynced(t *testing.T) {
	lost := 0
	for seed := range uint64(50) {
		d := New(seed)
		f := d.create("a")
		d.syncNames()
		d.Lie()
		d.write(f, []byte("x"), 0)
		if errno := d.sync(f); errno != 0 {
			t.Fatal(errno)
		}
		d.Cut()
		if len(d.Content()["a"]) == 0 {
			lost++
		}
	}
	if lost == 0 {
		t.Error("nothing was ever lost")
	}
}

// What a failed sync did not write is not written by the next one either, and
// is seen all the same until the power is cut.
func TestFailedSyncLosesWhatItDidNotWrite(t *testing.T) {
	lost := 0
	for seed := range uint64(50) {
		d := New(seed)
		f := d.create("a")
		d.syncNames()
		d.write(f, []byte("x"), 0)
		d.Fail(Sync, "b", 1)
		d.Fail(Sync, "a", 1)
		if errno := d.sync(f); errno != syscall.EIO {
			t.Fatal(errno)
		}
		if errno := d.sync(f); errno != 0 || d.Failed(Sync) != 1 {
			t.Fatal(errno, d.Failed(Sync))
		}
		if got := string(d.Content()["a"]); got != "x" {
			t.Fatalf("a program sees %q", got)
		}
		d.Cut()
		if len(d.Content()["a"]) == 0 {
			lost++
		}
	}
	if lost == 0 {
		t.Error("nothing was ever lost")
	}
}

func TestFullDisk(t *testing.T) {
	d := New(0)
	f := d.create("a")
	d.Resize(10)
	if _, errno := d.write(f, make([]byte, 10), 0); errno != 0 {
		t.Error(errno)
	}
	if _, errno := d.write(f, make([]byte, 2), 9); errno != syscall.ENOSPC {
		t.Error(errno)
	}
	if _, errno := d.write(f, make([]byte, 2), 8); errno != 0 {
		t.Error("overwriting takes no room:", errno)
	}
	d.Resize(11)
	if _, errno := d.write(f, make([]byte, 2), 9); errno != 0 || d.Used() != 11 {
		t.Error(errno, d.Used())
	}
}

// The same through the kernel: system calls of a program, a cut, another mount.
func TestMountedDisk(t *testing.T) {
	d := New(4)
	dir := t.TempDir()
	unmount, err := d.Mount(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	directory, err := os.Open(dir)
	must(t, err)
	_, err = f.WriteString("synced")
	must(t, err)
	must(t, f.Sync())
	must(t, directory.Sync())
	must(t, directory.Close())
	must(t, os.Rename(path, path+"b"))
	d.Fail(Write, "ab", 1)
	if _, err = f.WriteString("?"); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	must(t, f.Truncate(3))
	if got, err := os.ReadFile(path + "b"); err != nil || string(got) != "syn" {
		t.Errorf("%q, %v", got, err)
	}
	d.Cut()
	if _, err := f.WriteString("more"); !errors.Is(err, syscall.EIO) {
		t.Error("written without power:", err)
	}
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Error("synced without power:", err)
	}
	f.Close()
	must(t, unmount())

	unmount, err = d.Mount(dir)
	must(t, err)
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Fatal(entries)
	}
	got, err := os.ReadFile(filepath.Join(dir, entries[0].Name()))
	if err != nil || !slices.Contains([]string{"synced", "syn", "syn?", "synced?"}, string(got)) {
		t.Errorf("%s has %q, %v", entries[0].Name(), got, err)
	}
	must(t, os.Remove(filepath.Join(dir, entries[0].Name())))
	must(t, unmount())
	if content := d.Content(); len(content) != 0 {
		t.Error(content)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
