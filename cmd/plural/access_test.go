package main

import (
	"context"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

const withAccess = `collections:
  things:
    attributes: {name: {type: string}, owner: {type: string}}
access:
  roles:
    author:
      things: {list: true, read: true, update: resource.owner == auth.sub}
`

// accessIn makes a database with one thing, and returns its id.
func accessIn(t *testing.T, dir string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "plural.yaml"), []byte(withAccess), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := schema.Parse([]byte(withAccess))
	if err != nil {
		t.Fatal(err)
	}
	server, err := plural.Open(context.Background(), plural.Config{Schema: file.Schema, Database: "sqlite:" + filepath.Join(dir, "plural.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(context.Background())
	const id = "00000000-0000-7000-8000-000000000001"
	request := httptest.NewRequest("POST", "/things", strings.NewReader(`{"id":"`+id+`","owner":"ada"}`))
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	if server.ServeHTTP(answer, request); answer.Code != 201 {
		t.Fatal(answer.Body)
	}
	return id
}

func TestKeysForAVersion(t *testing.T) {
	dir := t.TempDir()
	accessIn(t, dir)
	runs(t, dir, "", true, "plural: the schema of the database has no versions, so no API key can be for one\n", "keys", "create", "--name", "ci", "--role", "author", "--api-version", "1")
	runs(t, dir, "", true, "plural: invalid argument \"0\" for \"--api-version\" flag: must be a whole number of at least 1\n", "keys", "create", "--name", "ci", "--role", "author", "--api-version", "0")
	if err := os.WriteFile(filepath.Join(dir, "plural.yaml"), []byte("version: 7\n"+withAccess), 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, dir, "migrate", "--no-backup")
	runs(t, dir, "", true, "plural: an API key cannot be for version 8: the versions that the database can serve are 7\n", "keys", "create", "--name", "ci", "--role", "author", "--api-version", "8")
	output(t, dir, "keys", "create", "--name", "ci", "--role", "author", "--sub", "ada", "--api-version", "7")
	if list := output(t, dir, "keys", "list"); !regexp.MustCompile(`^PREFIX .+\n[a-z2-7]{10} +ci +author +ada +7 +read +\d{4}-\d\d-\d\d +valid\n$`).MatchString(list) {
		t.Errorf("got %q", list)
	}
}

func TestKeys(t *testing.T) {
	dir := t.TempDir()
	accessIn(t, dir)
	runs(t, dir, "", true, "plural: name a command: create, list or revoke\n", "keys")
	runs(t, dir, "", true, "plural: give --name and --role\n", "keys", "create")
	runs(t, dir, "", true, "plural: there is no role \"editor\": there are author\n", "keys", "create", "--name", "ci", "--role", "editor")
	runs(t, dir, "", true, "plural: invalid argument \"soon\" for \"--expires\" flag: must be a time span such as 30s, 2m or 7d\n", "keys", "create", "--expires", "soon")
	out := output(t, dir, "keys", "create", "--name", "ci", "--role", "author", "--sub", "ada", "--expires", "90d")
	key := regexp.MustCompile(`^plural_([a-z2-7]{10})_[a-z2-7]{52}\n`).FindStringSubmatch(out)
	if key == nil {
		t.Fatalf("got %q", out)
	}
	list := output(t, dir, "keys", "list")
	if !regexp.MustCompile(`^PREFIX +NAME +ROLE +SUB +VERSION +AGENTS +CREATED +STATE\n` + key[1] + ` +ci +author +ada +read +\d{4}-\d\d-\d\d +valid until \d{4}-\d\d-\d\d\n$`).MatchString(list) {
		t.Errorf("got %q", list)
	}
	runs(t, dir, "", false, "Revoked "+key[1]+".\n", "keys", "revoke", key[1])
	if list := output(t, dir, "keys", "list", "--database", "sqlite:plural.db"); !strings.Contains(list, "revoked ") {
		t.Errorf("got %q", list)
	}
	runs(t, dir, "", true, "plural: nothing was revoked: there is no API key with the prefix nope\n", "keys", "revoke", "nope")
	whole := strings.TrimSpace(key[0])
	runs(t, dir, "", false, "Revoked "+key[1]+".\n", "keys", "revoke", whole)
	runs(t, dir, "", true, "plural: nothing was revoked: there is no API key with the prefix bcdefghijk\n", "keys", "revoke", "plural_bcdefghijk"+whole[17:])
	runs(t, dir, "", true, "plural: nothing was revoked: this is not the prefix of an API key; \"plural keys list\" shows the prefixes\n", "keys", "revoke", whole[18:])
	for flag, text := range map[string]string{"name": "a\tb", "sub": strings.Repeat("ä", 256)} {
		runs(t, dir, "", true, "plural: the "+flag+" of an API key has at most 255 characters, and no control characters\n",
			"keys", "create", "--role", "author", "--name", "ci", "--"+flag, text)
	}
	plain := t.TempDir()
	thingsIn(t, plain)
	runs(t, plain, "", true, "plural: the schema file has no access, so an API key has no effect: declare access first\n", "keys", "create", "--name", "ci", "--role", "author")
}

// TestWarningWithoutGrants: a server whose access grants nothing says so.
func TestWarningWithoutGrants(t *testing.T) {
	things, _, _ := strings.Cut(withAccess, "access:")
	for access, want := range map[string]bool{"access:\n": true, "access: {}\n": true, "access: {roles: {author: }}\n": true, strings.TrimPrefix(withAccess, things): false} {
		file, err := schema.Parse([]byte(things + access))
		if err != nil {
			t.Fatal(err)
		}
		got := greeted(&settings{config: plural.Config{Schema: file.Schema, Access: file.Access}}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
		if strings.Contains(got, "  Shut  nobody may do anything yet: ") != want || strings.Contains(got, "anybody") {
			t.Errorf("%s\n%s", access, got)
		}
	}
}

// TestGreetingSuggestsAnAllowedRequest: what is to be tried is not refused for want of a key.
func TestGreetingSuggestsAnAllowedRequest(t *testing.T) {
	for access, want := range map[string]string{
		"{author: {things: [list, read]}}":                                           `curl http://127.0.0.1:8080/things -H "Authorization: Bearer $KEY" ("plural keys create" makes a key)`,
		"{public: {others: [read], things: [list, read]}, author: {others: [read]}}": "curl http://127.0.0.1:8080/things",
	} {
		file, err := schema.Parse([]byte("collections: {others: {attributes: {a: {type: string}}}, things: {attributes: {a: {type: string}}}}\naccess: {roles: " + access + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := greeted(&settings{schemaFile: "plural.yaml", config: plural.Config{Schema: file.Schema, Access: file.Access}}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
		if !strings.Contains(got, "\n  Try   "+want+"\n") {
			t.Errorf("%s\n%s", access, got)
		}
	}
}

func TestCan(t *testing.T) {
	dir := t.TempDir()
	id := accessIn(t, dir)
	granted := "- author is granted update in things\n- read has no rule: every resource\n"
	runs(t, dir, "", true, granted+"- the rule of update depends on the resource: resource.owner == auth.sub\ndepends\n", "can", "author", "update", "things", "--sub", "ada")
	noSub := "- the rule of update is true of no resource for this caller: resource.owner == auth.sub\n- the caller has no sub, which may be why\nno\n"
	runs(t, dir, "", true, granted+noSub, "can", "author", "update", "things")
	for verb, status := range map[string]int{"update": 3, "delete": 1, "read": 0} {
		command := program(t, dir, "can", "author", verb, "things", "--sub", "ada")
		_ = command.Run()
		if got := command.ProcessState.ExitCode(); got != status {
			t.Errorf("%s ends with %d, want %d", verb, got, status)
		}
	}
	runs(t, dir, "", false, "- everybody who has credentials may list their own operations\nyes\n", "can", "author", "list", "operations")
	runs(t, dir, "", true, "- everybody may read their own operations\ndepends\n", "can", "author", "read", "operations")
	runs(t, dir, "", true, "- public is not granted list in operations\nno\n", "can", "public", "list", "operations")
	runs(t, dir, "", false, granted+"- the rule of update is true of the resource: resource.owner == auth.sub\nyes\n", "can", "author", "update", "things", id, "--sub", "ada")
	no := "- the rule of update is not true of the resource: resource.owner == auth.sub\nno\n"
	runs(t, dir, "", true, granted+no, "can", "author", "update", "things", id, "--sub", "bo")
	runs(t, dir, "", true, granted+noSub, "can", "author", "update", "things", id)
	runs(t, dir, "", true, "- author is not granted delete in things\nno\n", "can", "author", "delete", "things")
	history := "- author may not read histories in things: they need the verb changes\n"
	runs(t, dir, "", false, "- author is granted read in things\n- read has no rule: every resource\n"+history+"yes\n", "can", "author", "read", "things")
	runs(t, dir, "", true, "- there is no role editor, and what no role is granted is denied\nno\n", "can", "editor", "read", "things")
	runs(t, dir, "", true, "plural: the verb must be list, read, create, update, delete or changes, but is \"write\"\n", "can", "author", "write", "things")
	runs(t, dir, "", true, "plural: the schema has no collection \"thing\"\n", "can", "author", "read", "thing")
	runs(t, dir, "", true, "plural: there is no resource 00000000-0000-7000-8000-000000000002 in things\n", "can", "author", "update", "things", "00000000-0000-7000-8000-000000000002")
}

// output runs the program, which must not fail, and returns what it wrote to standard output.
func output(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := program(t, dir, args...).Output()
	if err != nil {
		t.Fatalf("plural %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}
