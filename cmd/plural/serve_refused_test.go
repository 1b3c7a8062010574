package main

import (
	"net"
	"os"
	"strings"
	"testing"
)

// TestFailedServeLeavesNoFiles: whatever is wrong is found before the database
// is created.
func TestFailedServeLeavesNoFiles(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	const things = "collections: {things: {attributes: {name: {type: string}}}}\n"
	for name, c := range map[string]struct {
		schema string
		args   []string
		want   string
	}{
		"an open address":    {things, []string{"--addr", "0.0.0.0:0"}, "plural: without access, anybody who can reach this address"},
		"a taken address":    {things, []string{"--addr", taken.Addr().String()}, "plural: another program listens on " + taken.Addr().String()},
		"no certificate":     {things, []string{"--addr", "127.0.0.1:0", "--cert-file", "none.pem", "--key-file", "none.key"}, "plural: the certificate for TLS: there is no file none.pem"},
		"half a certificate": {things, []string{"--addr", "127.0.0.1:0", "--cert-file", "none.pem"}, "plural: a CertFile needs a KeyFile"},
		"a wrong rule": {things + "access: {roles: {public: {things: {read: resource.nme == ''}}}}\n", []string{"--addr", "127.0.0.1:0"},
			"plural: plural.yaml:2:"},
		"no public key": {things + "access: {tokens: {issuer: x, audience: y, public_key: none.pem}}\n", []string{"--addr", "127.0.0.1:0"}, "none.pem"},
		"a wrong limit": {things, []string{"--default-limit", "20", "--max-limit", "10"}, "plural: the default limit, 20,"},
		"a wrong flag":  {things, []string{"--nonsense"}, "plural: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeSchema(t, dir, c.schema)
			out, err := program(t, dir, append([]string{"serve"}, c.args...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, got\n%s\nwant\n%s", err, out, c.want)
			}
			files, err := os.ReadDir(dir)
			if err != nil || len(files) != 1 || files[0].Name() != "plural.yaml" {
				t.Errorf("there are %v, %v", files, err)
			}
		})
	}
}
