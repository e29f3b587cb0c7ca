package command

import (
	"context"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2/tree"
	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/wire"
)

func treeCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	var limit int
	cmd := &cobra.Command{
		Use: "tree", Short: "Draw the applications and supervision trees", Args: noArgs,
		Long: "Draws what the supervisors of a node run: applications first, then supervisors outside of applications. A child is\n" +
			"shown with its PID, its state unless it is idle or waiting, how often it was restarted, and the number of messages\n" +
			"that wait for it.\n" +
			jsonHelp + "\n" + targetHelp,
		Example: "  actornode tree\n  actornode tree --json | jq '.trees[].children[].id'",
	}
	cmd.Flags().IntVarP(&limit, "limit", "l", 0, "most branches to draw; default: what the node allows")
	return c.command(env, status, cmd, func(ctx context.Context, s *session, _ []string) error {
		f, err := ask(ctx, s, func(ctx context.Context) (admin.Forest, error) { return admin.Tree(ctx, s.n, s.at, limit) })
		if err != nil {
			return err
		}
		if s.json {
			return s.writeJSON(f)
		}
		_, err = fmt.Fprintln(s.screen(), drawForest(f, s.at))
		return err
	})
}

// drawForest draws a forest below its node.
func drawForest(f admin.Forest, at wire.Atom) string {
	root := tree.Root(headStyle.Render(string(at)))
	for _, b := range f.Trees {
		root.Child(drawBranch(b, at))
	}
	if notes := forestNotes(f); notes != "" {
		return root.String() + "\n" + faintStyle.Render(notes)
	}
	return root.String()
}

// forestNotes describes what is not drawn.
func forestNotes(f admin.Forest) string {
	var notes []string
	if f.Loose > 0 {
		notes = append(notes, "processes outside of all trees: "+countText(f.Loose))
	}
	if f.Cut > 0 {
		notes = append(notes, "branches left out: "+countText(f.Cut)+" (see --limit)")
	}
	if f.Missing > 0 {
		notes = append(notes, "supervisors that did not answer: "+countText(f.Missing))
	}
	return strings.Join(notes, ", ")
}

func drawBranch(b admin.Branch, at wire.Atom) any {
	text := branchText(b, at)
	if len(b.Children) == 0 {
		return text
	}
	t := tree.Root(text)
	for _, child := range b.Children {
		t.Child(drawBranch(child, at))
	}
	return t
}

// timesText formats how often something has happened.
func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return countText(n) + " times"
}

// branchText formats a branch as a line.
func branchText(b admin.Branch, at wire.Atom) string {
	parts := []string{nameStyle.Render(b.ID)}
	if b.Name != "" && string(b.Name) != b.ID {
		parts[0] += " as " + nameStyle.Render(string(b.Name))
	}
	switch b.Kind {
	case "worker":
		if b.Behaviour != "" {
			parts = append(parts, b.Behaviour)
		}
	case "application":
		parts = append(parts, strings.TrimSpace("application "+b.Version))
	default:
		parts = append(parts, string(b.Kind))
	}
	if !b.PID.IsZero() {
		parts = append(parts, faintStyle.Render(shownAt(b.PID, at)))
	}
	if busy := b.State == "running" || b.State == "scheduled"; b.State != "idle" && b.State != "waiting" && b.State != "" &&
		(!busy || b.Kind == "worker") {
		parts = append(parts, stateStyled(b.State))
	}
	if b.Restarts > 0 {
		parts = append(parts, warnStyle.Render("restarted "+timesText(b.Restarts)))
	}
	if b.Mailbox > 0 {
		parts = append(parts, warnStyle.Render(countText(b.Mailbox)+" waiting"))
	}
	if b.Count > len(b.Children) {
		parts = append(parts, faintStyle.Render(countText(b.Count)+" children"))
	}
	if b.Note != "" {
		parts = append(parts, warnStyle.Render(b.Note))
	}
	return strings.Join(parts, "  ")
}
