//go:build unix

package sqlite

import (
	"errors"
	"os"
)

// syncDirectory makes new file names in a directory survive a power cut.
func syncDirectory(name string) error {
	directory, err := os.Open(name) // #nosec G304 -- the operator names its files
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
