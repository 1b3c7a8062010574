package sse

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestNext: events are read as the HTML standard says, however the stream is cut.
func TestNext(t *testing.T) {
	type event struct{ name, id, data string }
	for _, c := range []struct {
		stream string
		want   []event
		retry  time.Duration
	}{
		{stream: "", want: nil},
		{stream: "event: created\nid: a\ndata: {}\n\n", want: []event{{"created", "a", "{}"}}},
		{stream: "event:created\r\nid:a\r\ndata:{}\r\n\r\n", want: []event{{"created", "a", "{}"}}},
		{stream: "data: one\ndata:\ndata:  two\n\n", want: []event{{"", "", "one\n\n two"}}},
		{stream: "data\ndata: x\n\n", want: []event{{"", "", "\nx"}}},
		{stream: ": comment\n\n:\n\nretry: 1500\n\nid: b\n\n", want: []event{{"", "b", ""}}, retry: 1500 * time.Millisecond},
		{stream: "retry: soon\nretry: -1\nother: x\n\ndata: 1\n\n", want: []event{{"", "", "1"}}},
		{stream: "data: whole\n\nevent: cut\ndata: off\n", want: []event{{"", "", "whole"}}},
		{stream: "data: " + strings.Repeat("long ", 10_000) + "\n\n", want: []event{{"", "", strings.Repeat("long ", 10_000)}}},
	} {
		for _, stream := range []io.Reader{strings.NewReader(c.stream), iotest.OneByteReader(strings.NewReader(c.stream))} {
			r := NewReader(stream)
			var got []event
			e, err := r.Next()
			for ; err == nil; e, err = r.Next() {
				got = append(got, event{e.Name, e.ID, string(e.Data)})
			}
			if !errors.Is(err, io.EOF) || !slices.Equal(got, c.want) || r.Retry != c.retry {
				t.Errorf("%.60q: got %.200q, %v, %v\nwant %.200q, %v", c.stream, got, r.Retry, err, c.want, c.retry)
			}
		}
	}
}

// TestLongEvents are refused, in one line or in several, before they take much more memory.
func TestLongEvents(t *testing.T) {
	defer func(most int) { maxEvent = most }(maxEvent)
	maxEvent = 1 << 20
	line := "data: " + strings.Repeat("x", 1<<10) + "\n"
	for name, stream := range map[string]io.Reader{
		"one line":      io.MultiReader(strings.NewReader("data: "), strings.NewReader(strings.Repeat("x", maxEvent+1))),
		"several lines": strings.NewReader(strings.Repeat(line, maxEvent>>10+1)),
	} {
		if _, err := NewReader(stream).Next(); !errors.Is(err, ErrLongEvent) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
