package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestArchives: what is in them, and nothing of the machine that made them.
func TestArchives(t *testing.T) {
	dir := t.TempDir()
	var files []packed
	for i, name := range []string{"plural", "README.md"} {
		source := filepath.Join(dir, name)
		if err := os.WriteFile(source, []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, packed{"plural_v1/" + name, source, []os.FileMode{0o755, 0o644}[i]})
	}
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	want := []string{"plural_v1/plural -rwxr-xr-x 2026-11-15T12:00:00Z content of plural", "plural_v1/README.md -rw-r--r-- 2026-11-15T12:00:00Z content of README.md"}
	for name, c := range map[string]struct {
		pack   func([]packed, time.Time) ([]byte, error)
		unpack func([]byte) ([]string, error)
	}{"tar.gz": {tarred, untarred}, "zip": {zipped, unzipped}} {
		first, err := c.pack(files, at)
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := c.unpack(first); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\n%v", name, strings.Join(got, "\n"), err)
		}
		os.Chtimes(files[0].source, time.Unix(1, 0), time.Unix(1, 0))
		if second, err := c.pack(files, at); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: the same files do not make the same bytes: %v", name, err)
		}
		if _, err := c.pack([]packed{{"x", filepath.Join(dir, "none"), 0o644}}, at); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a file that is missing: %v", name, err)
		}
	}
}

func untarred(archive []byte) (files []string, err error) {
	uncompressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for reader := tar.NewReader(uncompressed); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return files, nil
		} else if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			return nil, err
		}
		files = append(files, fmt.Sprint(header.Name, " ", header.FileInfo().Mode(), " ", header.ModTime.UTC().Format(time.RFC3339), " ", string(content)))
		if header.Uid != 0 || header.Gid != 0 || header.Uname != "" {
			files = append(files, "which belongs to somebody")
		}
	}
}

func unzipped(archive []byte) (files []string, err error) {
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	for _, entry := range reader.File {
		opened, err := entry.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(opened)
		if err != nil {
			return nil, err
		}
		files = append(files, fmt.Sprint(entry.Name, " ", entry.Mode(), " ", entry.Modified.UTC().Format(time.RFC3339), " ", string(content)))
	}
	return files, nil
}

// TestPackedFilesExist: a release would fail only when it is made.
func TestPackedFilesExist(t *testing.T) {
	for _, name := range slices.Concat([]string{unit}, companions, bundled) {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestDockerfile holds the Dockerfile to the repository, as there may be no engine to
// build it with: the version of Go, what it copies, how it builds, and that the
// paths and the user of its second stage fit together.
func TestDockerfile(t *testing.T) {
	text := read(t, "Dockerfile")
	instructions := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(text, "")
	instructions = regexp.MustCompile(`\\\n\s*`).ReplaceAllString(instructions, "")
	var lines []string
	for line := range strings.Lines(instructions) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	arguments := buildArgs(stamp{"$VERSION", "$COMMIT"}, "/out/plural")
	arguments[3] = `"` + arguments[3] + `"`
	want := []string{
		"FROM --platform=$BUILDPLATFORM golang:" + version + "-bookworm AS build",
		"WORKDIR /src",
		"COPY go.mod go.sum ./",
		"RUN go mod download",
		"COPY . .",
		"ARG TARGETOS TARGETARCH VERSION=dev COMMIT=",
		"RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go " + strings.Join(arguments, " ") + " && go build -C tools/make -o /out/release ./release && /out/release -notices /out/" + noticesName + " -platform $TARGETOS/$TARGETARCH && mkdir -m 0700 /out/data /out/tmp",
		"FROM scratch",
		"COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/",
		"COPY --from=build /out/plural /usr/bin/plural",
		"COPY --from=build /src/LICENSE /out/" + noticesName + " /usr/share/doc/plural/",
		"COPY --from=build --chown=65532:65532 /out/data /data",
		"COPY --from=build --chown=65532:65532 /out/tmp /tmp",
		"USER 65532:65532",
		"WORKDIR /data",
		"VOLUME /data",
		"ENV PLURAL_ADDR=0.0.0.0:8080",
		"EXPOSE 8080",
		"STOPSIGNAL SIGTERM",
		`HEALTHCHECK --interval=10s --timeout=6s --start-period=60s CMD ["/usr/bin/plural", "health"]`,
		`ENTRYPOINT ["/usr/bin/plural"]`,
		`CMD ["serve"]`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// TestUnit: what the unit of systemd says of the server is true of it.
func TestUnit(t *testing.T) {
	text := read(t, unit)
	for _, line := range []string{
		"Type=notify", "ExecStart=/usr/local/bin/plural serve --schema /etc/plural/plural.yaml", "DynamicUser=yes", "StateDirectory=plural",
		"ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "LimitNOFILE=65536", "Restart=on-failure",
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("there is no line %s", line)
		}
	}
	// The server takes at most the drain_delay of docs/deploy.md and shutdown_timeout for requests, and a moment for the database.
	timeout, err := time.ParseDuration(regexp.MustCompile(`TimeoutStopSec=(\S+)`).FindStringSubmatch(text)[1])
	if err != nil || timeout < 40*time.Second {
		t.Errorf("it is killed after %v, %v", timeout, err)
	}
	if config := read(t, "config.go"); !strings.Contains(config, "cmp.Or(c.ShutdownTimeout, 30*time.Second)") {
		t.Error("shutdown_timeout is no longer 30 s: does TimeoutStopSec still fit?")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
