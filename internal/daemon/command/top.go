package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// topRows is the maximum number of processes that top requests; the screen shows some of them.
const topRows = 200

func topCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	var by string
	var once bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "top", Short: "Watch a node and its busiest processes, live", Args: noArgs,
		Long: "Shows a node and its processes, the busiest first, and refreshes. Keys: s and S choose the sort column, r reverses\n" +
			"the order, / filters, enter shows the details of a process, p pauses, q quits; ? shows all keys. It needs a\n" +
			"terminal; --once prints the first screen and ends.\n" + targetHelp,
		Example: "  actornode top\n  actornode top --sort memory --every 5s\n  actornode top --once --json | jq .status.memory.total",
	}
	f := cmd.Flags()
	f.StringVarP(&by, "sort", "s", "mailbox", strings.Join(sorts, ", "))
	f.DurationVarP(&every, "every", "e", time.Second, "how often to refresh; 100ms to 10s")
	f.BoolVar(&once, "once", false, "print one screen and end")
	cmd.RegisterFlagCompletionFunc("sort", completeOneOf(sorts...))
	return c.command(env, status, cmd, func(ctx context.Context, s *session, _ []string) error {
		if every < 100*time.Millisecond || every > 10*time.Second {
			return fail(exitUsage, nil, "--every %v: want 100ms to 10s", every)
		}
		l := &sampler{s: s, ctx: ctx}
		q := admin.Query{Sort: node.Atom(by), Limit: topRows}
		if once {
			return l.once(q)
		}
		if s.json {
			return fail(exitUsage, nil, "--json needs --once")
		}
		out, ok := env.terminal.(*os.File)
		if !ok || !term.IsTerminal(out.Fd()) {
			return fail(exitFailed, nil, "top needs a terminal: use top --once, or ps")
		}
		program := tea.NewProgram(newTop(l, q, every), tea.WithContext(ctx), tea.WithOutput(out), tea.WithEnvironment(environOf(env)))
		_, err := program.Run()
		if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, context.Canceled) { // Ctrl-C is a way to quit
			return nil
		}
		return err
	})
}

// sampler requests the data for top from the node.
type sampler struct {
	s   *session
	ctx context.Context
}

// sampleMsg carries the state of the node at one moment.
type sampleMsg struct {
	turn int // of the request, to detect the answer to an old one
	at   time.Time
	sum  admin.Summary
	list admin.Listing
	err  error
}

// sample requests a node's status and processes.
func (l *sampler) sample(turn int, q admin.Query) sampleMsg {
	v := sampleMsg{turn: turn}
	v.sum, v.err = ask(l.ctx, l.s, func(ctx context.Context) (admin.Summary, error) { return admin.Status(ctx, l.s.n, l.s.at) })
	if v.err == nil {
		v.list, v.err = ask(l.ctx, l.s, func(ctx context.Context) (admin.Listing, error) {
			ctx, cancel := context.WithTimeout(ctx, l.s.timeout+q.Window)
			defer cancel()
			return admin.Processes(ctx, l.s.n, l.s.at, q)
		})
	}
	v.at = time.Now()
	v.sum.Peers = others(v.sum.Peers, l.s.n.Name())
	return v
}

// detailMsg carries the details of one process.
type detailMsg struct {
	pid    wire.PID
	detail admin.Detail
	err    error
}

func (l *sampler) details(pid wire.PID) detailMsg {
	d, err := ask(l.ctx, l.s, func(ctx context.Context) (admin.Detail, error) { return admin.Info(ctx, l.s.n, l.s.at, pid) })
	return detailMsg{pid, d, missing(processRef{text: l.s.shown(pid), node: l.s.at}, err)}
}

// once prints one screen if the output is not a terminal.
func (l *sampler) once(q admin.Query) error {
	v := l.sample(0, q)
	if v.err != nil {
		return v.err
	}
	if l.s.json {
		return l.s.writeJSON(map[string]any{"status": v.sum, "processes": v.list.Processes, "matched": v.list.Matched,
			"total": v.list.Total})
	}
	w := l.s.screen()
	for _, line := range headLines(v, 0) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	return l.s.processes(v.list, q.Sort == "rate", q.Sort == "links")
}
