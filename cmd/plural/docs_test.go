package main

import (
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// shownMessages are the files that have docs/schema.md show what it shows: of each text
// block, the schema that the server is started with, and the one before, of the database.
var shownMessages = []struct{ before, schema string }{
	{"", `collections:
  users:
    attributes:
      name:
        type: strin
      nick:
        type: string
    unique:
      - nick
      - [nick, nmae]
  posts:
    parent: user
`},
	{"collections: {users: {}, posts: {}}\n", "collections: {users: {}, authors: {}}\n"},
}

// TestMessagesOfTheDocument: docs/schema.md shows messages as they are printed.
func TestMessagesOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)\n```text\n(.*?)```\n").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != len(shownMessages) {
		t.Fatalf("there are %d text blocks: each needs the schema that makes the server print it", len(blocks))
	}
	for i, block := range blocks {
		dir := t.TempDir()
		if before := shownMessages[i].before; before != "" {
			writeSchema(t, dir, before)
			if err := serveIn(t, dir).stop(t, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		writeSchema(t, dir, shownMessages[i].schema)
		out, err := program(t, dir, "serve", "--addr=127.0.0.1:0").CombinedOutput()
		if err == nil || string(out) != block[1] {
			t.Errorf("the document shows\n%s\nand printed is\n%s", block[1], strings.TrimSpace(string(out)))
		}
	}
}
