package process

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// TestMain: as a child process, the program of the tests exits at once.
func TestMain(m *testing.M) {
	if os.Getenv("PLURAL_TEST_CHILD") != "" {
		os.Exit(7)
	}
	os.Exit(m.Run())
}

// TestStart: what is prepared comes first, and what waits has returned when the channel is closed. A command that is not
// started is not waited for.
func TestStart(t *testing.T) {
	failed := errors.New("not prepared")
	for _, c := range []struct {
		name    string
		program string
		prepare error
		want    []string
		err     error
	}{
		{"a program", os.Args[0], nil, []string{"prepared", "exit status 7"}, nil},
		{"a program that does not exist", "/none", nil, []string{"prepared"}, os.ErrNotExist},
		{"a thread that cannot be prepared", os.Args[0], failed, []string{"prepared"}, failed},
	} {
		var did []string
		command := exec.Command(c.program)
		command.Env = append(os.Environ(), "PLURAL_TEST_CHILD=1")
		exited, err := Start(command, func() error { did = append(did, "prepared"); return c.prepare }, func() { did = append(did, command.Wait().Error()) })
		if err == nil {
			<-exited
		}
		if !errors.Is(err, c.err) || !slices.Equal(did, c.want) {
			t.Errorf("%s: got %q, %v", c.name, did, err)
		}
	}
}
