package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newHealthCommand() *cobra.Command {
	var ready bool
	timeout := 5 * time.Second
	command := &cobra.Command{
		Use:   "health [URL]",
		Short: "Check the health of a server",
		Long: `Check the health of a server: for health checks of containers, which have no shell.

Without a URL, it is the server with the same settings on this machine. The exit
status is 0 if it is healthy, and 1 if it is not or does not respond.`,
		Args: cobra.MaximumNArgs(1),
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.BoolVar(&ready, "ready", false, "check whether it can serve requests now, including the database")
	flags.Var(span(&timeout), "timeout", "time to wait for the response")
	load := addSettings(command, "addr", "schema", "cert-file")
	command.RunE = func(command *cobra.Command, args []string) error {
		path := "/-/health"
		if ready {
			path = "/-/ready"
		}
		ctx, cancel := context.WithTimeoutCause(command.Context(), timeout, fmt.Errorf("no response within %v", timeout))
		defer cancel()
		if len(args) > 0 {
			return health(ctx, command.OutOrStdout(), http.DefaultTransport, strings.TrimRight(args[0], "/")+path)
		}
		s, err := load()
		if err != nil {
			return err
		}
		base, err := ownURL(s)
		if err != nil {
			return err
		}
		// It is a local process, and its certificate does not cover a loopback address.
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // #nosec G402 -- see above; nothing is sent that is secret
		return health(ctx, command.OutOrStdout(), transport, base+path)
	}
	return command
}

// ownURL is the URL of a server with these settings on its own machine.
func ownURL(s *settings) (string, error) {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return "", fmt.Errorf("the address %s: %w", s.addr, err)
	}
	// Not localhost, which a container without /etc/hosts does not know.
	switch ip := net.ParseIP(host); {
	case host == "" || ip.Equal(net.IPv4zero):
		host = "127.0.0.1"
	case ip.Equal(net.IPv6unspecified):
		host = "::1"
	}
	scheme := "http"
	if s.config.CertFile != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port), nil
}

// health sends one request, and prints the status of the server.
func health(ctx context.Context, out io.Writer, transport http.RoundTripper, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := transport.RoundTrip(request) // does not follow redirects
	if errors.Is(err, context.DeadlineExceeded) { // while connecting or waiting
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	defer response.Body.Close()
	var state struct{ Status, Detail string }
	if err := json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&state); err != nil || state.Status == "" {
		return fmt.Errorf("%s: status %d, and the body is not that of a Plural server", url, response.StatusCode)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, strings.TrimSuffix(state.Status+": "+state.Detail, ": "))
	}
	_, err = fmt.Fprintln(out, state.Status)
	return err
}
