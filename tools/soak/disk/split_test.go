//go:build linux

package disk

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// opened mounts a disk and makes a file on it.
func opened(t *testing.T, name string) (*Disk, *os.File) {
	t.Helper()
	d, dir := New(1), t.TempDir()
	unmount, err := d.Mount(dir)
	must(t, err)
	t.Cleanup(func() { must(t, unmount()) })
	f, err := os.Create(filepath.Join(dir, name))
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return d, f
}

// The kernel passes a write on as one request, though it crosses the bounds of pages and though a part of
// its source is not in memory. Through its page cache it would be up to three.
func TestWriteIsOneRequest(t *testing.T) {
	d, f := opened(t, "a")
	page := os.Getpagesize()
	source, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	must(t, err)
	defer func() { must(t, syscall.Munmap(source)) }()
	source[0] = 1 // the second page was never touched
	const offset = 56
	if n, err := syscall.Pwrite(int(f.Fd()), source[page/2:page/2+page], offset); n != page || err != nil {
		t.Fatal(n, err)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var got [][2]int
	for _, c := range d.names["a"].pending {
		got = append(got, [2]int{int(c.offset), len(c.data)})
	}
	if want := [][2]int{{offset, page}}; !slices.Equal(got, want) {
		t.Errorf("the requests are %v, and not %v", got, want)
	}
}

// When a write of a program is several requests and a later one fails, the program is told
// how much was written, and not that there was an error. If it then writes the rest, as
// SQLite does, nobody has ever heard of it.
func TestErrorInALaterRequestIsHidden(t *testing.T) {
	d, f := opened(t, "a-shm")
	data := make([]byte, 1<<20) // more than one request can have
	d.FailAfter(Write, "a-shm", 1, 1)
	n, err := syscall.Pwrite(int(f.Fd()), data, 0)
	if n <= 0 || n >= len(data) || err != nil {
		t.Fatalf("%d of %d bytes are written, with the error %v", n, len(data), err)
	}
	if more, err := syscall.Pwrite(int(f.Fd()), data[n:], int64(n)); n+more != len(data) || err != nil {
		t.Fatal(more, err)
	}
	if d.Failed(Write) != 1 {
		t.Errorf("%d writes failed", d.Failed(Write))
	}
}

// A short write is no error, and a program can write the rest.
func TestShortWrite(t *testing.T) {
	d, f := opened(t, "a")
	d.Fail(Short, "a", 1)
	d.FailAfter(Write, "a", 1, 1)
	for _, c := range []struct {
		n   int
		err error
	}{{5, nil}, {10, nil}, {-1, syscall.EIO}, {10, nil}} {
		if n, err := syscall.Pwrite(int(f.Fd()), []byte("0123456789"), 0); n != c.n || err != c.err {
			t.Errorf("got %d, %v, want %d, %v", n, err, c.n, c.err)
		}
	}
	if d.Failed(Short) != 1 || d.Failed(Write) != 1 {
		t.Error(d.Failed(Short), d.Failed(Write))
	}
}
