package command

import "github.com/spf13/cobra"

// addClients adds the commands that do not run a node to those that do.
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
			statusCommand(env, status), nodesCommand(env, status), psCommand(env, status), treeCommand(env, status),
			infoCommand(env, status), topCommand(env, status), traceCommand(env, status), deadlettersCommand(env, status),
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
