package command

import (
	"fmt"

	"github.com/spf13/cobra"
)

const checkHelp = `Reports everything that is wrong with a configuration, one line for each error, with
file, line, column, field, and what is allowed. Variables (ACTORNODE_...) are taken into
account, as actornode start does. Nothing is started, and no cookie is shown.

With --print it prints the settings that result from the file, the variables and the
defaults, in the form of a file that shows where each value comes from.

Exit status: 0 if all is well, 1 if something is wrong, 2 for a wrong command line.`

func checkCommand(env environment, status *exit) *cobra.Command {
	show := false
	c := &cobra.Command{
		Use: "check FILE", Short: "Check a configuration", Long: checkHelp,
		Example: "  actornode check deploy/samples/actornode.yaml --print",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			*status = exitFailed
			cfg, err := load(args[0], nil, env, env.program.Sections)
			if err != nil {
				c.SilenceErrors = true // each line begins with its place
				fmt.Fprintln(env.stderr, err)
				return err
			}
			if show {
				_, err = env.stdout.Write(cfg.YAML(false))
			} else {
				_, err = fmt.Fprintln(env.stdout, args[0]+": ok")
			}
			return err
		},
	}
	c.Flags().BoolVar(&show, "print", false, "print the configuration that results, with cookies masked")
	return c
}
