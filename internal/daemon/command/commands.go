package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noArgs rejects arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s takes no argument, and got %q", cmd.CommandPath(), args[0])
	switch {
	case cmd.Flags().Lookup("timeout") != nil && cmd.Flags().Lookup("node") != nil:
		text += "; the node to talk to is given as --node " + args[0]
	case cmd.Flags().Lookup("names") != nil:
		text += "; the nodes are given as --names one,two,three"
	case cmd.Flags().Lookup("config") != nil:
		text += "; a file is given as --config " + args[0]
	}
	return errors.New(text)
}

// negatives changes a command line so that negative numbers are arguments (terms), not flags; no flag is a digit. It puts a
// space before them, which the term parser ignores.
func negatives(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil {
		return args
	}
	all := slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if len(arg) < 2 || arg[0] != '-' || arg[1] < '0' || arg[1] > '9' || i > 0 && wantsValue(cmd, args[i-1]) {
			continue
		}
		all[i] = " " + arg
	}
	return all
}

// wantsValue reports whether arg is a flag whose value is the next argument.
func wantsValue(cmd *cobra.Command, arg string) bool {
	var f *pflag.Flag
	if name, long := strings.CutPrefix(arg, "--"); long {
		f = cmd.Flags().Lookup(name)
	} else if len(arg) > 1 && arg[0] == '-' {
		f = cmd.Flags().ShorthandLookup(arg[len(arg)-1:])
	}
	return f != nil && f.NoOptDefVal == ""
}

// addClients adds the commands that do not run a daemon.
func addClients(root *cobra.Command, env environment, status *exit) {
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run a node:"})
	for _, c := range root.Commands() {
		c.GroupID = "run"
	}
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"look", "Inspect a node:", []*cobra.Command{
			doctorCommand(env, status), statusCommand(env, status), nodesCommand(env, status), psCommand(env, status),
			waitsCommand(env, status), treeCommand(env, status), infoCommand(env, status), stackCommand(env, status),
			profileCommand(env, status), topCommand(env, status), traceCommand(env, status), deadlettersCommand(env, status),
		}},
		{"talk", "Talk to processes, also on Erlang nodes:", talkCommands(env, status)},
		{"steer", "Control a node:", []*cobra.Command{
			registerCommand(env, status), unregisterCommand(env, status), connectCommand(env, status), disconnectCommand(env, status),
			logCommand(env, status), drainCommand(env, status), stopCommand(env, status),
		}},
		{"code", "Write and check Go code:", []*cobra.Command{
			newCommand(env, status), addCommand(env, status), vetCommand(env, status),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
}
