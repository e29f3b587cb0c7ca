package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

func nodesCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "nodes", Short: "List the nodes that a node is connected to", Args: noArgs,
		Long: "Lists the nodes that a node is connected to or is connecting to, and those that it has lost: since when, why, and\n" +
			"when it tries next. Lost are the nodes that the mesh lists and cannot connect, and for an hour those whose connection\n" +
			"has failed. This command itself is connected while it runs, and is left out.\n" + jsonHelp + "\n" + targetHelp,
		Example: "  actornode nodes\n  actornode nodes --json | jq -r '.[] | select(.state == \"lost\") | .name'",
	}, func(ctx context.Context, s *session, _ []string) error {
		all, err := ask(ctx, s, func(ctx context.Context) ([]admin.Peer, error) { return admin.Nodes(ctx, s.n, s.at) })
		if err != nil {
			return err
		}
		peers := others(all, s.n.Name())
		if s.json {
			return s.writeJSON(peers)
		}
		return s.table(nodesTable(peers, time.Now()))
	})
}

// nodesTable has one row for each node. If a node is not connected, there are columns for the reason and the next attempt.
func nodesTable(peers []admin.Peer, now time.Time) (columns []column, rows [][]string) {
	columns = []column{{title: "NODE", gives: true}, {title: "STATE"}, {title: "PROTOCOL"}, {title: "ADDRESS", gives: true},
		{title: "UP", right: true}, {title: "IN", right: true}, {title: "OUT", right: true}, {title: "QUEUE", right: true}}
	failed := slices.ContainsFunc(peers, func(p admin.Peer) bool { return p.State == "lost" || p.Failure != "" })
	if failed {
		columns = append(columns, column{title: "NEXT TRY"}, column{title: "LAST ERROR", gives: true})
	}
	for _, p := range peers {
		row := peerRow(p, now)
		if failed {
			row = append(row, nextTry(p, now), p.Failure)
		}
		rows = append(rows, row)
	}
	return columns, rows
}

// nextTry returns when the next attempt to connect to a node is due.
func nextTry(p admin.Peer, now time.Time) string {
	switch {
	case p.State == "up":
		return ""
	case p.State == "connecting":
		return "now"
	case !p.Next.IsZero():
		return "in " + spanText(max(p.Next.Sub(now), 0))
	case p.Wanted:
		return "soon"
	}
	return "with a message"
}

// others are peers without me.
func others(peers []admin.Peer, me wire.Atom) []admin.Peer {
	all := []admin.Peer{}
	for _, p := range peers {
		if p.Name != me {
			all = append(all, p)
		}
	}
	return all
}

func peerRow(p admin.Peer, now time.Time) []string {
	since := ""
	if !p.Since.IsZero() {
		since = spanText(now.Sub(p.Since.Time))
	}
	state := goodStyle.Render(string(p.State))
	switch {
	case p.State == "lost" && since != "":
		state = badStyle.Render("lost for " + since)
	case p.State == "lost":
		state = badStyle.Render("lost")
	case p.State != "up":
		state = warnStyle.Render(string(p.State))
	case p.Held:
		state = warnStyle.Render("senders wait")
	}
	if p.State != "up" {
		since = ""
	}
	name := string(p.Name)
	if p.Hidden {
		name += " (hidden)"
	}
	return []string{name, state, p.Protocol, p.Addr, since, bytesText(p.BytesIn), bytesText(p.BytesOut), bytesText(p.Queue)}
}

func connectCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "connect NODE", Short: "Connect a node to another", Args: cobra.ExactArgs(1),
		Long:    "Connects a node to another.\n" + targetHelp,
		Example: "  actornode connect go@10.0.0.8",
	}, func(ctx context.Context, s *session, args []string) error {
		to, err := parseAtom(args[0])
		if err != nil {
			return err
		}
		if _, err := ask(ctx, s, func(ctx context.Context) (any, error) { return nil, admin.Connect(ctx, s.n, s.at, to) }); err != nil {
			return err
		}
		return s.say(map[string]any{"connected": to}, "%s is connected to %s", s.at, to)
	})
}

func disconnectCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "disconnect NODE", Short: "Disconnect a node from another", Args: cobra.ExactArgs(1),
		Long: "Ends the connection of a node to another. Every link over it breaks and every monitor fires, with the reason\n" +
			"noconnection. The next message between the two nodes connects them again.\n" + targetHelp,
		Example: "  actornode disconnect go@10.0.0.8",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return c.offer(cmd, env, func(ctx context.Context, s *session) []string {
				peers, _ := admin.Nodes(ctx, s.n, s.at)
				var names []string
				for _, p := range others(peers, s.n.Name()) {
					names = append(names, string(p.Name))
				}
				return names
			})
		},
	}, func(ctx context.Context, s *session, args []string) error {
		to, err := parseAtom(args[0])
		if err != nil {
			return err
		}
		was, err := ask(ctx, s, func(ctx context.Context) (bool, error) { return admin.Disconnect(ctx, s.n, s.at, to) })
		switch {
		case err != nil:
			return err
		case !was:
			return fail(exitNotFound, nil, "%s is not connected to %s", s.at, to)
		}
		return s.say(map[string]any{"disconnected": to}, "%s is no longer connected to %s", s.at, to)
	})
}

func drainCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	cmd := c.command(env, status, &cobra.Command{
		Use: "drain", Short: "Prepare a node for its stop, and wait until that is done", Args: noArgs,
		Long: "Prepares a node for its stop: it leaves process groups, refuses to start processes for other nodes and stops its\n" +
			"applications. Connections stay open. Waits until that is done; the node continues if the wait is cut short.\n" + targetHelp,
		Example: "  actornode drain --timeout 5m && actornode stop",
	}, func(ctx context.Context, s *session, _ []string) error {
		if _, err := ask(ctx, s, func(ctx context.Context) (any, error) { return nil, admin.Drain(ctx, s.n, s.at) }); err != nil {
			return err
		}
		return s.say(map[string]any{"drained": s.at}, "%s has drained", s.at)
	})
	return longer(cmd)
}

func stopCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	cmd := c.command(env, status, &cobra.Command{
		Use: "stop", Short: "Stop a node, and wait until it has stopped", Args: noArgs,
		Long: "Stops a node, as SIGTERM does, and waits until the connection to it has ended. The node stops even if the wait\n" +
			"is cut short.\n" + targetHelp,
		Example: "  actornode stop --node go@127.0.0.1",
	}, stopNode)
	return longer(cmd)
}

func stopNode(ctx context.Context, s *session, _ []string) error {
	h, err := s.n.Open()
	if err != nil {
		return err
	}
	defer h.Close(nil)
	h.MonitorNode(s.at)
	_, err = ask(ctx, s, func(ctx context.Context) (any, error) { return nil, admin.Stop(ctx, s.n, s.at) })
	if err != nil && codeOf(err) != exitUnreachable { // the node may end before its answer arrives
		return err
	}
	down := make(chan struct{})
	go func() { // ends with the NodeDown, or with the command's node
		defer close(down)
		h.ReceiveMatch(func(m any) bool { _, down := m.(node.NodeDown); return down })
	}()
	ctx, cancel := s.within(ctx)
	defer cancel()
	select {
	case <-down:
		return s.say(map[string]any{"stopped": s.at}, "%s has stopped", s.at)
	case <-ctx.Done():
		s.n.Exit(h.Self(), node.Kill)
		<-down
		if ctx.Err() == context.Canceled {
			return fail(exitInterrupted, nil, "%s is stopping; this command was interrupted before it had stopped", s.at)
		}
		return fail(exitTimeout, nil, "%s began to stop, but had not stopped after %v", s.at, s.timeout)
	}
}

// longer raises the default timeout of a command that waits for more than an answer.
func longer(cmd *cobra.Command) *cobra.Command {
	f := cmd.Flags().Lookup("timeout")
	f.DefValue = time.Minute.String()
	f.Value.Set(f.DefValue)
	return cmd
}

