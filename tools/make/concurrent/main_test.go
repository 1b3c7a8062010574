package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestConcurrentTests: a test counts by what it reaches, in its own package or in that of tests from outside. For the race
// detector, processes do not count.
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

import ("os/exec"; "sync"; "testing")

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
func program() *exec.Cmd { return exec.Command("true") }
func TestProcess(t *testing.T) { program().Start() }
func TestProcessAlone(t *testing.T) { Launch(); program().Run() }
func TestStart(t *testing.T) { new(server).Start() }
func (s *server) Start() {}
func TestNode(t *testing.T) { new(server).another() }
type busy struct{}
func (busy) get() { spawn() }
func TestMethod(t *testing.T) { busy{}.get() }
`,
		"background_test.go": `package a

import "testing"

func justGoroutines() { Code() }
func TestGoroutineOfTheCode(t *testing.T) { justGoroutines() }
func TestChannelOfTheCode(t *testing.T) { Wait(nil) }
`,
		"pool.go": `package a

func Code() { go quick() }
func Wait(c chan int) { select { case <-c: default: } }
`,
		"platform_linux.go": `package a

type platform struct{}
func (platform) name() { quick() }
`,
		"platform_other.go": `//go:build !linux

package a

type platform struct{}
func (platform) name() { quick() }
`,
		"outside_test.go": `package a_test

import ("os/exec"; "testing")

func TestOutside(t *testing.T) { exec.CommandContext(t.Context(), "true").Start() }
func TestOutsideAlone(t *testing.T) {}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"TestChannel", "TestGoroutine", "TestGoroutineOfTheCode", "TestGroup", "TestHelper", "TestMethod", "TestNode", "TestOutside", "TestProcess", "TestValue"}
	sequential := []string{"TestChannelOfTheCode", "TestNothing", "TestOutsideAlone", "TestProcessAlone", "TestStart"}
	all, concurrent, err := testsOf(dir, true)
	if err != nil || !slices.Equal(concurrent, want) {
		t.Errorf("got  %q, %v\nwant %q", concurrent, err, want)
	}
	_, race, err := testsOf(dir, false)
	if want := slices.DeleteFunc(slices.Clone(want), func(name string) bool { return name == "TestOutside" || name == "TestProcess" }); err != nil || !slices.Equal(race, want) {
		t.Errorf("for the race detector: got  %q, %v\nwant %q", race, err, want)
	}
	if want := slices.Sorted(slices.Values(slices.Concat(want, sequential))); !slices.Equal(all, want) {
		t.Errorf("got  %q\nwant %q", all, want)
	}
}

// TestPrinted: a name of which one test is concurrent stands for the tests of all directories that have it.
func TestPrinted(t *testing.T) {
	found := tests{
		directories: []string{"a", "b", "c", "d"},
		all:         map[string][]string{"a": {"TestOne", "TestTwo"}, "b": {"TestThree", "TestTwo"}, "c": {"TestOne"}, "d": {"TestFour"}},
		concurrent:  map[string][]string{"a": {"TestOne"}, "b": {"TestThree", "TestTwo"}},
	}
	var each, together, none strings.Builder
	found.print(&each)
	found.printTogether(&together)
	tests{directories: []string{"d"}, all: found.all}.printTogether(&none)
	for _, c := range [][2]string{
		{each.String(), "a ^(TestOne)$\nb ^(TestThree|TestTwo)$\n"},
		{together.String(), "^(TestOne|TestThree|TestTwo)$\na\nb\nc\n"},
		{none.String(), "^()$\n"},
	} {
		if c[0] != c[1] {
			t.Errorf("got\n%swant\n%s", c[0], c[1])
		}
	}
}
