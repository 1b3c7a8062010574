package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

func newCanCommand() *cobra.Command {
	var q plural.Question
	var claims string
	command := &cobra.Command{
		Use:   "can ROLE VERB COLLECTION [ID]",
		Short: "Explain whether a role may do something",
		Long: `Explain whether a role may do something, by the access in the schema file:

  plural can author update posts 01936f2e-7d3c-7a4b-9c5d-0123456789ab --sub ada

The verb is list, read, create, update, delete or changes. With an id, the rules
are evaluated for the stored resource. The exit status is 1 if it is denied, and 3
if that depends on the resource.`,
		Args: arguments(3, 4, "give a role, a verb and a collection"),
	}
	command.Flags().StringVar(&q.Subject, "sub", "", "what auth.sub is (default: there is none)")
	command.Flags().StringVar(&claims, "claims", "", "what auth.claims is, as a JSON object")
	return withSettings(command, []string{"schema", "database"}, func(command *cobra.Command, s *settings, args []string) error {
		q.Role, q.Verb, q.Collection = args[0], schema.AccessVerb(args[1]), args[2]
		if len(args) > 3 {
			q.ID = args[3]
		}
		if !slices.Contains(schema.AccessVerbs(), q.Verb) {
			return fmt.Errorf("the verb must be list, read, create, update, delete or changes, but is %q", args[1])
		}
		if claims != "" {
			decoder := json.NewDecoder(strings.NewReader(claims))
			decoder.UseNumber()
			if err := decoder.Decode(&q.Claims); err != nil {
				return fmt.Errorf("--claims must be a JSON object: %w", err)
			}
		}
		decision, reasons, err := plural.Can(command.Context(), s.config, q)
		if err != nil {
			return inFileOf(s.schemaFile, err)
		}
		if q.Verb == schema.MayRead && decision != plural.No && q.Collection != "operations" { // which have no history
			q.Verb = schema.MayChanges
			history, _, err := plural.Can(command.Context(), s.config, q)
			if err != nil {
				return inFileOf(s.schemaFile, err)
			}
			if history == plural.No {
				reasons = append(reasons, fmt.Sprintf("%s may not read histories in %s: they need the verb changes", q.Role, q.Collection))
			}
		}
		out := command.OutOrStdout()
		for _, reason := range reasons {
			fmt.Fprintln(out, "-", reason)
		}
		fmt.Fprintln(out, decision)
		switch decision {
		case plural.No:
			return &exitError{status: 1}
		case plural.Depends:
			return &exitError{status: 3}
		}
		return nil
	})
}
