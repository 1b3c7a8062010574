// Command postgres starts a PostgreSQL server, prints its URL, and stops it when its standard input
// ends. The browser tests use it.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/plural-go/plural/internal/pgserver"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	server, err := pgserver.New()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	if err := server.Init(); err != nil {
		return err
	}
	if err := server.Start(ctx); err != nil {
		return err
	}
	fmt.Println(pgserver.URL("postgres", server))
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
