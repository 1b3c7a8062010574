package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what it was built from",
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprint(command.OutOrStdout(), versionText(info))
			return err
		},
	}
}

// versionText describes the build. The linker sets the version of a release; "go install" uses
// that of the module.
func versionText(info *debug.BuildInfo) string {
	shown, from := version, commit
	if info != nil {
		if version == unstamped && info.Main.Version != "" && info.Main.Version != "(devel)" {
			shown = info.Main.Version
		}
		changed := false
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				from = cmp.Or(from, setting.Value)
			case "vcs.modified":
				changed = setting.Value == "true"
			}
		}
		if changed {
			from += " and changes that are not committed"
		}
	}
	return fmt.Sprintf("plural    %s\ncommit    %s\ngo        %s\nplatform  %s/%s\n", shown, cmp.Or(from, "unknown"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
