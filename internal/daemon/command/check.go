package command

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/config"
)

const checkHelp = `Reports everything that is wrong with a configuration, one line for each error, with
file, line, column, field, and what is allowed. Variables (ACTORNODE_...) are taken into
account, as actornode start does; without FILE they are checked alone, or with the file
that ACTORNODE_CONFIG names. Nothing is started, and no cookie is shown.

What start needs of this machine is looked at, too: the cookie, the files for TLS and
whether they have expired, the log file, and whether the addresses are of this machine
(not whether their ports are free: a daemon may run). With --elsewhere it is left out, for
a configuration that is for another machine.

A variable that is likely a slip (ACTORNODE_LOGLEVEL) is wrong; any other unknown one is
only named.

With --print it prints the settings that result from the file, the variables and the
defaults, in the form of a file that shows where each value comes from.

With --rights NODE it prints what a node of that name may do: by which rule, and what else
it may do with each cookie and certificate that the rules name.

Exit status: 0 if all is well, 1 if something is wrong, 2 for a wrong command line.`

func checkCommand(env environment, status *exit) *cobra.Command {
	show, elsewhere, peer := false, false, ""
	c := &cobra.Command{
		Use: "check [FILE]", Short: "Check a configuration", Long: checkHelp,
		Example: "  actornode check deploy/samples/actornode.yaml --print\n  ACTORNODE_NAME=go@127.0.0.1 actornode check",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if peer != "" {
				if err := config.CheckName(peer); err != nil {
					return fmt.Errorf("--rights: %w", err)
				}
			}
			*status = exitFailed
			file := strings.Join(args, "")
			cfg, err := load(file, nil, env, env.program.Sections)
			err = errors.Join(err, slips(env))
			if err == nil && !show && peer == "" && !elsewhere {
				if err = named(cfg); err == nil {
					err = examine(cfg, env)
				}
			}
			if err != nil {
				c.SilenceErrors = true // each line starts with its position
				fmt.Fprintln(env.stderr, err)
				return fail(exitFailed, err, "")
			}
			if peer != "" {
				return printRights(env.stdout, cfg, peer)
			}
			if show {
				_, err = env.stdout.Write(cfg.YAML(false))
			} else {
				_, err = fmt.Fprintln(env.stdout, cmp.Or(file, env.get("ACTORNODE_CONFIG"), "the variables")+": ok")
			}
			return err
		},
	}
	c.Flags().BoolVar(&show, "print", false, "print the configuration that results, with cookies masked")
	c.Flags().StringVar(&peer, "rights", "", "print what a node of that name, NAME@HOST, may do")
	c.Flags().BoolVar(&elsewhere, "elsewhere", false, "leave out what depends on this machine: files and addresses")
	c.MarkFlagsMutuallyExclusive("print", "rights")
	return c
}

// slips returns an error for variables that are probably misspelt. It prints other unknown ones to standard error.
func slips(env environment) error {
	var errs []error
	for _, v := range unknownVariables(env) {
		if v.meant != "" {
			errs = append(errs, errors.New(v.String()))
		} else {
			fmt.Fprintln(env.stderr, "warning: "+v.String())
		}
	}
	return errors.Join(errs...)
}
