package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
)

func statusCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "status", Short: "Show the state of a node", Args: noArgs,
		Long: "Shows what a node is, what it holds and how busy it is. Counters begin at its start.\n" +
			jsonHelp + "\n" + targetHelp,
		Example: "  actornode status\n  actornode status --node go@10.0.0.7 --json | jq .memory.total",
	}, func(ctx context.Context, s *session, _ []string) error {
		sum, err := ask(ctx, s, func(ctx context.Context) (admin.Summary, error) { return admin.Status(ctx, s.n, s.at) })
		if err != nil {
			return err
		}
		sum.Peers = others(sum.Peers, s.n.Name())
		if s.json {
			return s.writeJSON(sum)
		}
		return s.fields(statusFields(sum))
	})
}

func statusFields(m admin.Summary) [][2]string {
	letters, causes := deadLetters(m.DeadLetters)
	if causes != "" {
		letters += " (" + causes + ")"
	}
	up := 0
	for _, p := range m.Peers {
		if p.State == "up" {
			up++
		}
	}
	fields := [][2]string{
		{"Node", fmt.Sprintf("%s, creation %d, process %d", m.Node, m.Creation, m.PID)},
		{"State", stateText(m)},
		{"Version", strings.TrimSpace(fmt.Sprintf("%s %s %s", m.Version, m.Go, m.OS))},
		{"Up", fmt.Sprintf("%s since %s", spanText(m.Uptime), momentText(m.Started))},
		{"Listens", strings.Join(m.Listeners, ", ")},
		{"Peers", fmt.Sprintf("%d", up)},
		{"Processes", fmt.Sprintf("%s of %s, %s named, %d lingering", countText(m.Processes), countText(m.MaxProcesses),
			countText(m.Names), m.Lingering)},
		{"Messages", countText(m.Handled)},
		{"Dead letters", letters},
		{"Stages", fmt.Sprintf("%d on %d processors, %d actors waiting, %s turns too long", m.Stages, m.CPUs, m.RunQueue,
			countText(m.BlockedTurns))},
		{"Goroutines", fmt.Sprintf("%s, %d runnable", countText(m.Goroutines), m.Runnable)},
		{"Memory", fmt.Sprintf("%s, of which %s objects, %s stacks; %s collections paused %v",
			bytesText(m.Memory.Total), bytesText(m.Memory.Objects), bytesText(m.Memory.Stacks), countText(m.Memory.Cycles),
			m.Memory.Paused)},
		{"Logs", string(m.LogLevel)},
	}
	if g := m.Global; g != nil {
		fields = append(fields, [2]string{"Global", globalText(g)})
	}
	return fields
}

// globalText describes the names that a published node shares.
func globalText(g *admin.Global) string {
	text := fmt.Sprintf("%s names and %s locks with %d nodes", countText(g.Names), countText(g.Locks), len(g.Known))
	if len(g.Unreached) > 0 {
		text += ", " + badStyle.Render("not reached") + ": " + atomsText(g.Unreached)
	}
	return text
}

// atomsText is a list of names.
func atomsText(all []node.Atom) string { return strings.Trim(fmt.Sprint(all), "[]") }

// stateText returns the state of the node in a word or two.
func stateText(m admin.Summary) string {
	switch {
	case m.Draining:
		return warnStyle.Render("draining")
	case !m.Ready && m.NotReady != "":
		return badStyle.Render("not ready") + ": " + m.NotReady
	case !m.Ready:
		return badStyle.Render("not ready")
	}
	return goodStyle.Render("ready")
}

// deadLetters returns the number of dead letters, and the number for each cause.
func deadLetters(byCause map[node.Atom]uint64) (total, causes string) {
	sum, parts := uint64(0), []string{}
	for _, cause := range slices.Sorted(maps.Keys(byCause)) {
		sum += byCause[cause]
		parts = append(parts, fmt.Sprintf("%s %s", cause, countText(byCause[cause])))
	}
	return countText(sum), strings.Join(parts, ", ")
}