func logCommand(env environment, status *exit) *cobra.Command {
	parent := &cobra.Command{Use: "log", Short: "Show or set the log level of a node"}
	c, of := &client{}, &admin.ProcessLevel{}
	reset := false
	levels := completeOneOf("debug", "info", "warn", "error")
	cmd := c.command(env, status, &cobra.Command{
		Use: "level [debug|info|warn|error]", Short: "Show or set the log level", Args: cobra.MaximumNArgs(1),
		Long: "Shows the lowest level that a node logs, or sets it until the node stops. With --name or --behaviour it is the\n" +
			"level of what these processes log themselves, with the Log of their Context; --reset takes it back.\n" + targetHelp,
		Example: "  actornode log level\n  actornode log level debug\n  actornode log level debug --name till\n" +
			"  actornode log level --behaviour '*shop.Cart' --reset", ValidArgsFunction: levels,
	}, func(ctx context.Context, s *session, args []string) error {
		if of.Name == "" && of.Behaviour == "" && !reset {
			return logLevel(ctx, s, args)
		}
		return processLevel(ctx, s, *of, reset, args)
	})
	cmd.Flags().StringVar((*string)(&of.Name), "name", "", "only of the process registered as this")
	cmd.Flags().StringVar(&of.Behaviour, "behaviour", "", "only of processes with this behaviour, as info shows it")
	cmd.Flags().BoolVar(&reset, "reset", false, "let these processes log what the node does")
	parent.AddCommand(cmd)
	return parent
}

// processLevel sets the log level of some processes.
func processLevel(ctx context.Context, s *session, of admin.ProcessLevel, reset bool, args []string) error {
	switch {
	case reset == (len(args) == 1):
		return fail(exitUsage, nil, "want a level, or --reset")
	case of.Name == "" && of.Behaviour == "":
		return fail(exitUsage, nil, "want --name or --behaviour with --reset")
	case !reset:
		var l level
		if err := l.UnmarshalText([]byte(args[0])); err != nil {
			return fail(exitUsage, nil, "unknown log level %q: want debug, info, warn or error", args[0])
		}
		of.Level = node.Atom(l.String())
	}
	all, err := ask(ctx, s, func(ctx context.Context) ([]admin.ProcessLevel, error) {
		return admin.SetProcessLevel(ctx, s.n, s.at, of)
	})
	if err != nil {
		return err
	}
	return s.say(map[string]any{"processes": all}, "%s", processLevels(all))
}

// processLevels describes the log levels of processes.
func processLevels(all []admin.ProcessLevel) string {
	if len(all) == 0 {
		return "all processes log what the node does"
	}
	var lines []string
	for _, l := range all {
		line := string(l.Level)
		if l.Name != "" {
			line += " for " + string(l.Name)
		}
		if l.Behaviour != "" {
			line += " for " + l.Behaviour
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func logLevel(ctx context.Context, s *session, args []string) error {
	if len(args) == 0 {
		l, err := ask(ctx, s, func(ctx context.Context) (level, error) {
			l, err := admin.LogLevel(ctx, s.n, s.at)
			return level{l}, err
		})
		if err != nil {
			return err
		}
		text, shown := l.String(), map[string]any{"level": l.String()}
		switch all, err := admin.ProcessLevels(ctx, s.n, s.at); {
		case err != nil && !errors.Is(err, admin.ErrBadRequest): // which says a node of an earlier version
			return err
		case len(all) > 0:
			text, shown["processes"] = text+"\n"+processLevels(all), all
		}
		return s.say(shown, "%s", text)
	}
	var l level
	if err := l.UnmarshalText([]byte(args[0])); err != nil {
		return fail(exitUsage, nil, "unknown log level %q: want debug, info, warn or error", args[0])
	}
	was, err := ask(ctx, s, func(ctx context.Context) (level, error) {
		was, err := admin.SetLogLevel(ctx, s.n, s.at, l.Level)
		return level{was}, err
	})
	if err != nil {
		return err
	}
	return s.say(map[string]any{"level": l.String(), "was": was.String()}, "%s", fmt.Sprintf("%s, was %s", l, was))
}
