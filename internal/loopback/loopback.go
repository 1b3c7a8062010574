// Package loopback gives the servers of tests and tools addresses of their own. Of 127.0.0.1, the next server to start may
// get the port of one that has just stopped: clients that still call the old server disturb the new one, and the old one cannot
// start again at its address.
package loopback

import (
	"fmt"
	"math/rand/v2"
	"runtime"
)

// Address returns an address to listen on, with any free port: a random one of the 16 million of Linux. Other systems have
// only one.
func Address() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1:0"
	}
	return fmt.Sprintf("127.%d.%d.%d:0", 1+rand.N(254), rand.N(256), 1+rand.N(254)) // #nosec G404 -- no secret
}
