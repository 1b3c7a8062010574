// Command mounted is a program that mounts a server under a prefix and strips the prefix itself. The
// browser tests use it: the explorer must work there too.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/plural-go/plural"
)

func main() {
	server, err := plural.Open(context.Background(), plural.Config{Database: os.Args[1], Prefix: "/api"})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("API http://%s/tenants/7/api/\n", listener.Addr())
	log.Fatal(http.Serve(listener, http.StripPrefix("/tenants/7", server)))
}
