package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/node"
)

// causes lists the causes of dead letters.
var causes = []string{"no_process", "old_incarnation", "mailbox_full", "node_stopped", "not_connected", "no_alias", "late_reply",
	"not_a_term", "unreadable", "wrong_type"}

func traceCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	var q admin.TraceQuery
	var events []string
	cmd := &cobra.Command{
		Use: "trace PROCESS...", Short: "Show the messages of processes as they come", Args: cobra.MinimumNArgs(1),
		Long: "Shows what processes receive, send and do, as it happens, until they have exited, or Ctrl-C. Events that come " +
			"faster than\n" +
			"they can be shown are dropped and counted.\n" + processRefHelp + "\n" + jsonHelp + "\n" + targetHelp,
		Example: "  actornode trace counter\n  actornode trace counter echo --events receive,exit --max 100\n" +
			"  actornode trace demo --children --json | jq -r .message",
		ValidArgsFunction: c.completeProcess(env, 1000),
	}
	all := []string{"receive", "send", "signal", "exit", "spawn", "name"}
	f := cmd.Flags()
	f.StringSliceVarP(&events, "events", "e", nil, "what to show: "+strings.Join(all, ", ")+"; default: all")
	f.BoolVar(&q.Children, "children", false, "also trace the processes that they spawn from now on")
	streamFlags(cmd, &q.StreamOptions, &q.Size)
	cmd.RegisterFlagCompletionFunc("events", completeOneOf(all...))
	return c.command(env, status, cmd, func(ctx context.Context, s *session, args []string) error {
		for _, e := range events {
			q.Events = append(q.Events, node.Atom(e))
		}
		var w processRef
		for _, text := range args {
			var err error
			if w, err = parseProcessRef(text, s.at); err != nil {
				return err
			}
			target, err := s.target(ctx, w)
			if err != nil {
				return err
			}
			q.Targets = append(q.Targets, target)
		}
		stream, err := opened(ctx, s, func(ctx context.Context) (*admin.Stream[admin.Event],
			error) {
			return admin.Trace(ctx, s.n, s.at, q)
		})
		if err != nil && len(args) == 1 {
			return missing(w, err)
		} else if err != nil {
			return err
		}
		return follow(s, stream, s.eventText)
	})
}

func streamFlags(cmd *cobra.Command, o *admin.StreamOptions, size *int) {
	f := cmd.Flags()
	f.IntVar(&o.Max, "max", 0, "stop after this many events; default: no limit")
	f.IntVar(&o.Buffer, "buffer", 0, "most events that may wait on the node; default 1000")
	f.IntVar(size, "size", 0, "about how many bytes of a message to show; default 1024")
}

// opened opens a stream within the timeout; the stream itself lasts as long as ctx.
func opened[T any](ctx context.Context, s *session, open func(context.Context) (*admin.Stream[T], error)) (*admin.Stream[T],
	error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(s.timeout, func() { cancel(context.DeadlineExceeded) })
	stream, err := open(ctx)
	timer.Stop()
	return stream, s.explain(err)
}

// follow prints the items of a stream until it ends; line formats one for people.
func follow[T any](s *session, stream *admin.Stream[T], line func(T) string) error {
	defer stream.Close()
	w, dropped := s.screen(), uint64(0)
	for e := range stream.C {
		var err error
		if s.json {
			err = s.writeJSON(e)
		} else {
			_, err = fmt.Fprintln(w, line(shownValue(e)))
		}
		if err != nil {
			return err
		}
		if n := stream.Dropped(); n > dropped {
			s.tellDropped(n - dropped)
			dropped = n
		}
	}
	if n := stream.Dropped(); n > dropped {
		s.tellDropped(n - dropped)
	}
	if stream.Why() == "exited" && !s.json {
		fmt.Fprintln(w, faintStyle.Render("all traced processes have exited"))
	}
	if err := stream.Err(); err != nil && !errors.Is(err, context.Canceled) { // Ctrl-C is the normal end
		return s.explain(err)
	}
	return nil
}

// tellDropped reports that n events were dropped; in JSON output as a separate line, {"dropped": 3}.
func (s *session) tellDropped(n uint64) {
	if s.json {
		s.writeJSON(map[string]uint64{"dropped": n})
		return
	}
	fmt.Fprintln(s.screen(), warnStyle.Render(fmt.Sprintf("… %s dropped: they came faster than they could be shown", countText(n))))
}

