package plural_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/agents"
	"github.com/plural-go/plural/schema"
)

// TestConsoleBlocks runs what the documents show: every curl line of a console
// block, in the order of the document and against a fresh server, must answer
// what stands below it. Ids and times are other ones, but an id that comes back
// in the document must come back in the answers too. JSON may be formatted, and an ellipsis
// stands for any text, or in a line of its own for other headers. An operation that is read
// before it is finished is read again, as a reader would.
//
// A document with other collections than the example's shows them in a yaml
// block before its first console block.
func TestConsoleBlocks(t *testing.T) {
	for _, name := range []string{"README.md", "docs/tour.md", "docs/interface.md", "docs/writes.md", "docs/errors.md", "docs/events.md", "docs/rules.md", "docs/agents.md", "testdata/errors.md"} {
		t.Run(name, func(t *testing.T) {
			text := readDocument(t, name)
			steps := consoleSteps(text)
			if len(steps) == 0 {
				t.Fatal("no command found: is the document still written in ```console blocks?")
			}
			c := console{base: serveDocument(t, text), variables: map[string]string{}}
			defer c.close()
			for i := range steps {
				problem := c.run(&steps[i])
				if problem != "" && !*updateDocuments {
					t.Fatalf("line %d: $ %s\n%s", steps[i].line, steps[i].command, problem)
				}
			}
			if *updateDocuments {
				rewriteDocument(t, name, text, steps)
			}
		})
	}
}

func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var yamlBlock = regexp.MustCompile("(?s)\n```yaml\n((?:collections|version):.*?\n)```\n")

// serveDocument starts a server for a document and returns its address.
func serveDocument(t *testing.T, text string) string {
	t.Helper()
	config := plural.Config{
		Schema:   schema.Example(),
		Agents:   agents.Handler,
		Database: "sqlite:" + filepath.Join(t.TempDir(), "plural.db"),
		Logger:   slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	before, _, _ := strings.Cut(text, "\n```console\n")
	if block := yamlBlock.FindStringSubmatch(before); block != nil {
		file, err := schema.Parse([]byte(block[1]))
		if err != nil {
			t.Fatalf("the yaml block:\n%v", err)
		}
		config.Schema = file.Schema
	}
	server, err := plural.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error("stopping:", err)
		}
	})
	addr, err := server.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + addr.String()
}

// consoleStep is a command of a document with the output below it.
type consoleStep struct {
	line    int
	command string
	output  []string
	got     []string // in place of the output, if that differs
}

// consoleSteps finds the curl lines, and the variables for them, in the console
// blocks of a document. Other commands are not ours to run.
func consoleSteps(text string) []consoleStep {
	var steps []consoleStep
	inside, ours := false, false
	for i, line := range strings.Split(text, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside, ours = line == "```console", false
		case inside && isCommand:
			ours = strings.HasPrefix(command, "curl ") || assignment.MatchString(command)
			if ours {
				steps = append(steps, consoleStep{line: i + 1, command: command})
			}
		case inside && ours:
			last := &steps[len(steps)-1]
			last.output = append(last.output, line)
		}
	}
	return steps
}

var assignment = regexp.MustCompile(`^([a-z]+)=(\S+)$`)

// console is a reader at a terminal, following a document.
type console struct {
	base      string
	variables map[string]string
	// written and received are ids of the document and of the answers. Those at one position stand for each other.
	written, received []string
	history           string // in the ETags of the server

	stream chan string // lines of a stream in the background: curl -N … &
	ends   []func()
}

// writtenHistory is the history in the ETags of the documents.
const writtenHistory = "k3v9w2ab"

// run follows one step and says how the answer differs, if it does.
func (c *console) run(step *consoleStep) string {
	if parts := assignment.FindStringSubmatch(step.command); parts != nil {
		c.variables[parts[1]] = c.translate(parts[2])
		return ""
	}
	command, err := parseCurl(step.command, c.variables)
	if err != nil {
		return err.Error()
	}
	for _, values := range command.header {
		for i, value := range values {
			values[i] = strings.ReplaceAll(value, writtenHistory, c.history)
		}
	}
	command.url = c.base + strings.TrimPrefix(c.translate(command.url), "localhost:8080")
	command.body = c.translate(command.body)
	raw, err := c.output(command, len(folded(step.output)))
	if err != nil {
		return err.Error()
	}
	if found := etags.FindStringSubmatch(strings.Join(raw, "\n")); found != nil {
		c.history = found[2]
	}
	if problem := c.compare(folded(step.output), raw); problem != "" {
		step.got = c.asWritten(raw)
		return problem + "\n\ngot\n" + strings.Join(raw, "\n")
	}
	return ""
}

