package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestConcurrentTests: a test counts by what it reaches, in its own package or in that of tests from outside.
func TestConcurrentTests(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"code.go": `package a

import "os/exec"

func Launch() { exec.Command("true").Run() }
func Background() { go Launch() }
func quick() {}
`,
		"inside_test.go": `package a

import ("sync"; "testing")

type server struct{}
func (s *server) another() *server { return s }
func (s *server) get() {}
func spawn() { go func() {}() }
func viaHelper() { spawn() }
func TestMain(m *testing.M) { spawn() }
func TestNothing(t *testing.T) { quick(); (&server{}).get() }
func TestGoroutine(t *testing.T) { go quick() }
func TestHelper(t *testing.T) { viaHelper() }
func TestValue(t *testing.T) { f := viaHelper; f() }
func TestGroup(t *testing.T) { var all sync.WaitGroup; all.Go(quick) }
func TestChannel(t *testing.T) { done := make(chan int); close(done) }
func TestProcess(t *testing.T) { Launch() }
func TestNode(t *testing.T) { new(server).another() }
type busy struct{}
func (busy) get() { spawn() }
func TestMethod(t *testing.T) { busy{}.get() }
`,
		"background_test.go": `package a

import "testing"

func justGoroutines() { Code() }
func TestGoroutineOfTheCode(t *testing.T) { justGoroutines() }
`,
		"pool.go": `package a

func Code() { go quick() }
`,
		"outside_test.go": `package a_test

import ("os/exec"; "testing")

func TestOutside(t *testing.T) { exec.CommandContext(t.Context(), "true") }
func TestOutsideAlone(t *testing.T) {}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"TestChannel", "TestGoroutine", "TestGroup", "TestHelper", "TestMethod", "TestNode", "TestOutside", "TestProcess", "TestValue"}
	if got, err := concurrentTests(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
}
