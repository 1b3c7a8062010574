package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// starter is a commented schema file to begin with. It declares what schema.Example
// declares, and shows the rest in comments.
//
//go:embed starter.yaml
var starter string

func newInitCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented schema file to start from",
		Long:  "Write a commented schema file to start from: plural.yaml, or another name. A file that exists is never overwritten.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			name := "plural.yaml"
			if len(args) > 0 {
				name = args[0]
			}
			file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) // #nosec G302 -- it has no secrets, and the server may run as another user
			if errors.Is(err, os.ErrExist) {
				return fmt.Errorf("%s exists already; give another name, or remove it first", name)
			}
			if err != nil {
				return err
			}
			_, err = file.WriteString(starter)
			if err := errors.Join(err, file.Close()); err != nil {
				return err
			}
			next := "plural serve"
			if name != "plural.yaml" {
				next += " --schema " + name
			}
			_, err = fmt.Fprintf(command.OutOrStdout(), "Wrote %s. Change it as you like, then: %s\n", name, next)
			return err
		},
	}
}
