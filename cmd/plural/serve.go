package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/otel"
	"github.com/plural-go/plural/schema"
)

func newServeCommand() *cobra.Command {
	var s settings
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve the collections of a schema",
		Long: `Serve the collections of a schema over HTTP, on an embedded database by default.

Every flag can also be given as an environment variable (--max-body as
PLURAL_MAX_BODY) and, except --schema, under "server" in the schema file
(max_body: 2MiB). A flag overrides the environment, which overrides the file.`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := s.load(command.Flags()); err != nil {
				return err
			}
			return serve(command.Context(), &s, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	s.register(command.Flags())
	_ = command.RegisterFlagCompletionFunc("migrate", cobra.FixedCompletions([]string{"additive", "off"}, cobra.ShellCompDirectiveNoFileComp))
	_ = command.RegisterFlagCompletionFunc("log-format", cobra.FixedCompletions(logFormats, cobra.ShellCompDirectiveNoFileComp))
	_ = command.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions(logLevels, cobra.ShellCompDirectiveNoFileComp))
	return command
}

// serve runs a server until the context ends, and then stops it.
func serve(ctx context.Context, s *settings, out, log io.Writer) error {
	delayCollections()
	writer := newLogWriter(log)
	defer writer.Close()
	logger := s.logger(writer)
	config := s.config
	config.Logger = logger
	if config.AgentWrites && config.Access != nil {
		return errAgentWrites
	}
	if err := checkAddress(s.addr); err != nil {
		return err
	}
	traces, err := otel.FromEnvironment(ctx, logger)
	if err != nil {
		return err
	}
	defer func() {
		if err := traces.Stop(context.WithoutCancel(ctx)); err != nil {
			logger.Warn("the last traces were not sent", "error", err)
		}
	}()
	config.Tracer = traces.Tracer()
	listener, err := plural.Listen(config, s.addr)
	if errors.Is(err, plural.ErrOpen) {
		return errOpen
	}
	if err != nil {
		return err
	}
	server, err := plural.Open(ctx, config)
	if err != nil {
		return errors.Join(inFileOf(s.schemaFile, err), listener.Close())
	}
	if err := server.Serve(listener); err != nil {
		return errors.Join(err, server.Stop(context.Background()))
	}
	greet(out, s, listener.Addr())
	if s.schemaFile != "" {
		go newSchemaWatch(s, logger).run(ctx)
	}
	notifyManager(logger, "READY=1")
	select {
	case <-ctx.Done():
	case err = <-server.Failed():
	}
	notifyManager(logger, "STOPPING=1")
	logger.Info("stopping")
	err = errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
	logger.Info("stopped")
	return err
}

// errOpen is plural.ErrOpen in the words of the command.
var errOpen = errors.New("without access, anybody who can reach this address could read and change everything: " +
	"declare access in the schema file, listen on 127.0.0.1, or give --open to allow this")

// errAgentWrites says what to use where API keys say who may write.
var errAgentWrites = errors.New("with access in the schema file, agents may write with API keys of \"plural keys create --agent-writes\": leave out --agent-writes and agent_writes")

// checkAddress says what to write in place of an address without a port, or of a port alone.
func checkAddress(addr string) error {
	_, _, err := net.SplitHostPort(addr)
	if err == nil {
		return nil
	}
	if _, notNumber := strconv.ParseUint(addr, 10, 16); notNumber == nil {
		return fmt.Errorf("the address %s has no host: write 127.0.0.1:%s for this machine only, or :%s for every address", addr, addr, addr)
	}
	return fmt.Errorf("the address %q must be a host and a port, such as 127.0.0.1:8080 or :8080", addr)
}

// greet writes what is served, and where: for people, or with --log-format json as a line of JSON.
func greet(out io.Writer, s *settings, addr net.Addr) {
	source := "the collections of " + s.schemaFile
	if s.schemaFile == "" {
		source = "the built-in example (\"plural init\" writes a schema file of your own)"
	}
	base := "http://" + reachable(addr)
	if s.config.CertFile != "" {
		base = "https://" + reachable(addr)
	}
	facts := []struct{ label, key, value string }{
		{"API", "api", base + "/"},
		{"See", "explorer", base + "/-/explorer"},
		{"Docs", "docs", base + "/-/docs"},
		{"Try", "try", tryLine(s, base)},
		{"Data", "data", shown(s.config.Database)},
	}
	switch access := s.config.Access; {
	case access == nil:
		facts = append(facts, struct{ label, key, value string }{"Open", "open", "anybody who can reach " + reachable(addr) + " may do everything: see docs/security.md"})
	case !grantsAnything(access):
		facts = append(facts, struct{ label, key, value string }{"Shut", "shut", "nobody may do anything yet: say under access in the schema file who may do what"})
	}
	openapi := base + "/-/openapi.json"
	if s.logFormat == "json" {
		attributes := []any{"version", version, "serves", source, "openapi", openapi}
		for _, fact := range facts {
			attributes = append(attributes, fact.key, fact.value)
		}
		slog.New(slog.NewJSONHandler(out, nil)).Info("serving", attributes...)
		return
	}
	fmt.Fprintf(out, "Plural %s serves %s.\n\n", version, source)
	for _, fact := range facts {
		if fact.key == "docs" {
			fact.value += ", and as OpenAPI " + openapi
		}
		fmt.Fprintf(out, "  %-5s %s\n", fact.label, fact.value)
	}
	fmt.Fprintln(out)
}

// grantsAnything reports whether any role may do anything with resources.
func grantsAnything(access *schema.Access) bool {
	return slices.ContainsFunc(access.Roles, func(role schema.Role) bool {
		return slices.ContainsFunc(role.Grants, func(grant schema.Grant) bool { return len(grant.Verbs) > 0 })
	})
}

// reachable is an address that a client on this machine can use.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return addr.String()
}

// tryLine is a first request: one that needs no API key, if there is any.
func tryLine(s *settings, base string) string {
	first := base + "/" + (*model.Schema)(s.config.Schema).Collections()[0].Name
	if access := s.config.Access; access != nil {
		if public := listedBy(access, true); public != "" {
			return "curl " + base + "/" + public
		}
		if listed := listedBy(access, false); listed != "" {
			first = base + "/" + listed
		}
		return "curl " + first + ` -H "Authorization: Bearer $KEY" ("plural keys create" makes a key)`
	}
	if s.schemaFile != "" {
		return "curl " + first
	}
	return "curl " + first + ` -H 'Content-Type: application/json' -d '{"name":"Ada","email":"ada@example.com"}'`
}

// listedBy returns a collection that can be listed without credentials, or with some, if there
// is one.
func listedBy(access *schema.Access, public bool) string {
	for _, role := range access.Roles {
		if public != (role.Name == schema.PublicRole) {
			continue
		}
		for _, grant := range role.Grants {
			if slices.Contains(grant.Verbs, schema.MayList) {
				return grant.Collection
			}
		}
	}
	return ""
}

func (s *settings) logger(out io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.logLevel)) // valid by logLevels
	options := &slog.HandlerOptions{Level: level}
	if s.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}
