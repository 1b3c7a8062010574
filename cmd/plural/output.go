package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/plural-go/plural/internal/move"
)

// destination is a file to write, or the standard output.
type destination struct {
	*bufio.Writer
	format move.Format
	zipper *gzip.Writer // nil: not compressed
	file   *os.File     // nil for the standard output
	name   string       // of the complete file; until then it has a temporary one, unless it is a pipe or a device
	given  string       // as it was given, for messages
}

func openOutput(stdout io.Writer, name string, format move.Format) (*destination, error) {
	out := &destination{format: cmp.Or(format, move.NDJSON), name: name, given: name}
	to := stdout
	if name != "" && name != "-" {
		var err error
		if out.format, err = formatOf(name, format); err != nil {
			return nil, err
		}
		if err := out.open(); err != nil {
			return nil, out.named(err)
		}
		to = out.file
		if _, zipped := move.FormatOf(name); zipped {
			out.zipper = gzip.NewWriter(to)
			to = out.zipper
		}
	}
	out.Writer = bufio.NewWriterSize(to, 256<<10)
	return out, nil
}

// open opens a temporary file next to the target, or the target itself if it is a pipe or a
// device. An existing file keeps its mode, and a link remains a link.
func (o *destination) open() error {
	info, err := os.Stat(o.name)
	switch {
	case err == nil && info.IsDir():
		return errors.New("is a directory")
	case err == nil && !info.Mode().IsRegular():
		o.file, err = os.OpenFile(o.name, os.O_WRONLY, 0)
		o.name = ""
		return err
	case err == nil:
		if o.name, err = filepath.EvalSymlinks(o.name); err != nil {
			return err
		}
	case errors.Is(err, fs.ErrNotExist):
		if to, err := os.Readlink(o.name); err == nil { // a link to a file that does not exist yet
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(o.name), to)
			}
			o.name = to
		}
	default:
		return err
	}
	beside := filepath.Join(filepath.Dir(o.name), "."+filepath.Base(o.name)+"."+rand.Text())
	o.file, err = os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // #nosec G302 G304 -- the umask decides its mode
	if err != nil {
		return err
	}
	if info != nil {
		if err := o.file.Chmod(info.Mode().Perm()); err != nil {
			return errors.Join(err, o.file.Close(), os.Remove(beside))
		}
	}
	return nil
}

// finish renames a complete file, and removes any other.
func (o *destination) finish(failed error) error {
	err := failed
	if err == nil {
		err = o.Flush()
	}
	if err == nil && o.zipper != nil {
		err = o.zipper.Close()
	}
	if o.file == nil {
		return err
	}
	if err == nil && o.name != "" {
		err = o.file.Sync()
	}
	err = cmp.Or(err, o.file.Close())
	if o.name == "" {
		return o.named(err)
	}
	if err == nil {
		err = os.Rename(o.file.Name(), o.name)
	}
	if err != nil {
		return errors.Join(o.named(err), os.Remove(o.file.Name()))
	}
	return nil
}

// named is an error with the given name of the file instead of the temporary one.
func (o *destination) named(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return fmt.Errorf("%s: %w", o.given, path.Err)
	case errors.As(err, &link):
		return fmt.Errorf("%s: %w", o.given, link.Err)
	case err != nil && o.file == nil:
		return fmt.Errorf("%s: %w", o.given, err)
	}
	return err
}
