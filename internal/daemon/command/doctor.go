package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
)

func doctorCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	var all, still bool
	window := 2 * time.Second
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong with a node", Args: noArgs,
		Long: "Looks at a node for a while, and says what seems to be wrong, with evidence and the command that shows more:\n" +
			"processes that wait for each other or for a reply that does not come, long and full mailboxes, handlers that take long,\n" +
			"children that are restarted, leaks of processes, monitors and goroutines, lost and frozen peers, dead letters, busy\n" +
			"names, CPU. It makes the requests of status, nodes, ps, waits, tree, info and, unless --no-profile is\n" +
			"set or the node refuses it, profile cpu. With --all the nodes that the node is connected to are examined as well.\n\n" +
			"Exit status: 0 nothing is wrong; 10 there is a finding that is a warning or critical; others as of all commands.\n" +
			jsonHelp + "\n" + targetHelp,
		Example: "  actornode doctor\n  actornode doctor --all --for 5s\n  actornode doctor --json | jq -r '.findings[].name'",
	}
	f := cmd.Flags()
	f.DurationVar(&window, "for", window, "how long to look; at most 10s")
	f.BoolVarP(&all, "all", "a", false, "examine all nodes that the node is connected to")
	f.BoolVar(&still, "no-profile", false, "make no CPU profile")
	return c.command(env, status, cmd, func(ctx context.Context, s *session, _ []string) error {
		if window <= 0 || window > 10*time.Second {
			return fail(exitUsage, nil, "--for %v: want more than 0 and at most 10s", window)
		}
		s.timeout += window
		nodes, err := s.asked(ctx, all)
		if err != nil {
			return err
		}
		r, err := s.examine(ctx, nodes, window, !still)
		if err != nil {
			return s.explain(err)
		}
		if s.json {
			err = s.writeJSON(r)
		} else {
			err = s.report(shownValue(r))
		}
		if err == nil && r.sick() {
			err = fail(exitFindings, nil, "something seems to be wrong: see the findings")
		}
		return err
	})
}

// diagnosis is what doctor has found.
type diagnosis struct {
	Findings []finding            `json:"findings"`
	Nodes    []node.Atom          `json:"nodes"`            // examined
	Failed   map[node.Atom]string `json:"failed,omitempty"` // why a node could not be examined
}

// sick reports whether a finding needs attention.
func (d *diagnosis) sick() bool {
	return slices.ContainsFunc(d.Findings, func(f finding) bool { return f.Severity != "info" })
}

// examine examines nodes at the same time. The error is that of the first node.
func (s *session) examine(ctx context.Context, nodes []node.Atom, window time.Duration, profiles bool) (d diagnosis, err error) {
	var mu sync.Mutex
	var examining sync.WaitGroup
	failed := make(map[node.Atom]error)
	for _, at := range nodes {
		examining.Go(func() { // as long as the window and the requests of a chart
			c, err := s.chart(ctx, at, window, profiles)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[at] = err
				return
			}
			d.Nodes = append(d.Nodes, at)
			d.Findings = append(d.Findings, c.findings()...)
		})
	}
	examining.Wait()
	if err := failed[s.at]; err != nil {
		return d, err
	}
	within, cancel := s.within(ctx)
	defer cancel()
	waits, _ := admin.WaitsOf(within, s.n, d.Nodes, admin.WaitQuery{Cycles: true})
	d.Findings = append(deadlocks(waits), d.Findings...)
	slices.SortStableFunc(d.Findings, func(a, b finding) int { return severities[a.Severity] - severities[b.Severity] })
	slices.Sort(d.Nodes)
	d.Failed = failedTexts(failed)
	if d.Findings == nil {
		d.Findings = []finding{}
	}
	return d, nil
}

// chart has what doctor knows of a node: at the beginning and the end of a window, and of the time between.
type chart struct {
	node   node.Atom
	window time.Duration

	before, after             admin.Summary
	treeBefore, treeAfter     admin.Forest
	watchedBefore, watchedNow admin.Listing // by monitors
	byBehaviour, byParent     admin.Listing // by growth
	busiest                   admin.Listing // by rate
	running                   admin.Listing // with messages, that have been running for the window if the rate is 0
	longest                   admin.Listing // by mailbox
	bounds                    map[node.PID]admin.Bound
	waits                     admin.Waits
	cpu                       *profileSummary // nil: not made
}

// shownProcesses is how many processes doctor looks at of each listing.
const shownProcesses = 20

