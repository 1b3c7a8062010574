package plural

import "testing"

// TestPlainIssuers: only this machine is asked for keys without TLS and without a warning.
func TestPlainIssuers(t *testing.T) {
	for address, want := range map[string]bool{
		"https://login.example.com": false, "http://login.example.com": true, "http://login.example.com:8080/realm": true, "http://10.0.0.1": true,
		"http://localhost:8080": false, "http://login.localhost": false, "http://127.0.0.1:9000/x": false, "http://[::1]:9000": false, "": false,
		"http://localhost.example.com": true, "http://127.0.0.1.example.com": true,
	} {
		if got := isPlain(address); got != want {
			t.Errorf("%q: got %t, want %t", address, got, want)
		}
	}
}
