//go:build linux

package soak

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/plural-go/plural/internal/process"
	"github.com/plural-go/plural/tools/soak/disk"
	"github.com/plural-go/plural/tools/soak/stored"
)

// System is the system under test: a server with its database.
type System interface {
	// Launch starts the server on the existing database, and does not wait for it.
	Launch() error
	// Ready waits until the server responds, and returns its base URL, or those of its
	// nodes.
	Ready(ctx context.Context) (bases []string, err error)
	// Crash ends the server at once, and returns the kind of crash.
	Crash() (string, error)
	// Stop shuts the server down gracefully.
	Stop() error
	// AtRest reads the database while no server runs.
	AtRest() (*stored.Contents, error)
	// Close removes everything.
	Close() error
}

//go:embed schema.yaml
var schemaFile []byte

// SQLite is a server on SQLite. A crash kills it or, if its database is on a simulated disk, cuts
// the power.
type SQLite struct {
	binary  string
	home    string // directory of all files
	data    string // directory of the database
	disk    *disk.Disk
	unmount func() error
	process *process.Process
	flags   []string // additional flags of the server
}

// NewSQLite prepares a server whose database is in an ordinary directory.
func NewSQLite(binary string) (*SQLite, error) {
	home, err := os.MkdirTemp("", "plural-soak-")
	if err != nil {
		return nil, err
	}
	s := &SQLite{binary: binary, home: home, data: filepath.Join(home, "data")}
	if err := os.Mkdir(s.data, 0o755); err != nil {
		return nil, err
	}
	return s, os.WriteFile(s.schema(), schemaFile, 0o644)
}

// NewSQLiteOn prepares a server whose database is on a simulated disk.
func NewSQLiteOn(d *disk.Disk, binary string) (*SQLite, error) {
	s, err := NewSQLite(binary)
	if err == nil {
		s.disk = d
		s.unmount, err = d.Mount(s.data)
	}
	return s, err
}

func (s *SQLite) schema() string { return filepath.Join(s.home, "plural.yaml") }

// Launch implements System.
func (s *SQLite) Launch() (err error) {
	s.process, err = launch(filepath.Join(s.home, "log"), s.binary, s.schema(), s.database(), s.flags...)
	return err
}

func (s *SQLite) database() string { return "sqlite:" + filepath.Join(s.data, databaseFile) }

// command runs another command of the program on the database.
func (s *SQLite) command(ctx context.Context, arguments ...string) error {
	return runCommand(ctx, s.binary, append(arguments, "--schema="+s.schema(), "--database="+s.database())...)
}

func (s *SQLite) setFlags(flags ...string) { s.flags = flags }

func runCommand(ctx context.Context, binary string, arguments ...string) error {
	if out, err := exec.CommandContext(ctx, binary, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("plural %s: %w\n%s", strings.Join(arguments, " "), err, out)
	}
	return nil
}

// Ready implements System.
func (s *SQLite) Ready(ctx context.Context) ([]string, error) {
	base, err := baseOf(ctx, s.process)
	return []string{base}, err
}

// The kinds of crashes.
const (
	killed = "kill -9"
	cut    = "power cut"
)

// Crash implements System. It cuts the power first, so that nothing that the process does until
// it is killed reaches the disk.
func (s *SQLite) Crash() (how string, err error) {
	how = killed
	if s.disk != nil {
		how = cut + ": " + s.disk.CutSoon()
	}
	s.process.Kill()
	if s.disk != nil {
		if err = s.unmount(); err == nil {
			s.unmount, err = s.disk.Mount(s.data)
		}
	}
	return how, err
}

// Stop implements System.
func (s *SQLite) Stop() error { return stop(s.process) }

// AtRest implements System. It reads a copy, so that only the server runs the recovery of SQLite.
func (s *SQLite) AtRest() (*stored.Contents, error) {
	scratch, err := os.MkdirTemp(s.home, "rest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	for name, content := range files {
		if name == databaseFile+"-shm" { // is rebuilt from the log
			continue
		}
		if err := os.WriteFile(filepath.Join(scratch, name), content, 0o644); err != nil {
			return nil, err
		}
	}
	file := filepath.Join(scratch, databaseFile)
	contents, err := stored.ReadSQLite(file)
	if err == nil && len(contents.Changes) > 0 {
		err = askDoctor(contents, s.binary, s.schema(), "sqlite:"+file)
	}
	return contents, err
}

// askDoctor compares the totals and offset indexes with the resources.
func askDoctor(contents *stored.Contents, binary, schema, database string) error {
	out, err := exec.Command(binary, "doctor", "--schema="+schema, "--database="+database).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		contents.Problem("plural doctor: %v\n%s", err, out)
		return nil
	}
	return err
}

const databaseFile = "plural.db"

func (s *SQLite) files() (map[string][]byte, error) {
	if s.disk != nil {
		return s.disk.Content(), nil
	}
	entries, err := os.ReadDir(s.data)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(s.data, entry.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Close implements System.
func (s *SQLite) Close() error {
	if s.process != nil {
		s.process.Kill()
	}
	if s.unmount != nil {
		if err := s.unmount(); err != nil {
			return err
		}
	}
	return os.RemoveAll(s.home)
}
