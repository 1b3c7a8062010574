package thirdparty

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/agents"
)

// TestGeneratedClients: the document of a running server, made into clients by generators
// that people use, which are compiled and call it. In TypeScript a validator of JSON Schema
// looks at every body.
func TestGeneratedClients(t *testing.T) {
	// Inside the package, as Node looks for its packages in the directories above.
	directory, err := os.MkdirTemp(".", "work-")
	if err == nil {
		directory, err = filepath.Abs(directory)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	document := filepath.Join(directory, "document.json")
	download(t, serve(t)+"/-/openapi.json", document)
	t.Run("TypeScript", func(t *testing.T) {
		t.Parallel()
		url := serve(t)
		generated := filepath.Join(directory, "generated")
		npm(t, directory, "openapi-typescript", document, "--default-non-nullable=false", "--output", filepath.Join(generated, "openapi-typescript.ts"))
		npm(t, directory, "orval", "--input", document, "--output", filepath.Join(generated, "orval.ts"), "--client", "fetch")
		setBaseURL(t, filepath.Join(generated, "orval.ts"), url)
		files, err := filepath.Glob("testdata/*s*")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			duplicate(t, file, filepath.Join(directory, filepath.Base(file)))
		}
		npm(t, directory, "tsc", "--project", directory)
		for _, program := range []string{"openapi-fetch", "orval"} {
			out := run(t, directory, "node", filepath.Join(directory, "out", program+".js"), url)
			if count, _, _ := strings.Cut(out, " bodies"); atoi(count) < 12 {
				t.Errorf("%s: too few bodies were held to the document: %s", program, out)
			}
		}
	})
	t.Run("oapi-codegen", func(t *testing.T) {
		t.Parallel()
		url := serve(t)
		module := filepath.Join(directory, "oapi")
		if err := os.MkdirAll(filepath.Join(module, "api"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"go.mod", "go.sum", "main.go"} {
			duplicate(t, filepath.Join("oapi", name), filepath.Join(module, name))
		}
		// Not go tool: it ignores -trimpath, and would compile the standard library again.
		run(t, module, "go", "run", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen", "-generate", "types,client", "-package", "api", "-o", filepath.Join("api", "api.go"), document)
		run(t, module, "go", "run", "-gcflags=-N -l", ".", url, document)
	})
}

// serve runs a server until the end of the test.
func serve(t *testing.T) (url string) {
	t.Helper()
	server, err := plural.Open(t.Context(), plural.Config{Schema: parse(t, "schema.yaml").Schema, Agents: agents.Handler, Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db")})
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

func download(t *testing.T, url, file string) {
	t.Helper()
	response, err := http.Get(url) // #nosec G107 -- our own server
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// setBaseURL puts the server before the paths of a client that has none.
func setBaseURL(t *testing.T, file, url string) {
	t.Helper()
	text, err := os.ReadFile(file) // #nosec G304 -- a file of this test
	if err == nil {
		err = os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "`/products", "`"+url+"/products")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func duplicate(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from) // #nosec G304 -- a file of this package
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// npm runs a program of the installed packages.
func npm(t *testing.T, directory, name string, args ...string) {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("node_modules", ".bin", name))
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		t.Fatalf("the programs are packages of npm, which make setup installs: %v", err)
	}
	run(t, directory, program, args...)
}

// run runs a program, which must succeed.
func run(t *testing.T, directory, program string, args ...string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	command := exec.CommandContext(ctx, program, args...) // #nosec G204 -- programs of this test
	command.Dir = directory
	// With -trimpath the build cache has what was compiled in another directory.
	command.Env = append(os.Environ(), "NO_COLOR=1", "GOFLAGS=-trimpath", "GOWORK=off", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%.4000s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}

func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
