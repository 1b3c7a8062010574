package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plural-go/plural/schema"
)

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON Schema of the schema file, for editors",
		Long: `Print a JSON Schema (2020-12) of the schema file, so that editors complete and
check it:

  plural schema > plural.schema.json

and as the first line of plural.yaml:

  # yaml-language-server: $schema=plural.schema.json`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			var s settings
			flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
			s.register(flags)
			var docs []schema.SettingDoc
			flags.VisitAll(func(flag *pflag.Flag) {
				if inFile(flag) {
					docs = append(docs, schema.SettingDoc{Name: key(flag.Name), Description: flag.Usage})
				}
			})
			_, err := dataOut(command).Write(schema.FileSchema(docs))
			return err
		},
	}
}
