package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/plural-go/plural"
)

// schemaWatch logs each saved version of the schema file that the server does not use.
type schemaWatch struct {
	file   string
	inUse  []byte // what the server has read
	logger *slog.Logger

	seen   fileVersion // at the previous look
	read   bool        // that version
	logged []byte      // the last version that was logged; inUse before the first
}

// fileVersion identifies a version of a file without reading it.
type fileVersion struct {
	size     int64
	modified time.Time
}

func newSchemaWatch(s *settings, logger *slog.Logger) *schemaWatch {
	return &schemaWatch{file: s.schemaFile, inUse: s.schemaText, logger: logger, logged: s.schemaText}
}

// run looks at the file once a second, until the context ends. Only a version that is new is read.
func (w *schemaWatch) run(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.look()
		}
	}
}

// look logs a version that is the same as at the previous look: some editors write a file in several steps. A file that cannot be
// read is being replaced, or will be missed at the next start.
func (w *schemaWatch) look() {
	info, err := os.Stat(w.file)
	if err != nil {
		return
	}
	version := fileVersion{info.Size(), info.ModTime()}
	if version != w.seen {
		w.seen, w.read = version, false
		return
	}
	if w.read {
		return
	}
	text, err := os.ReadFile(w.file) // #nosec G304 -- the operator names it
	if w.read = err == nil; err != nil || bytes.Equal(text, w.logged) {
		return
	}
	w.logged = text
	if bytes.Equal(text, w.inUse) {
		w.logger.Info("the schema file is the one in use again", "file", w.file)
	} else if err := checkFile(w.file); err != nil {
		w.logger.Error("the schema file was saved with mistakes: the server continues with the earlier one, and would not start with this one", "file", w.file, "error", err)
	} else {
		w.logger.Warn("the schema file was saved, but is not in use: restart the server to use it", "file", w.file)
	}
}

// checkFile finds the mistakes in a schema file that a server would find at its start without a database.
func checkFile(name string) error {
	var s settings
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	s.register(flags)
	if err := flags.Set("schema", name); err != nil {
		return err
	}
	if err := s.load(flags); err != nil {
		return err
	}
	_, err := plural.OpenAPI(s.config, "") // which compiles everything
	return inFileOf(name, err)
}