// chart examines a node.
func (s *session) chart(ctx context.Context, at node.Atom, window time.Duration, profiles bool) (*chart, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout+window)
	defer cancel()
	c := &chart{node: at, window: window, bounds: make(map[node.PID]admin.Bound)}
	watched := admin.Query{Sort: "monitors", Limit: shownProcesses}
	err := each(
		reading(&c.before, func() (admin.Summary, error) { return admin.Status(ctx, s.n, at) }),
		reading(&c.treeBefore, func() (admin.Forest, error) { return admin.Tree(ctx, s.n, at, 0) }),
		reading(&c.watchedBefore, func() (admin.Listing, error) { return admin.Processes(ctx, s.n, at, watched) }),
	)
	if err != nil {
		return nil, err
	}
	during := func(q admin.Query) func() (admin.Listing, error) {
		q.Window = window
		return func() (admin.Listing, error) { return admin.Processes(ctx, s.n, at, q) }
	}
	err = each(
		reading(&c.byBehaviour, during(admin.Query{By: "behaviour", Sort: "growth", Limit: shownProcesses})),
		reading(&c.byParent, during(admin.Query{By: "parent", Sort: "growth", Limit: shownProcesses})),
		reading(&c.busiest, during(admin.Query{Sort: "rate", Limit: shownProcesses})),
		reading(&c.running, during(admin.Query{Sort: "mailbox", State: "running", Mailbox: 1, Limit: shownProcesses})),
		reading(&c.cpu, func() (*profileSummary, error) {
			if !profiles {
				return nil, nil
			}
			return s.cpu(ctx, at, window)
		}),
	)
	if err != nil {
		return nil, err
	}
	err = each(
		reading(&c.after, func() (admin.Summary, error) { return admin.Status(ctx, s.n, at) }),
		reading(&c.treeAfter, func() (admin.Forest, error) { return admin.Tree(ctx, s.n, at, 0) }),
		reading(&c.watchedNow, func() (admin.Listing, error) { return admin.Processes(ctx, s.n, at, watched) }),
		reading(&c.longest, func() (admin.Listing, error) {
			return admin.Processes(ctx, s.n, at, admin.Query{Sort: "mailbox", Mailbox: 2, Limit: shownProcesses})
		}),
		reading(&c.waits, func() (admin.Waits, error) { return admin.WaitsAt(ctx, s.n, at, admin.WaitQuery{}) }),
	)
	for _, p := range c.longest.Processes {
		if d, err := admin.Info(ctx, s.n, at, p.PID); err == nil && d.Bound != (admin.Bound{}) {
			c.bounds[p.PID] = d.Bound
		}
	}
	return c, err
}

// cpu makes a CPU profile, or returns nil if the node refuses it or another is being made.
func (s *session) cpu(ctx context.Context, at node.Atom, window time.Duration) (*profileSummary, error) {
	var b bytes.Buffer
	err := admin.Profile(ctx, s.n, at, admin.ProfileQuery{Kind: "cpu", For: window}, s.timeout, &b)
	if errors.Is(err, admin.ErrNotAllowed) || errors.Is(err, admin.ErrBusy) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	p, err := profile.ParseData(b.Bytes())
	if err != nil {
		return nil, err
	}
	return new(summaryOf(p, "cpu", 3)), nil
}

// reading returns a function that calls f and keeps its result.
func reading[T any](into *T, f func() (T, error)) func() error {
	return func() (err error) {
		*into, err = f()
		return err
	}
}

// each calls functions at the same time, and returns the first error.
func each(fs ...func() error) error {
	var calls errgroup.Group
	for _, f := range fs {
		calls.Go(f) // until f returns
	}
	return calls.Wait()
}

// report prints findings.
func (s *session) report(d diagnosis) error {
	w := s.screen()
	for _, f := range d.Findings {
		style := faintStyle
		switch f.Severity {
		case "critical":
			style = badStyle
		case "warning":
			style = warnStyle
		}
		if _, err := fmt.Fprintf(w, "%s  %s  %s\n  %s\n  look: %s\n", style.Render(f.Severity), headStyle.Render(f.Name), f.Node,
			f.Evidence, f.Look); err != nil {
			return err
		}
	}
	var names []string
	for _, at := range d.Nodes {
		names = append(names, string(at))
	}
	notes := []string{fmt.Sprintf("%s examined: %s", countText(len(d.Findings))+" findings;", strings.Join(names, ", "))}
	for _, at := range slices.Sorted(maps.Keys(d.Failed)) {
		notes = append(notes, fmt.Sprintf("%s could not be examined: %s", at, d.Failed[at]))
	}
	return s.notes(notes)
}
