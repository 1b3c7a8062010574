package layers

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMakeRefusesRace: with -race in GOFLAGS, make says what to do instead of failing in each recipe that compiles without cgo.
func TestMakeRefusesRace(t *testing.T) {
	for flags, want := range map[string]string{
		"-race":            "GOFLAGS has -race, which needs cgo",
		"-v -race=true":    "GOFLAGS has -race, which needs cgo",
		"-race=false":      "",
		"-buildvcs=false":  "",
		"-tags=-race-less": "",
	} {
		command := exec.Command("make", "--dry-run", "build")
		command.Dir, command.Env = root, append(os.Environ(), "GOFLAGS="+flags, "MAKEFLAGS=", "MAKELEVEL=")
		out, err := command.CombinedOutput()
		if (err != nil) != (want != "") || !strings.Contains(string(out), want) {
			t.Errorf("GOFLAGS=%q: %v\n%s", flags, err, out)
		}
	}
}
