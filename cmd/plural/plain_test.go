package main

import (
	"net"
	"os"
	"testing"
)

// TestErrorsOfTheSystem: what the operating system refuses is said in plain words, with the name of the file or the address.
func TestErrorsOfTheSystem(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	writeSchema(t, dir, "collections: {things: {attributes: {name: {type: string}}}}\n")
	for _, directory := range []string{"folder", "folder.csv"} {
		if err := os.Mkdir(dir+"/"+directory, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"another program listens on " + taken.Addr().String() + ": stop it, or give another address by --addr", []string{"serve", "--addr", taken.Addr().String()}},
		{"there is no file none.yaml", []string{"serve", "--schema", "none.yaml"}},
		{"folder is a directory, not a file", []string{"serve", "--schema", "folder"}},
		{"there is no file none.csv", []string{"import", "things", "none.csv"}},
		{"the certificate for TLS: there is no file none.pem", []string{"serve", "--addr", "127.0.0.1:0", "--cert-file", "none.pem", "--key-file", "none.key"}},
		{"the database URL must be sqlite:FILE or postgres://HOST/DATABASE: for this file, write sqlite:shop.db", []string{"serve", "--addr", "127.0.0.1:0", "--database", "shop.db"}},
	} {
		out, err := program(t, dir, c.args...).CombinedOutput()
		if want := "plural: " + c.want + "\n"; err == nil || string(out) != want {
			t.Errorf("plural %q: %v\ngot  %swant %s", c.args, err, out, want)
		}
	}
}
