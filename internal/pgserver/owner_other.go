//go:build !linux

package pgserver

import (
	"errors"
	"os"
	"syscall"
)

// unprivileged says how to start the programs of a server in dir. Only Linux
// can end them with the test process; elsewhere a killed test leaves a server.
func unprivileged(string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() == 0 {
		return nil, errors.New("PostgreSQL does not run as root: run the tests as somebody else, or set PLURAL_TEST_POSTGRES")
	}
	return nil, nil
}
