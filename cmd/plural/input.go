package main

import (
	"bufio"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/plural-go/plural/internal/move"
	"github.com/plural-go/plural/internal/suggest"
)

var errInterrupted = errors.New("interrupted")

// input is a file that is read, with its progress.
type input struct {
	io.Reader
	name   string
	format move.Format
	file   *os.File // nil for the standard input
	size   int64    // negative if unknown
	read   atomic.Int64
}

// openInput opens the file to import, or the standard input. Compression is detected by the
// first bytes.
func openInput(ctx context.Context, stdin io.Reader, names []string, format move.Format) (*input, error) {
	in := &input{name: "the standard input", format: cmp.Or(format, move.NDJSON), size: -1}
	from := stdin
	if len(names) > 0 && names[0] != "-" {
		in.name = names[0]
		var err error
		if in.format, err = formatOf(in.name, format); err != nil {
			return nil, err
		}
		if err := in.open(ctx); err != nil {
			return nil, err
		}
		from = in.file
	}
	start := bufio.NewReaderSize(untilDone(ctx, &countingReader{from, &in.read}), 64<<10)
	in.Reader = start
	if magic, _ := start.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(start)
		if err != nil {
			return nil, errors.Join(in.named(err), in.Close())
		}
		in.Reader = unzipping{unzipped}
	} else if _, zipped := move.FormatOf(in.name); zipped && ctx.Err() == nil {
		return nil, errors.Join(in.named(errors.New("the name ends in .gz, but the file is not compressed")), in.Close())
	}
	return in, nil
}

// unzipping decompresses a file. An early end is an error of the file, and not of the JSON or CSV in it.
type unzipping struct{ *gzip.Reader }

func (u unzipping) Read(into []byte) (int, error) {
	n, err := u.Reader.Read(into)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, new(flate.CorruptInputError)) {
		err = fmt.Errorf("the compressed data is cut off or damaged (%v): copy the file again", err) // no longer an end of the text
	}
	return n, err
}

// formatOf is the format of a file: the given one, or else that of its name.
func formatOf(name string, given move.Format) (move.Format, error) {
	byName, _ := move.FormatOf(name)
	format := cmp.Or(given, byName)
	if format == "" {
		return "", fmt.Errorf("the format of %s is not clear from its name: give --format %s", name, suggest.OneOf(move.Formats))
	}
	return format, nil
}

// open opens the file. A named pipe blocks until it has a writer.
func (in *input) open(ctx context.Context) error {
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		file, err := os.Open(in.name)
		opened <- result{file, err}
	}()
	var got result
	select {
	case got = <-opened:
	case <-ctx.Done():
		return in.named(errInterrupted)
	}
	if got.err != nil {
		return got.err
	}
	in.file = got.file
	if info, err := in.file.Stat(); err == nil && info.Mode().IsRegular() {
		in.size = info.Size()
	}
	return nil
}

// untilDone reads from a source that may block, and ends with the context.
func untilDone(ctx context.Context, from io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { _ = in.CloseWithError(ctx.Err()) }) // which never fails
	go func() {
		_, err := io.CopyBuffer(in, from, make([]byte, 64<<10))
		_ = in.CloseWithError(err) // EOF, if there is no error
	}()
	return out
}

// countingReader counts the bytes that are read.
type countingReader struct {
	io.Reader
	read *atomic.Int64
}

func (c *countingReader) Read(into []byte) (int, error) {
	n, err := c.Reader.Read(into)
	c.read.Add(int64(n))
	return n, err
}

// part is the fraction of the file that was read, negative if unknown.
func (in *input) part() float64 {
	if in.size <= 0 {
		return -1
	}
	return float64(in.read.Load()) / float64(in.size)
}

func (in *input) named(err error) error { return fmt.Errorf("%s: %w", in.name, err) }

func (in *input) Close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}
