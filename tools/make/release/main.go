// Command release builds what users download: a static binary for every platform, in
// an archive with what belongs to it, and the checksums. The same commit and
// toolchain make the same bytes.
//
//	bin/release -version v1.2.3 -commit 5c0ffee… -time 1763200000 -out dist
//
// With -notices it writes the licences of what others wrote in the binary for a platform, and
// builds nothing:
//
//	bin/release -notices THIRD_PARTY_NOTICES.txt -platform linux/amd64
//
// It runs in the root of the repository.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// platforms are what is built, as GOOS/GOARCH.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// companions go into every archive, and for Linux the unit of systemd as well.
var companions = []string{"LICENSE", "README.md", "CHANGELOG.md"}

const unit = "packaging/plural.service"

func main() {
	log.SetFlags(0)
	version := flag.String("version", "", "version, which the binaries are stamped with")
	commit := flag.String("commit", "", "commit, likewise")
	seconds := flag.Int64("time", 0, "time of the files in the archives, in seconds since 1970")
	out := flag.String("out", "dist", "directory for the archives, which is made anew")
	noticesFile := flag.String("notices", "", "write the licences of dependencies to this file, and build nothing")
	platform := flag.String("platform", runtime.GOOS+"/"+runtime.GOARCH, "platform of the notices")
	flag.Parse()
	if *noticesFile != "" {
		text, err := notices(*platform)
		if err == nil {
			err = os.WriteFile(*noticesFile, text, 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	if *version == "" || *commit == "" || flag.NArg() > 0 {
		log.Fatal("give a -version and a -commit, and nothing but flags")
	}
	if err := release(stamp{*version, *commit}, time.Unix(*seconds, 0).UTC(), *out); err != nil {
		log.Fatal(err)
	}
}

// stamp is what the binaries say of themselves.
type stamp struct{ version, commit string }

func release(s stamp, at time.Time, out string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	for _, platform := range platforms {
		name, archive, err := build(s, platform, at)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name), archive, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive), name)
		log.Printf("%-40s %5.1f MiB", name, float64(len(archive))/(1<<20))
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// build makes the archive for a platform, and its name.
func build(s stamp, platform string, at time.Time) (name string, archive []byte, err error) {
	system, machine, _ := strings.Cut(platform, "/")
	dir, err := os.MkdirTemp("", "plural-release")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir)
	binary := "plural"
	if system == "windows" {
		binary = "plural.exe"
	}
	command := exec.Command("go", buildArgs(s, filepath.Join(dir, binary))...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine, "GOFLAGS=")
	if text, err := command.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("%s: %w\n%s", platform, err, text)
	}
	base := "plural_" + s.version + "_" + system + "_" + machine
	files, err := contents(platform, base, filepath.Join(dir, binary))
	if err != nil {
		return "", nil, err
	}
	if system == "windows" {
		archive, err = zipped(files, at)
		return base + ".zip", archive, err
	}
	archive, err = tarred(files, at)
	return base + ".tar.gz", archive, err
}

// contents is what goes into the archive for a platform. The notices are written beside the binary.
func contents(platform, base, binary string) ([]packed, error) {
	text, err := notices(platform)
	if err != nil {
		return nil, err
	}
	written := filepath.Join(filepath.Dir(binary), noticesName)
	if err := os.WriteFile(written, text, 0o600); err != nil {
		return nil, err
	}
	files := []packed{{base + "/" + filepath.Base(binary), binary, 0o755}, {base + "/" + noticesName, written, 0o644}}
	for _, companion := range companions {
		files = append(files, packed{base + "/" + companion, companion, 0o644})
	}
	if strings.HasPrefix(platform, "linux/") {
		files = append(files, packed{base + "/" + filepath.Base(unit), unit, 0o644})
	}
	return files, nil
}

// buildArgs are the arguments of go for a static binary without paths of this
// machine, symbols and debugging data.
func buildArgs(s stamp, out string) []string {
	return []string{"build", "-trimpath", "-ldflags", "-s -w -X main.version=" + s.version + " -X main.commit=" + s.commit, "-o", out, "./cmd/plural"}
}