// translate replaces the ids of the document by those that the server gave.
func (c *console) translate(text string) string {
	return uuids.ReplaceAllStringFunc(text, func(id string) string {
		if at := slices.Index(c.written, id); at >= 0 {
			return c.received[at]
		}
		return id
	})
}

// curl is a curl command line, as far as the documents need it.
type curl struct {
	method, url, body string
	header            http.Header
	showHeader        bool
	background        bool
}

func parseCurl(line string, variables map[string]string) (*curl, error) {
	words, err := splitWords(line, variables)
	if err != nil {
		return nil, err
	}
	c := &curl{header: http.Header{"Accept": {"*/*"}}}
	for i := 1; i < len(words); i++ {
		value := ""
		if slices.Contains([]string{"-X", "-H", "-d"}, words[i]) && i+1 < len(words) {
			i++
			value = words[i]
		}
		switch word := words[i]; {
		case word == "-i":
			c.showHeader = true
		case word == "-I":
			c.showHeader, c.method = true, "HEAD"
		case word == "-N": // a stream is never buffered here
		case word == "&":
			c.background = true
		case word == "-g": // brackets are brackets here anyway
		case value == "":
			c.url = word
		case words[i-1] == "-X":
			c.method = value
		case words[i-1] == "-H":
			name, content, _ := strings.Cut(value, ": ")
			c.header.Set(name, content)
		default:
			c.body = value
		}
	}
	if c.body != "" && c.header.Get("Content-Type") == "" {
		c.header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if c.method == "" {
		c.method = map[bool]string{false: "GET", true: "POST"}[c.body != ""]
	}
	return c, nil
}

var variable = regexp.MustCompile(`\$[a-z]+`)

// splitWords splits a line as a shell does: single quotes keep everything,
// variables are replaced elsewhere.
func splitWords(line string, variables map[string]string) ([]string, error) {
	var words []string
	for _, piece := range regexp.MustCompile(`('[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(line, -1) {
		var word strings.Builder
		for i, part := range strings.Split(piece, "'") {
			if quoted := i%2 == 1; quoted {
				word.WriteString(part)
				continue
			}
			for _, name := range variable.FindAllString(part, -1) {
				value, known := variables[name[1:]]
				if !known {
					return nil, fmt.Errorf("the document does not set %s", name)
				}
				part = strings.Replace(part, name, value, 1)
			}
			word.WriteString(strings.ReplaceAll(part, `"`, ""))
		}
		words = append(words, word.String())
	}
	return words, nil
}

var unfinished = regexp.MustCompile(`"type":"operations","status":"(pending|running)"`)

// sendUntilFinished sends a read of operations until all of them are finished, and
// anything else once.
func (c *curl) sendUntilFinished() (lines []string, err error) {
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		lines, err = c.send()
		if c.method != "GET" || err != nil || !unfinished.MatchString(strings.Join(lines, "\n")) {
			break
		}
	}
	return lines, err
}

// send makes the request and returns what curl would print. The status is
// checked here where it is not printed.
func (c *curl) send() ([]string, error) {
	request, err := http.NewRequest(c.method, c.url, strings.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	request.Header = c.header
	if host := c.header.Get("Host"); host != "" {
		request.Host = host
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var lines []string
	if c.showHeader {
		lines = append(lines, response.Proto+" "+response.Status)
		for name, values := range response.Header {
			lines = append(lines, name+": "+strings.Join(values, ", "))
		}
		lines = append(lines, "")
	}
	failed := strings.HasPrefix(string(body), `{"errors":[{"status":`+fmt.Sprint(response.StatusCode))
	if succeeded := response.StatusCode < 400; succeeded == failed {
		return nil, fmt.Errorf("the status is %s, which the body does not say:\n%s", response.Status, body)
	}
	if len(body) > 0 {
		lines = append(lines, string(body))
	}
	return lines, nil
}
