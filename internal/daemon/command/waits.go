package command

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

func waitsCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	var q admin.WaitQuery
	var all bool
	cmd := &cobra.Command{
		Use: "waits", Short: "Show which process waits for which", Args: noArgs,
		Long: "Lists the processes that wait for something other than a message, such as the reply to a call: what, of whom, and\n" +
			"for how long. Processes that wait for each other form a cycle. They come first, have its number in the column CYCLE, and\n" +
			"each waits for the next one listed, the last for the first; nothing but a timeout or an exit ends these waits.\n" +
			"The methods of active objects are not listed. With --all the nodes that the node is connected to are asked as well,\n" +
			"and --cycles finds cycles over several nodes.\n" + jsonHelp + "\n" + targetHelp,
		Example: "  actornode waits --limit 20\n  actornode waits --cycles --all\n  actornode waits --json | jq '.waits[].wait'",
	}
	f := cmd.Flags()
	f.BoolVar(&q.Cycles, "cycles", false, "only processes that wait for each other")
	f.BoolVarP(&all, "all", "a", false, "ask all nodes that the node is connected to")
	f.IntVarP(&q.Limit, "limit", "l", 100, "most lines to print; a node lists 1000 at most")
	return c.command(env, status, cmd, func(ctx context.Context, s *session, _ []string) error {
		nodes, err := s.asked(ctx, all)
		if err != nil {
			return err
		}
		var failed map[node.Atom]error
		w, err := ask(ctx, s, func(ctx context.Context) (w admin.Waits, err error) {
			if w, failed = admin.WaitsOf(ctx, s.n, nodes, q); len(failed) == len(nodes) {
				return w, failed[s.at]
			}
			return w, nil
		})
		if err != nil {
			return err
		}
		if s.json {
			return s.writeJSON(waitsJSON{w, failedTexts(failed)})
		}
		return s.waits(w, failed, q.Cycles)
	})
}

// asked returns the node that a command is for, and with all those that it is connected to.
func (s *session) asked(ctx context.Context, all bool) ([]node.Atom, error) {
	nodes := []node.Atom{s.at}
	if !all {
		return nodes, nil
	}
	peers, err := ask(ctx, s, func(ctx context.Context) ([]admin.Peer, error) { return admin.Nodes(ctx, s.n, s.at) })
	for _, p := range others(peers, s.n.Name()) {
		if p.State == "up" {
			nodes = append(nodes, p.Name)
		}
	}
	return nodes, err
}

// waitsJSON are the waits of several nodes, for programs.
type waitsJSON struct {
	admin.Waits
	Failed map[node.Atom]string `json:"failed,omitempty"` // why a node has not answered
}

func failedTexts(failed map[node.Atom]error) map[node.Atom]string {
	texts := make(map[node.Atom]string, len(failed))
	for at, err := range failed {
		texts[at] = err.Error()
	}
	return texts
}

// waits prints waits, and which nodes have not answered.
func (s *session) waits(w admin.Waits, failed map[node.Atom]error, cycles bool) error {
	if len(w.Waits) > 0 {
		columns, rows := waitsTable(w.Waits, s.at)
		if err := s.table(columns, rows); err != nil {
			return err
		}
	}
	var notes []string
	switch {
	case cycles && w.Cycles == 0:
		notes = append(notes, fmt.Sprintf("no processes wait for each other, among %s that wait", countText(w.Total)))
	case w.Total == 0:
		notes = append(notes, "no process waits for anything but messages")
	}
	if more := w.Matched - len(w.Waits); more > 0 {
		notes = append(notes, fmt.Sprintf("and %s more: see --limit, of which a node allows 1,000 at most", countText(more)))
	}
	for _, at := range slices.Sorted(maps.Keys(failed)) {
		notes = append(notes, fmt.Sprintf("%s has not answered: %v", at, failed[at]))
	}
	return s.notes(notes)
}

// notes prints what is said below a table, a line each.
func (s *session) notes(all []string) error {
	for _, note := range all {
		if _, err := fmt.Fprintln(s.screen(), faintStyle.Render(note)); err != nil {
			return err
		}
	}
	return nil
}

// waitsTable has one row for each wait.
func waitsTable(all []admin.Waiting, at wire.Atom) (columns []column, rows [][]string) {
	numbered := slices.ContainsFunc(all, func(w admin.Waiting) bool { return w.Cycle > 0 })
	if numbered {
		columns = append(columns, column{title: "CYCLE", right: true})
	}
	columns = append(columns, column{title: "PID"}, column{title: "NAME", gives: true}, column{title: "MAILBOX", right: true},
		column{title: "FOR", right: true}, column{title: "WAITS FOR"}, column{title: "BEHAVIOUR", gives: true})
	for _, w := range all {
		var row []string
		if numbered {
			number := ""
			if w.Cycle > 0 {
				number = badStyle.Render(fmt.Sprint(w.Cycle))
			}
			row = append(row, number)
		}
		what := waitedText(w.Wait, at)
		if w.OnName != "" {
			what += " (" + nameStyle.Render(string(w.OnName)) + ")"
		}
		rows = append(rows, append(row, shownAt(w.PID, at), nameStyle.Render(nameOf(admin.Process{Name: w.Name, Label: w.Label})),
			countText(w.Mailbox), spanText(w.Wait.Time), what, w.Behaviour))
	}
	return columns, rows
}
