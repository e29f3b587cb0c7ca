package command

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// talkCommands returns the commands that work with any node, including Erlang's.
func talkCommands(env environment, status *exit) []*cobra.Command {
	return []*cobra.Command{
		pingCommand(env, status), callCommand(env, status), sendCommand(env, status), rpcCommand(env, status),
		spawnCommand(env, status), killCommand(env, status),
	}
}

func pingCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "ping", Short: "Check that a node answers", Args: noArgs,
		Long:    "Connects to the node, as net_adm:ping does, and prints how long the answer took." + targetHelp,
		Example: "  actornode ping\n  actornode ping --node erl@127.0.0.1",
	}, func(ctx context.Context, s *session, _ []string) error {
		start := time.Now()
		if _, err := ask(ctx, s, func(ctx context.Context) (any, error) { return nil, s.n.Ping(ctx, s.at) }); err != nil {
			return err
		}
		took := time.Since(start)
		return s.say(map[string]any{"node": s.at, "took": took}, "pong from %s in %v", s.at, took.Round(10*time.Microsecond))
	})
}

func callCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "call PROCESS TERM", Short: "Call a process and print its reply", Args: cobra.ExactArgs(2),
		Long: "Calls the process, as gen_server:call does, and prints the reply.\n" + processRefHelp + "\n" +
			jsonHelp + "\n" + targetHelp,
		Example: "  actornode call counter '{add, 5}'\n" +
			"  actornode call \"{counter, 'erl@host.net'}\" get --timeout 1s\n" +
			"  actornode call counter get --json | jq .json",
		ValidArgsFunction: c.completeProcess(env, 0),
	}, func(ctx context.Context, s *session, args []string) error {
		w, err := s.resolveRef(ctx, args[0])
		if err != nil {
			return err
		}
		request, err := parseArgument(args[1], s.at)
		if err != nil {
			return err
		}
		reply, err := ask(ctx, s, func(ctx context.Context) (any, error) {
			if w.name != "" {
				return node.Call[any](ctx, s.n, node.At{Name: w.name, Node: w.node}, request)
			}
			pid, err := s.find(ctx, w)
			if err != nil {
				return nil, err
			}
			return node.Call[any](ctx, s.n, pid, request)
		})
		var exited *node.ExitError
		if err = missing(w, err); err != nil && errors.As(err, &exited) {
			return fail(exitFailed, nil, "%s exited before it replied: %s", w.text, shownReason(exited.Reason))
		} else if err != nil {
			return err
		}
		return s.say(bothOf(reply), "%s", shownTerm(reply))
	})
}

func sendCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "send PROCESS TERM", Short: "Send a process a message", Args: cobra.ExactArgs(2),
		Long: "Sends a message and waits until it is in the mailbox of the process, or until the process is known to have exited.\n" +
			processRefHelp + "\n" + targetHelp,
		Example:           "  actornode send echo hello\n  actornode send 42.0.1z141z3 '{tick, 1}'",
		ValidArgsFunction: c.completeProcess(env, 0),
	}, func(ctx context.Context, s *session, args []string) error {
		w, err := s.resolveRef(ctx, args[0])
		if err != nil {
			return err
		}
		msg, err := parseArgument(args[1], s.at)
		if err != nil {
			return err
		}
		ctx, cancel := s.within(ctx)
		defer cancel()
		h, err := s.watch(ctx, &w)
		if err != nil {
			return s.explain(err)
		}
		defer h.Close(nil)
		if w.name != "" {
			err = h.Send(node.At{Name: w.name, Node: w.node}, msg)
		} else {
			err = h.Send(w.pid, msg)
		}
		if err != nil {
			return err
		}
		if err := s.settled(ctx, h, w); err != nil {
			return s.explain(err)
		}
		return s.say(map[string]any{"sent": bothOf(msg)}, "sent")
	})
}

// watch opens a process of this program that monitors w. It gives w's PID the current creation of its node.
func (s *session) watch(ctx context.Context, w *processRef) (*node.Process, error) {
	if w.now {
		pid, err := s.current(ctx, *w)
		if err != nil {
			return nil, err
		}
		w.pid, w.now = pid, false
	}
	h, err := s.n.Open()
	if err != nil {
		return nil, err
	}
	if w.name != "" {
		h.Monitor(node.At{Name: w.name, Node: w.node})
	} else {
		h.Monitor(w.pid)
	}
	return h, nil
}

// settled returns when w's node has received everything that h sent before, with an error if it reported that there is no
// such process: signals arrive in order, so the answer to a ping comes after the Down of a monitor of a missing process.
func (s *session) settled(ctx context.Context, h *node.Process, w processRef) error {
	if err := s.n.Ping(ctx, w.node); err != nil {
		return err
	}
	msg, err := h.ReceiveWithin(0, isDown)
	if err != nil { // no Down: it is alive
		return nil
	}
	switch d := msg.(node.Down); d.Reason {
	case node.NoProc:
		return missing(w, node.ErrNoProcess)
	case node.NoConnection:
		return fail(exitUnreachable, nil, "the connection to %s was lost", w.node)
	}
	return nil
}

func isDown(msg any) bool {
	_, ok := msg.(node.Down)
	return ok
}

func rpcCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "rpc MODULE FUNCTION [ARGUMENT...]", Short: "Call a function on a node and print its result", Args: cobra.MinimumNArgs(2),
		Long: "Calls a function, as erpc:call does. An Erlang node runs any function, an actornode what it exports. Each argument " +
			"is a\n" +
			"term.\n" + jsonHelp + "\n" + targetHelp,
		Example: "  actornode rpc demo add 1 2\n  actornode rpc --node erl@127.0.0.1 lists reverse '[1, 2, 3]'",
	}, func(ctx context.Context, s *session, args []string) error {
		module, function, terms, err := parseMFA(args, s.at)
		if err != nil {
			return err
		}
		v, err := ask(ctx, s, func(ctx context.Context) (any, error) {
			return rpc.Call[any](ctx, s.n, s.at, module, function, terms...)
		})
		var raised *rpc.Error
		if errors.As(err, &raised) {
			if isUndef(raised.Reason) {
				return fail(exitNotFound, nil, "%s does not export the function %s", s.at,
					shownTerm(wire.Export{Module: module, Function: function, Arity: len(terms)}))
			}
			return fail(exitFailed, nil, "the function raised %s: %s", raised.Class, shownReason(raised.Reason))
		}
		if err != nil {
			return err
		}
		return s.say(bothOf(v), "%s", shownTerm(v))
	})
}

// isUndef reports whether the reason of an exception is a missing function.
func isUndef(reason any) bool {
	t, ok := reason.(wire.Tuple)
	return reason == wire.Atom("undef") || ok && len(t) > 1 && t[0] == wire.Atom("exception") && t[1] == wire.Atom("undef")
}

func parseMFA(args []string, at wire.Atom) (module, function wire.Atom, terms []any, err error) {
	if module, err = parseAtom(args[0]); err != nil {
		return "", "", nil, err
	}
	if function, err = parseAtom(args[1]); err != nil {
		return "", "", nil, err
	}
	terms, err = parseArguments(args[2:], at)
	return module, function, terms, err
}
