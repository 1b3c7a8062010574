// Package loopback gives the servers of tests and tools addresses of their own. If all listened on 127.0.0.1, a server could
// get the port of one that has just stopped. It would then receive requests that are meant for the stopped server, and that
// one could not start again at its address.
package loopback

import (
	"fmt"
	"math/rand/v2"
	"runtime"
)

// Address returns an address to listen on, with port 0, so that the system chooses a free one. On Linux the host is a random
// one in 127.0.0.0/8. Other systems accept only 127.0.0.1 unless they are configured to.
func Address() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1:0"
	}
	return fmt.Sprintf("127.%d.%d.%d:0", 1+rand.N(254), rand.N(256), 1+rand.N(254)) // #nosec G404 -- no secret
}