// eventText formats an event of a trace as a line.
func (s *session) eventText(e admin.Event) string {
	parts := []string{clockText(e.At), s.shown(e.Process), nameStyle.Render(string(e.Type))}
	switch {
	case e.Name != "" && e.Node != "" && e.Node != s.at:
		parts = append(parts, fmt.Sprintf("{%s,%s}", quotedName(e.Name), quotedName(e.Node)))
	case e.Name != "":
		parts = append(parts, quotedName(e.Name))
	}
	if !e.Other.IsZero() {
		parts = append(parts, direction(e.Type)+s.shown(e.Other))
	}
	if e.Message != nil {
		parts = append(parts, shownTerm(e.Message))
	}
	return strings.Join(parts, "  ")
}

// direction is the word between an event and its other process.
func direction(kind node.Atom) string {
	switch kind {
	case "receive", "linked", "unlinked":
		return "from "
	case "send", "link", "unlink", "signal", "monitor", "demonitor":
		return "to "
	}
	return ""
}

// clockText formats a time of day.
func clockText(t admin.Time) string { return faintStyle.Render(t.Local().Format("15:04:05.000")) }

func deadlettersCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	var q admin.LetterQuery
	var only []string
	var goOn bool
	cmd := &cobra.Command{
		Use: "deadletters", Short: "Count dead letters, or show new ones", Args: noArgs,
		Long: "Shows how many messages could not be delivered, and why. With --follow, shows new ones until Ctrl-C. Those that come\n" +
			"faster than they can be shown are dropped and counted.\n" + jsonHelp + "\n" + targetHelp,
		Example: "  actornode deadletters\n  actornode deadletters --follow --cause mailbox_full\n" +
			"  actornode deadletters -f --json | jq -r .to",
	}
	f := cmd.Flags()
	f.BoolVarP(&goOn, "follow", "f", false, "show new dead letters as they come")
	f.StringSliceVar(&only, "cause", nil, "only these causes: "+strings.Join(causes, ", "))
	streamFlags(cmd, &q.StreamOptions, &q.Size)
	cmd.RegisterFlagCompletionFunc("cause", completeOneOf(causes...))
	return c.command(env, status, cmd, func(ctx context.Context, s *session, _ []string) error {
		for _, cause := range only {
			q.Causes = append(q.Causes, node.Atom(cause))
		}
		if !goOn {
			return s.countDeadLetters(ctx, q.Causes)
		}
		stream, err := opened(ctx, s, func(ctx context.Context) (*admin.Stream[admin.Letter], error) {
			return admin.DeadLetters(ctx, s.n, s.at, q)
		})
		if err != nil {
			return err
		}
		return follow(s, stream, s.deadLetterText)
	})
}

// countDeadLetters prints the number of dead letters.
func (s *session) countDeadLetters(ctx context.Context, only []node.Atom) error {
	sum, err := ask(ctx, s, func(ctx context.Context) (admin.Summary, error) { return admin.Status(ctx, s.n, s.at) })
	if err != nil {
		return err
	}
	counts := map[node.Atom]uint64{}
	for cause, n := range sum.DeadLetters {
		if len(only) == 0 || slices.Contains(only, cause) {
			counts[cause] = n
		}
	}
	if s.json {
		return s.writeJSON(counts)
	}
	var rows [][]string
	for _, cause := range slices.Sorted(maps.Keys(counts)) {
		rows = append(rows, []string{string(cause), countText(counts[cause])})
	}
	return s.table([]column{{title: "CAUSE"}, {title: "COUNT", right: true}}, rows)
}

// deadLetterText formats a dead letter as a line.
func (s *session) deadLetterText(l admin.Letter) string {
	to := quotedName(l.Name)
	switch {
	case !l.To.IsZero():
		to = s.shown(l.To)
	case !l.Alias.IsZero():
		to = printable.Text(l.Alias.String())
	}
	return strings.Join([]string{clockText(l.At), warnStyle.Render(string(l.Cause)), "to " + to, shownTerm(l.Message)}, "  ")
}
