package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/config"
)

const checkHelp = `Reports everything that is wrong with a configuration, one line for each error, with
file, line, column, field, and what is allowed. Variables (ACTORNODE_...) are taken into
account, as actornode start does. Nothing is started, and no cookie is shown.

With --print it prints the settings that result from the file, the variables and the
defaults, in the form of a file that shows where each value comes from.

With --rights NODE it prints what a node of that name may do: by which rule, and what else
it may do with each cookie and certificate that the rules name.

Exit status: 0 if all is well, 1 if something is wrong, 2 for a wrong command line.`

func checkCommand(env environment, status *exit) *cobra.Command {
	show, peer := false, ""
	c := &cobra.Command{
		Use: "check FILE", Short: "Check a configuration", Long: checkHelp,
		Example: "  actornode check deploy/samples/actornode.yaml --print",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if peer != "" {
				if err := config.CheckName(peer); err != nil {
					return fmt.Errorf("--rights: %w", err)
				}
			}
			*status = exitFailed
			cfg, err := load(args[0], nil, env, env.program.Sections)
			if err != nil {
				c.SilenceErrors = true // each line begins with its place
				fmt.Fprintln(env.stderr, err)
				return err
			}
			if peer != "" {
				return printRights(env.stdout, cfg, peer)
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
	c.Flags().StringVar(&peer, "rights", "", "print what a node of that name, NAME@HOST, may do")
	c.MarkFlagsMutuallyExclusive("print", "rights")
	return c
}
