package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// plain is the message of an error, with what the operating system says about a file or an address in plain words.
func plain(err error) string {
	text := err.Error()
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		text = strings.Replace(text, file.Error(), plainFile(file), 1)
	}
	if address := (*net.OpError)(nil); errors.As(err, &address) && errors.Is(err, syscall.EADDRINUSE) {
		text = strings.Replace(text, address.Error(), fmt.Sprintf("another program listens on %s: stop it, or give another address by --addr", address.Addr), 1)
	}
	return text
}

func plainFile(err *fs.PathError) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		directory := filepath.Dir(err.Path)
		if _, missing := os.Stat(directory); missing != nil {
			return "there is no directory " + directory + " for " + err.Path
		}
		return "there is no file " + err.Path
	case errors.Is(err, fs.ErrPermission):
		return "the permissions of " + err.Path + " do not allow to " + err.Op + " it"
	case errors.Is(err, syscall.EISDIR):
		return err.Path + " is a directory, not a file"
	}
	return err.Error()
}
