package plural_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// updateDocuments writes what the commands answer into the documents:
// go test . -run TestConsoleBlocks -update-documents.
var updateDocuments = flag.Bool("update-documents", false, "write the output of commands into the documents")

func rewriteDocument(t *testing.T, name, text string, steps []consoleStep) {
	t.Helper()
	lines := strings.Split(text, "\n")
	for _, step := range slices.Backward(steps) {
		if step.got != nil {
			lines = slices.Replace(lines, step.line, step.line+len(step.output), step.got...)
		}
	}
	if err := os.WriteFile(filepath.FromSlash(name), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// asWritten is an output with the ids and the history of the document.
func (c *console) asWritten(lines []string) []string {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i] = uuids.ReplaceAllStringFunc(lines[i], func(id string) string {
			if at := slices.Index(c.received, id); at >= 0 && at < len(c.written) {
				return c.written[at]
			}
			return id
		})
		if c.history != "" {
			lines[i] = strings.ReplaceAll(lines[i], c.history, writtenHistory)
		}
	}
	if end := slices.Index(lines, ""); end > 0 && strings.HasPrefix(lines[0], "HTTP/") {
		slices.Sort(lines[1:end])
	}
	return lines
}

// output is what a command prints, and what a stream in the background prints after it, up to a
// number of lines.
func (c *console) output(command *curl, count int) (lines []string, err error) {
	if command.background {
		err = c.follow(command)
	} else {
		lines, err = command.sendUntilFinished()
	}
	for err == nil && c.stream != nil && len(lines) < count {
		select {
		case line := <-c.stream:
			lines = append(lines, line)
		case <-time.After(5 * time.Minute):
			err = fmt.Errorf("the stream has no more lines than %q", lines)
		}
	}
	return lines, err
}

// follow opens a stream, whose lines come among those of the commands that follow.
func (c *console) follow(command *curl) error {
	ctx, cancel := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, command.method, command.url, nil)
	if err != nil {
		cancel()
		return err
	}
	request.Header = command.header
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		cancel()
		return err
	}
	c.ends = append(c.ends, func() {
		cancel()
		response.Body.Close()
	})
	lines := make(chan string)
	c.stream = lines
	go func() {
		scanner := bufio.NewScanner(response.Body)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return nil
}

// close ends the streams.
func (c *console) close() {
	for _, end := range c.ends {
		end()
	}
}
