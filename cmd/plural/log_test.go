package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// slow is an output that is written to when it is let.
type slow struct {
	let     chan struct{}
	written bytes.Buffer
	writes  int
}

func (s *slow) Write(p []byte) (int, error) {
	<-s.let
	s.writes++
	return s.written.Write(p)
}

func TestLogWriter(t *testing.T) {
	out := &slow{let: make(chan struct{})}
	w := newLogWriter(out)
	var talkers sync.WaitGroup
	var want []string
	for i := range 8 {
		for line := range 1000 {
			want = append(want, fmt.Sprintf("talker %d line %04d", i, line))
		}
		talkers.Go(func() {
			for line := range 1000 {
				fmt.Fprintf(w, "talker %d line %04d\n", i, line)
			}
		})
	}
	talkers.Wait() // nobody waits for the output
	close(out.let)
	w.Close()
	if out.writes > 100 {
		t.Errorf("%d writes", out.writes)
	}
	fmt.Fprintln(w, "the end")
	got := strings.Split(strings.TrimSuffix(out.written.String(), "\n"), "\n")
	if last := len(got) - 1; got[last] != "the end" {
		t.Errorf("the last line is %q", got[last])
	}
	next := map[string]int{}
	for _, line := range got[:len(got)-1] {
		talker, number, _ := strings.Cut(line, " line ")
		if want := fmt.Sprintf("%04d", next[talker]); number != want {
			t.Fatalf("%s came when it was the turn of %s", line, want)
		}
		next[talker]++
	}
	if len(got)-1 != len(want) {
		t.Errorf("%d lines, and not %d", len(got)-1, len(want))
	}
}

// An output that is not read from stops those who have a lot to say, and no memory is filled.
func TestLogWriterIsBounded(t *testing.T) {
	out := &slow{let: make(chan struct{})}
	w := newLogWriter(out)
	line := bytes.Repeat([]byte("x"), 64<<10)
	said := make(chan int, 1000)
	go func() {
		for i := range 100 {
			_, _ = w.Write(line)
			said <- i
		}
		close(said)
	}()
	for i := range maxPending/len(line) + 1 { // so much is taken at once
		if got := <-said; got != i {
			t.Fatalf("got %d, want %d", got, i)
		}
	}
	w.mutex.Lock()
	pending := len(w.pending)
	w.mutex.Unlock()
	if pending > maxPending+len(line) {
		t.Errorf("%d bytes are pending", pending)
	}
	close(out.let)
	for range said {
	}
	w.Close()
	if out.written.Len() != 100*len(line) {
		t.Errorf("%d bytes were written", out.written.Len())
	}
}
