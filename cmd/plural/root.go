package main

import "github.com/spf13/cobra"

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "plural",
		Short: "A JSON HTTP API from a schema of collections",
		Long: `Plural turns a declared schema of collections into a JSON HTTP API that
follows one convention.

Start with "plural serve"; "plural init" writes a schema file to change.`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArguments,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(unknownFlag)
	root.AddCommand(newServeCommand(), newInitCommand(), newSchemaCommand(), newOpenAPICommand())
	root.AddCommand(newCheckCommand())
	root.AddCommand(newImportCommand(), newExportCommand(), newWatchCommand(), newMCPCommand())
	root.AddCommand(newKeysCommand(), newCanCommand(), newClientCommand(), newHealthCommand(), newVersionCommand())
	root.AddCommand(newMigrateCommand(), newBackupCommand(), newRestoreCommand(), newCopyCommand(), newDoctorCommand(), newHistoryCommand(), newVersionsCommand())
	return root
}
