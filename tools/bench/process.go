//go:build linux

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/process"
)

// maxStart is how long a server may take to become ready, and to stop.
const maxStart = time.Minute

// launch starts a program on a core, and does not wait for it.
func launch(log string, on core, command *exec.Cmd) (*process.Process, error) {
	return process.Launch(log, command, func() error { return on.pinThread(0) })
}

// The sizes that memory reads.
const (
	currentMemory = "VmRSS"
	peakMemory    = "VmHWM"
)

// memory reads one of the sizes that the kernel reports of a process, in MiB.
func memory(pid int, name string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, behind, _ := strings.Cut(string(status), "\n"+name+":")
	line, _, _ := strings.Cut(behind, " kB\n")
	kilobytes, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
	return kilobytes / 1024, err
}
