package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plural-go/plural"
)

func newOpenAPICommand() *cobra.Command {
	var role, include, format string
	var version int
	command := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of the API",
		Long: `Print the OpenAPI 3.1 document of the API that the schema file declares, as a
server gives it at /-/openapi.json:

  plural openapi > openapi.json
  plural openapi --role author --include none

With access in the schema file, --role prints what callers of that role are
shown; without it the document has everything. --include none leaves out the
related resources that include embeds, for generators that do not take schemas
that refer to each other. --openapi 3.2 prints a document of OpenAPI 3.2, which
also describes QUERY and the events of streams. --api-version prints the document of an earlier version,
which the database of a server remembers.`,
		Args: noArguments,
	}
	command.Flags().StringVar(&role, "role", "", "print the document of a `ROLE`")
	command.Flags().StringVar(&include, "include", "", "`none`: leave out related resources")
	command.Flags().StringVar(&format, "openapi", "3.1", "`version` of OpenAPI: 3.1 or 3.2")
	addVersion(command.Flags(), &version)
	return withSettings(command, []string{"schema", "database"}, func(command *cobra.Command, s *settings, _ []string) error {
		var options []plural.OpenAPIOption
		switch include {
		case "":
		case "none":
			options = append(options, plural.WithoutIncludes)
		default:
			return fmt.Errorf("--include %q: it can only be none", include)
		}
		switch format {
		case "3.1":
		case "3.2":
			options = append(options, plural.InOpenAPI32)
		default:
			return fmt.Errorf("--openapi %q: it can be 3.1 or 3.2", format)
		}
		of, err := s.inVersion(command.Context(), version)
		if err != nil {
			return err
		}
		if of != s.config.Schema {
			options = append(options, plural.OfVersion(of))
		}
		document, err := plural.OpenAPI(s.config, role, options...)
		if err != nil {
			return inFileOf(s.schemaFile, err)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, document, "", "  "); err != nil {
			return err
		}
		indented.WriteByte('\n')
		_, err = indented.WriteTo(dataOut(command))
		return err
	})
}
