package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/mcp"
	"github.com/plural-go/plural/schema"
)

// agentCaller is who an agent is on a database that it opens: its role, and auth.sub in rules.
type agentCaller struct {
	role, subject string
	writes        bool
}

func newMCPCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "mcp",
		Short: "Let an agent use a server or a database, by the Model Context Protocol on standard input and output",
		Long: `Let an agent use a server or a database, by the Model Context Protocol. The program of
the agent starts this command, and exchanges messages with it over standard input and
output. It needs the address of a server and an API key, or a database:

  plural mcp --server https://api.example.com   (and PLURAL_KEY in the environment)
  plural mcp --database sqlite:plural.db --role editor --sub ada

Agents only read, unless the API key was made with "plural keys create --agent-writes", or
--agent-writes is given for a database. A server has the same tools at /-/mcp.`,
		Args: noArguments,
	}
	t := registerTarget(command)
	var by agentCaller
	flags := command.Flags()
	flags.StringVar(&by.role, "role", "", "role whose rights apply on a database with access in the schema file")
	flags.StringVar(&by.subject, "sub", "", "what auth.sub is in rules (default agent)")
	flags.BoolVar(&by.writes, "agent-writes", false, "the agent may write to the database, as far as the role may (default: it only reads)")
	command.RunE = func(command *cobra.Command, _ []string) error {
		c, closing, err := t.connectAgent(command, by)
		if err != nil {
			return err
		}
		err = mcp.ServeStdio(command.Context(), c, version)
		if command.Context().Err() != nil {
			err = nil // ended on purpose
		}
		return errors.Join(err, closing())
	}
	return command
}

// connectAgent connects to the server, or opens the database.
func (t *target) connectAgent(command *cobra.Command, by agentCaller) (*client.Client, func() error, error) {
	flags := command.Flags()
	given := flags.Changed("database") || flags.Changed("schema")
	server := t.server
	if server == "" && !given {
		server = os.Getenv("PLURAL_SERVER")
	}
	switch {
	case server == "" && t.key != "":
		return nil, nil, errors.New("--key needs --server: on a database, --role says whose rights apply")
	case server == "":
		return t.openForAgent(command.Context(), by)
	case given:
		return nil, nil, errors.New("give --server or --database, not both")
	case by != agentCaller{}:
		return nil, nil, errors.New("--role, --sub and --agent-writes are for a --database: on a server, the API key says what the agent may do")
	}
	c, err := mcp.Outside(server, client.Options{Key: cmp.Or(t.key, os.Getenv("PLURAL_KEY")), APIVersion: t.version})
	return c, func() error { return nil }, err
}

// openForAgent serves a database to this process alone, with the access rules and the limits of the schema file.
func (t *target) openForAgent(ctx context.Context, by agentCaller) (*client.Client, func() error, error) {
	s, err := t.load()
	if err != nil {
		return nil, nil, err
	}
	calling, err := by.in(ctx, s.config.Access)
	if err != nil {
		return nil, nil, err
	}
	config := s.config
	if config.Database, _, err = databaseFor(config.Database, toRead); err != nil {
		return nil, nil, fmt.Errorf("%w: plural serve creates one", err)
	}
	config.Migrate, config.AgentWrites = plural.MigrateOff, by.writes
	config.Logger = slog.New(causes{slog.NewTextHandler(stderr, nil)}) // standard output is for messages
	server, err := plural.Open(ctx, config)
	if err != nil {
		return nil, nil, inFileOf(s.schemaFile, err)
	}
	closing := func() error { return server.Stop(context.WithoutCancel(ctx)) }
	message, err := http.NewRequestWithContext(calling, http.MethodPost, "http://localhost/-/mcp", nil)
	if err != nil {
		return nil, nil, errors.Join(err, closing())
	}
	message.RemoteAddr = "127.0.0.1:0"
	if t.version != 0 {
		message.Header.Set("API-Version", strconv.Itoa(t.version))
	}
	c, err := mcp.Inside(server, message)
	if err != nil {
		return nil, nil, errors.Join(err, closing())
	}
	return c, closing, nil
}

// in returns a context in which the agent calls.
func (by agentCaller) in(ctx context.Context, access *schema.Access) (context.Context, error) {
	if access == nil {
		if by.role != "" || by.subject != "" {
			return nil, errors.New("the schema file has no access, so there are no roles: leave out --role and --sub")
		}
		return ctx, nil
	}
	if by.role == "" {
		return nil, errors.New("the schema file has access: give --role with the role whose rights the agent has")
	}
	if _, err := roleOf(access, by.role); err != nil {
		return nil, err
	}
	if by.role == schema.PublicRole {
		if by.writes || by.subject != "" {
			return nil, errors.New("the role public is of callers without credentials: agents only read as such, and have no --sub")
		}
		return plural.WithCaller(ctx, plural.Principal{}), nil
	}
	return plural.WithCaller(ctx, plural.Principal{Subject: cmp.Or(by.subject, "agent"), Roles: []string{by.role}}), nil
}
