package pgtest

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
)

const startTimeout = 5 * time.Minute

// Debian keeps the programs out of PATH, a directory for each major version.
const debianBin = "/usr/lib/postgresql/*/bin"

// A cluster is a running PostgreSQL server with its files in one directory.
type cluster struct {
	dir    string // holds the data, the socket and the log
	server *exec.Cmd
	exited chan struct{} // closed when the server is gone
}

// start makes a cluster and returns when it takes connections. Settings are of the form
// name=value, and come last.
func start(settings ...string) (_ *cluster, err error) {
	bin, err := binaries(debianBin)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(shortTempDir(), "plural-pg-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, exited: make(chan struct{})}
	defer func() {
		if err != nil {
			c.stop()
		}
	}()

	// PostgreSQL refuses to run as root, so root (a container, mostly) hands
	// the directory to somebody else and starts the programs as them.
	attr, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = dir // the other user may not be allowed into ours
		cmd.SysProcAttr = attr
		return cmd
	}

	initdb := command("initdb", "--pgdata", c.data(), "--username", "postgres", "--auth", "trust",
		"--encoding", "UTF8", "--locale", "C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}

	args := []string{"-D", c.data(), "-k", dir,
		"-c", "listen_addresses=", // the socket only: no port to collide on, nobody else gets in
		"-c", "port=5432", // names the socket; PGPORT would change it
		"-c", "max_connections=200", // parallel tests, each with its own pool
		// Nothing here has to survive a crash.
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off",
		"-c", "autovacuum=off"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	server := command("postgres", args...)
	log, err := os.Create(c.log())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	server.Stdout, server.Stderr = log, log
	if err := c.run(server); err != nil {
		return nil, err
	}
	return c, c.waitReady()
}

// run starts the server and watches it from a goroutine of its own.
func (c *cluster) run(server *exec.Cmd) error {
	result := make(chan error)
	go func() {
		// The kernel ties the parent death signal to the thread that forked,
		// not to the process: that thread has to stay as long as the server.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := server.Start()
		result <- err
		if err == nil {
			_ = server.Wait() // how it ended is in its log
			close(c.exited)
		}
	}()
	if err := <-result; err != nil {
		return err
	}
	c.server = server
	return nil
}

func (c *cluster) waitReady() error {
	timeout := time.After(startTimeout)
	for {
		err := adminExec(c.url(), "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-c.exited:
			err = errors.New("the server did not start")
		case <-timeout:
			err = fmt.Errorf("the server is not ready after %v: %w", startTimeout, err)
		case <-time.After(20 * time.Millisecond):
			continue
		}
		log, _ := os.ReadFile(c.log())
		return fmt.Errorf("%w\n%s", err, log)
	}
}

// stop ends the server, if it runs, and removes the files.
func (c *cluster) stop() {
	if c.server != nil {
		// SIGQUIT is PostgreSQL's immediate shutdown: no checkpoint, which
		// would be written only to be deleted.
		_ = c.server.Process.Signal(syscall.SIGQUIT)
		select {
		case <-c.exited:
		case <-time.After(time.Minute):
			_ = c.server.Process.Kill()
			<-c.exited
		}
	}
	if err := os.RemoveAll(c.dir); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
	}
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }
func (c *cluster) log() string  { return filepath.Join(c.dir, "log") }

// url leads to the database "postgres". It names everything that pgx would
// otherwise take from PG* variables.
func (c *cluster) url() *url.URL {
	q := url.Values{"host": {c.dir}, "port": {"5432"}, "user": {"postgres"}, "sslmode": {"disable"}}
	return &url.URL{Scheme: "postgres", Path: "/postgres", RawQuery: q.Encode()}
}

// shortTempDir is the temporary directory, unless its name is so long that the
// path of a socket in it would not fit the 104 bytes that some systems allow.
func shortTempDir() string {
	if dir := os.TempDir(); len(dir) <= 60 {
		return dir
	}
	return "/tmp"
}

// binaries finds the directory that holds initdb and postgres; among those
// that match the pattern, the newest.
func binaries(pattern string) (string, error) {
	if dir := os.Getenv("PLURAL_PG_BIN"); dir != "" {
		if !hasBinaries(dir) {
			return "", fmt.Errorf("PLURAL_PG_BIN=%s has no initdb and postgres", dir)
		}
		return dir, nil
	}
	if path, err := exec.LookPath("postgres"); err == nil && hasBinaries(filepath.Dir(path)) {
		return filepath.Dir(path), nil
	}
	dirs, _ := filepath.Glob(pattern)
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Compare(major(b), major(a)) })
	for _, dir := range dirs {
		if hasBinaries(dir) {
			return dir, nil
		}
	}
	return "", errors.New("these tests need the PostgreSQL server programs (initdb, postgres), and they are not here:\n" +
		"run `make setup`, or install them (Debian, Ubuntu: apt-get install postgresql; macOS: brew install postgresql),\n" +
		"or set PLURAL_PG_BIN to their directory, or PLURAL_TEST_POSTGRES to the URL of a running server")
}

// major is the version in VERSION/bin; a number, since 9.6 is older than 10.
func major(bin string) float64 {
	v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(bin)), 64)
	return v
}

func hasBinaries(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}
