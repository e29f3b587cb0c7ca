package command

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

func spawnCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	var name string
	cmd := &cobra.Command{
		Use: "spawn MODULE FUNCTION [ARGUMENT...]", Short: "Start a process and print its PID", Args: cobra.MinimumNArgs(2),
		Long: "Starts a process that runs a function. An Erlang node runs any function, an actornode what it exports for that. Each\n" +
			"argument is a term.\n" + targetHelp,
		Example: "  actornode spawn demo counter\n  actornode spawn --name second demo counter\n" +
			"  actornode spawn --node erl@127.0.0.1 timer sleep 60000",
	}
	cmd.Flags().StringVar(&name, "name", "", "register the process under this name (actornode only)")
	return c.command(env, status, cmd, func(ctx context.Context, s *session, args []string) error {
		module, function, terms, err := parseMFA(args, s.at)
		if err != nil {
			return err
		}
		var as wire.Atom
		if name != "" {
			if as, err = parseAtom(name); err != nil {
				return err
			}
		}
		pid, err := ask(ctx, s, func(ctx context.Context) (wire.PID, error) {
			pid, err := admin.Spawn(ctx, s.n, s.at, module, function, terms, as) // it detects an unsupported request
			if errors.Is(err, admin.ErrNoService) && as == "" {
				pid, err = rpc.Spawn(ctx, s.n, s.at, module, function, terms...)
			}
			return pid, err
		})
		var refused *rpc.SpawnError
		switch {
		case errors.Is(err, rpc.ErrUndef), errors.As(err, &refused) && refused.Reason == wire.Atom("undef"):
			return fail(exitNotFound, nil, "%s does not export the process %s", s.at,
				shownTerm(wire.Export{Module: module, Function: function, Arity: len(terms)}))
		case err != nil:
			return err
		}
		return s.say(map[string]any{"pid": pid}, "%s", s.shown(pid))
	})
}

func killCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	var reason string
	cmd := &cobra.Command{
		Use: "kill PROCESS", Short: "Kill a process, or send it an exit signal", Args: cobra.ExactArgs(1),
		Long: "Sends a process an exit signal and waits until it has exited. The signal kill cannot be trapped. Another reason,\n" +
			"given with --reason, can be trapped; if the process then does not exit, the command ends with the status of a timeout.\n" +
			processRefHelp + "\n" + targetHelp,
		Example:           "  actornode kill 42.0.1z141z3\n  actornode kill counter --reason shutdown",
		ValidArgsFunction: c.completeProcess(env, 0),
	}
	cmd.Flags().StringVar(&reason, "reason", "kill", "the exit reason, a term")
	return c.command(env, status, cmd, func(ctx context.Context, s *session, args []string) error {
		w, err := s.resolveRef(ctx, args[0])
		if err != nil {
			return err
		}
		why, err := parseTerm(reason)
		if err != nil {
			return err
		}
		pid, err := s.find(ctx, w)
		if err != nil {
			return err
		}
		ended, err := s.kill(ctx, w, pid, why)
		if errors.Is(err, node.ErrTimeout) {
			return s.stayed(w, why)
		} else if err != nil {
			return missing(w, err)
		}
		if ended == node.NoProc {
			return missing(w, node.ErrNoProcess)
		}
		return s.say(map[string]any{"pid": pid, "reason": bothOf(ended)}, "%s exited: %s", s.shown(pid), shownReason(ended))
	})
}

// stayed returns the error for a process that has not exited after an exit signal.
func (s *session) stayed(w processRef, why any) error {
	hint := "it may trap exits"
	if why == node.Normal {
		hint = "an exit signal with the reason normal ends no other process"
	}
	return fail(exitTimeout, nil, "%s did not exit within %v: %s", w.text, s.timeout, hint)
}

// kill ends a process and returns its exit reason. It uses the operator's service of the process's node, which checks
// rights and logs the request, or an exit signal if there is no such service.
func (s *session) kill(ctx context.Context, w processRef, pid node.PID, why any) (ended any, err error) {
	ended, err = ask(ctx, s, func(context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, s.timeout+time.Second) // the service's own timeout ends first
		defer cancel()
		_, ended, err := admin.Kill(ctx, s.n, pid.Node(), pid, why, s.timeout)
		if errors.Is(err, node.ErrTimeout) {
			return nil, s.stayed(w, why)
		}
		return ended, err
	})
	if !errors.Is(err, admin.ErrNoService) {
		return ended, err
	}
	ctx, cancel := s.within(ctx)
	defer cancel()
	h, err := s.watch(ctx, &processRef{text: w.text, node: w.node, pid: pid})
	if err != nil {
		return nil, err
	}
	defer h.Close(nil)
	h.Exit(pid, why)
	msg, err := h.ReceiveWithin(s.timeout, isDown)
	if err != nil {
		return nil, err
	}
	return msg.(node.Down).Reason, nil
}
