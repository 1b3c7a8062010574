package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// noticesName is the file with the licences of everything in a binary that others wrote.
const noticesName = "THIRD_PARTY_NOTICES.txt"

// bundled are the licences of the scripts in the pages of the binary. The build of the pages writes them.
var bundled = []string{"internal/explorer/dist/explorer/licenses.txt", "internal/explorer/dist/docs/licenses.txt"}

// noticeFile is a file that an author asks to be kept with copies.
var noticeFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|authors)`)

const separator = "================================================================================\n"

// notices is the text of the file for a platform: the licences of Go itself, of each module
// that has a package in the binary, and of the scripts. It is run in the root of the module.
func notices(platform string) ([]byte, error) {
	goRoot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	root := strings.TrimSpace(string(goRoot))
	modules, err := modulesOf(platform)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("Plural contains work of others, under the licences below.\n\n")
	if err := appendNotices(&out, part{name: "Go standard library and runtime", root: root, dirs: []string{root}}); err != nil {
		return nil, err
	}
	for _, module := range modules {
		if err := appendNotices(&out, module); err != nil {
			return nil, err
		}
	}
	for _, name := range bundled {
		text, err := os.ReadFile(name) // #nosec G304 -- one of the list above
		if err != nil {
			return nil, err
		}
		out.Write(text)
		out.WriteString("\n")
	}
	return out.Bytes(), nil
}

// part is a module, with the directories of its packages that are in a binary.
type part struct {
	name, root string
	dirs       []string
}

// modulesOf lists the modules in the binary for a platform but our own, by name.
func modulesOf(platform string) ([]part, error) {
	system, machine, _ := strings.Cut(platform, "/")
	command := exec.Command("go", "list", "-deps", "-json=Dir,Module", "./cmd/plural")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine, "GOFLAGS=")
	listed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", platform, err)
	}
	found := map[string]*part{}
	for decoder := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p struct {
			Dir    string
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module == nil || p.Module.Main {
			continue // of the standard library, or ours
		}
		name := p.Module.Path + " " + p.Module.Version
		if found[name] == nil {
			found[name] = &part{name: name, root: p.Module.Dir}
		}
		found[name].dirs = append(found[name].dirs, p.Dir)
	}
	var all []part
	for _, each := range found {
		all = append(all, *each)
	}
	slices.SortFunc(all, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// appendNotices appends the notices in the root of a module, and in the directories that lead to its
// packages: code that was copied into a module has its licence beside it.
func appendNotices(out *bytes.Buffer, p part) error {
	dirs := map[string]bool{}
	for _, dir := range p.dirs {
		for ; !dirs[dir] && strings.HasPrefix(dir, p.root); dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	var files []string
	for dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if entry.Type().IsRegular() && noticeFile.MatchString(entry.Name()) && filepath.Ext(entry.Name()) != ".go" {
				files = append(files, filepath.Join(dir, entry.Name()))
			}
		}
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no licence file", p.name)
	}
	slices.Sort(files)
	out.WriteString(separator + p.name + "\n\n")
	for _, file := range files {
		text, err := os.ReadFile(file) // #nosec G304 -- of a module that is built
		if err != nil {
			return err
		}
		name, err := filepath.Rel(p.root, file)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "--- %s\n\n%s\n\n", filepath.ToSlash(name), bytes.TrimSpace(text))
	}
	return nil
}
