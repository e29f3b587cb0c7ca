package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// sorts lists the keys for sorting processes.
var sorts = []string{"pid", "name", "mailbox", "handled", "rate", "memory", "age", "links", "monitors", "wait"}

// groupings lists by what processes are grouped, and groupSorts the further keys for sorting groups.
var (
	groupings  = []string{"behaviour", "code", "parent"}
	groupSorts = []string{"count", "growth"}
)

func psCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	q := admin.Query{Limit: 100}
	var sort, state, by string
	var reverse bool
	cmd := &cobra.Command{
		Use: "ps [TEXT]", Short: "List processes", Args: cobra.MaximumNArgs(1),
		Long: "Lists processes; with TEXT, those whose name, label, behaviour, code or PID contains it. PIDs are printed as\n" +
			"other commands take them. MAILBOX counts waiting messages, including the one being handled; MEMORY is an estimate.\n" +
			"LINKS and MONITORS are there with --sort links or monitors; MONITORS counts those of the process and those by it.\n" +
			"With --by the processes are grouped: GROWTH is how many more processes a group has at the end of --rate, STARTED how\n" +
			"many of them have started, LONGEST the longest mailbox; a parent is who has spawned them.\n" +
			"WAITS FOR is there if a process waits for more than a message, such as the reply to a call: what, on whom, how long.\n" +
			jsonHelp + "\n" + targetHelp,
		Example: "  actornode ps\n  actornode ps --sort mailbox --limit 10\n  actornode ps counter --state waiting\n" +
			"  actornode ps --by behaviour --rate 5s --sort growth\n" +
			"  actornode ps --json | jq -r '.processes[] | select(.mailbox > 100) | .pid'",
	}
	f := cmd.Flags()
	f.StringVarP(&sort, "sort", "s", "", strings.Join(sorts, ", ")+"; with --by also "+strings.Join(groupSorts, " and ")+
		": the greatest first; pid and name: the smallest first; default: pid, or count")
	f.StringVar(&by, "by", "", "group the processes by: "+strings.Join(groupings, ", "))
	f.BoolVarP(&reverse, "reverse", "r", false, "reverse the order")
	f.IntVarP(&q.Limit, "limit", "l", 100, "most lines to print; a node lists 1000 at most")
	f.DurationVar(&q.Window, "rate", 0, "measure messages handled per second, and the growth of groups, over this time; at most 10s")
	f.StringVar(&state, "state", "", "only processes in this state: idle, scheduled, running or waiting")
	f.IntVar(&q.Mailbox, "mailbox", 0, "only processes with at least this many waiting messages")
	f.BoolVar(&q.Registered, "registered", false, "only processes with a registered name")
	cmd.RegisterFlagCompletionFunc("sort", completeOneOf(append(groupSorts, sorts...)...))
	cmd.RegisterFlagCompletionFunc("by", completeOneOf(groupings...))
	cmd.RegisterFlagCompletionFunc("state", completeOneOf("idle", "scheduled", "running", "waiting"))
	return c.command(env, status, cmd, func(ctx context.Context, s *session, args []string) error {
		q.Sort, q.Reverse, q.State, q.Text = node.Atom(sort), reverse, node.Atom(state), strings.Join(args, "")
		q.By = node.Atom(by)
		s.timeout += q.Window
		if (sort == "rate" || sort == "growth") && q.Window == 0 {
			s.timeout += time.Second
		}
		l, err := ask(ctx, s, func(ctx context.Context) (admin.Listing, error) { return admin.Processes(ctx, s.n, s.at, q) })
		if err != nil {
			return err
		}
		if q.By != "" && l.By != q.By {
			return fail(exitUnsupported, nil, "the release of %s does not know --by", s.at)
		}
		if s.json {
			return s.writeJSON(l)
		}
		rates, links := q.Window > 0 || sort == "rate" || sort == "growth", sort == "links" || sort == "monitors"
		if q.By != "" {
			return s.groups(l, rates, links)
		}
		return s.processes(l, rates, links)
	})
}

// processes prints a listing, with rates if they were measured.
func (s *session) processes(l admin.Listing, rates, links bool) error {
	columns, rows := processTable(l.Processes, s.at, rates, links)
	if err := s.table(columns, rows); err != nil {
		return err
	}
	if more := l.Matched - len(l.Processes); more > 0 {
		_, err := fmt.Fprintln(s.screen(), faintStyle.Render(fmt.Sprintf("and %s more of %s: see --limit, of which a node "+
			"allows 1,000 at most", countText(more), countText(l.Total))))
		return err
	}
	return nil
}

// processTable has one row for each process.
func processTable(all []admin.Process, at wire.Atom, rates, links bool) (columns []column, rows [][]string) {
	columns = []column{{title: "PID"}, {title: "NAME", gives: true}, {title: "STATE"}, {title: "MAILBOX", right: true},
		{title: "HANDLED", right: true}}
	if rates {
		columns = append(columns, column{title: "RATE", right: true})
	}
	if links {
		columns = append(columns, column{title: "LINKS", right: true}, column{title: "MONITORS", right: true})
	}
	columns = append(columns, column{title: "MEMORY", right: true}, column{title: "AGE", right: true})
	waits := slices.ContainsFunc(all, func(p admin.Process) bool { return waitText(p.Wait, at) != "" })
	if waits {
		columns = append(columns, column{title: "WAITS FOR"})
	}
	columns = append(columns, column{title: "BEHAVIOUR", gives: true})
	for _, p := range all {
		row := []string{shownAt(p.PID, at), nameStyle.Render(nameOf(p)), stateStyled(p.State), countText(p.Mailbox),
			countText(p.Handled)}
		if rates {
			row = append(row, rateText(p.Rate))
		}
		if links {
			row = append(row, countText(p.Links), countText(p.Monitors))
		}
		row = append(row, bytesText(p.Memory), spanText(p.Age))
		if waits {
			row = append(row, waitText(p.Wait, at))
		}
		rows = append(rows, append(row, p.Behaviour))
	}
	return columns, rows
}

// waitText describes what a process waits for other than a message: reply from 5.0.1z141z3, 2m3s.
func waitText(w admin.Wait, at wire.Atom) string {
	if w.For == "" || w.For == "message" {
		return ""
	}
	return waitedText(w, at) + ", " + spanText(w.Time)
}

// waitedText is waitText without the time.
func waitedText(w admin.Wait, at wire.Atom) string {
	text := string(w.For)
	switch on := onText(w, at); {
	case on == "":
	case w.For == "reply", w.For == "receipt":
		text += " from " + on
	case w.For == "space":
		text += " at " + on
	default:
		text += " of " + on
	}
	return text
}

// onText names the process that a process waits for.
func onText(w admin.Wait, at wire.Atom) string {
	switch {
	case !w.PID.IsZero():
		return shownAt(w.PID, at)
	case w.Name != "":
		return fmt.Sprintf("%s at %s", quotedName(w.Name), w.Node)
	}
	return string(w.Node)
}

// nameOf returns the name of a process, or else its label.
func nameOf(p admin.Process) string {
	if p.Name != "" || p.Label == "" {
		return string(p.Name)
	}
	return "(" + p.Label + ")"
}

func stateStyled(s node.Atom) string {
	switch s {
	case "running":
		return goodStyle.Render(string(s))
	case "scheduled":
		return warnStyle.Render(string(s))
	case "exiting", "dead", "stopped", "restarting":
		return badStyle.Render(string(s))
	}
	return string(s)
}

// rateText formats a rate per second.
func rateText(r float64) string {
	if r >= 100 || r == 0 {
		return countText(int(r))
	}
	return fmt.Sprintf("%.1f", r)
}

func infoCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "info PROCESS", Short: "Show the details of a process", Args: cobra.ExactArgs(1),
		Long:              "Shows everything that is known about a process.\n" + processRefHelp + "\n" + jsonHelp + "\n" + targetHelp,
		Example:           "  actornode info counter\n  actornode info 42.0.1z141z3",
		ValidArgsFunction: c.completeProcess(env, 0),
	}, func(ctx context.Context, s *session, args []string) error {
		w, d, err := onTarget(ctx, s, args[0], func(ctx context.Context, target any) (admin.Detail, error) {
			return admin.Info(ctx, s.n, s.at, target)
		})
		if err != nil {
			return missing(w, err)
		}
		if s.json {
			return s.writeJSON(d)
		}
		return s.fields(s.detailFields(d))
	})
}

// onTarget runs f for the process named by text.
func onTarget[T any](ctx context.Context, s *session, text string, f func(context.Context, any) (T, error)) (w processRef, v T,
	err error) {
	if w, err = parseProcessRef(text, s.at); err != nil {
		return w, v, err
	}
	target, err := s.target(ctx, w)
	if err != nil {
		return w, v, err
	}
	v, err = ask(ctx, s, func(ctx context.Context) (T, error) { return f(ctx, target) })
	return w, v, err
}

func (s *session) detailFields(d admin.Detail) [][2]string {
	trap := "no"
	if d.TrapExit {
		trap = "yes"
	}
	traced, owned := "", ""
	if d.Traced {
		traced = "yes"
	}
	if d.Owned {
		owned = "yes"
	}
	restarts := ""
	if d.Restarts > 0 {
		restarts = timesText(d.Restarts)
	}
	stage := "none"
	if d.Stage >= 0 {
		stage = fmt.Sprint(d.Stage)
	}
	return [][2]string{
		{"PID", s.shown(d.PID)}, {"Name", string(d.Name)}, {"Label", d.Label}, {"Behaviour", d.Behaviour}, {"Code", d.Code},
		{"Kind", d.Kind},
		{"State", stateStyled(d.State)}, {"Waits for", detailedWait(d.Wait, s.at)}, {"Activations", activationsText(d.Activations)},
		{"Stage", stage},
		{"Started", fmt.Sprintf("%s, %s ago", momentText(d.Started), spanText(d.Age))},
		{"Memory", bytesText(d.Memory)}, {"Handled", countText(d.Handled)},
		{"Restarted", restarts},
		{"Parent", s.pidText(d.Parent)}, {"Ancestry", s.ancestryText(d.Ancestry)}, {"Leader", s.pidText(d.Leader)},
		{"Traps exits", trap}, {"Traced", traced}, {"Owned", owned},
		{"Linked to", s.pidsText(d.Linked, d.Links)}, {"Monitored by", s.pidsText(d.Watchers, d.Monitored)},
		{"Monitors", strings.TrimSpace(strings.Join(d.Named, " ") + " " + s.pidsText(d.Watches, d.Watching-len(d.Named)))},
		{"Mailbox", countText(d.Mailbox)}, {"Bound", boundText(d.Bound)}, {"Callers", s.callersText(d.Callers)},
		{"Unhandled", unhandledText(d.Unhandled)}, {"Messages", s.messagesText(d)},
	}
}

// detailedWait is like waitText, but also covers a message.
func detailedWait(w admin.Wait, at wire.Atom) string {
	if w.For == "message" {
		return "message, " + spanText(w.Time)
	}
	return waitText(w, at)
}

// activationsText describes what the activations of active objects wait for.
func activationsText(a admin.Activations) string {
	if a == (admin.Activations{}) {
		return ""
	}
	var texts []string
	for _, k := range []struct {
		n    int
		what string
	}{{a.Future, "a future"}, {a.Condition, "a condition"}, {a.Turn, "their turn"}, {a.Asleep, "a time"}} {
		if k.n > 0 {
			texts = append(texts, countText(k.n)+" for "+k.what)
		}
	}
	return "waiting: " + strings.Join(texts, ", ") + "; the longest " + spanText(a.Time)
}

// callersText describes who waits for a reply of a process.
func (s *session) callersText(c admin.Callers) string {
	if c.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%s wait for a reply; the oldest, %s, for %s", countText(c.Count), s.shown(c.Oldest), spanText(c.Time))
}

// boundText describes what a bounded mailbox takes: 100 messages or 1.0 MiB, then refuse; lost: 20.
func boundText(b admin.Bound) string {
	var limits []string
	if b.Messages > 0 {
		limits = append(limits, countText(b.Messages)+" messages")
	}
	if b.Bytes > 0 {
		limits = append(limits, bytesText(b.Bytes))
	}
	if len(limits) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, then %s; lost: %s", strings.Join(limits, " or "), b.Policy, countText(b.Lost))
}

// unhandledText describes the messages that an Actor leaves in its mailbox.
func unhandledText(u admin.Unhandled) string {
	if u.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%s left in the mailbox; the oldest, a %s, for %s", countText(u.Count), u.Oldest, spanText(u.Time))
}

func (s *session) pidText(p wire.PID) string {
	if p.IsZero() {
		return ""
	}
	return s.shown(p)
}

// pidsText lists PIDs out of total, without duplicates, which occur for a process with several monitors.
func (s *session) pidsText(pids []wire.PID, total int) string {
	times := make(map[wire.PID]int)
	var each []wire.PID
	for _, p := range pids {
		if times[p]++; times[p] == 1 {
			each = append(each, p)
		}
	}
	var texts []string
	for _, p := range each {
		text := s.shown(p)
		if n := times[p]; n > 1 {
			text += " ×" + countText(n)
		}
		texts = append(texts, text)
	}
	text := strings.Join(texts, " ")
	if more := total - len(pids); more > 0 && len(pids) > 0 {
		text += fmt.Sprintf(" and %s more", countText(more))
	}
	return text
}

// ancestryText lists the names or PIDs of the ancestors of a process.
func (s *session) ancestryText(terms []any) string {
	var texts []string
	for _, t := range terms {
		if pid, ok := t.(wire.PID); ok {
			texts = append(texts, s.shown(pid))
		} else {
			texts = append(texts, shownTerm(t))
		}
	}
	return strings.Join(texts, " ")
}

// messagesText lists the waiting messages, one per line.
func (s *session) messagesText(d admin.Detail) string {
	var lines []string
	for _, m := range d.Messages {
		lines = append(lines, shownTerm(m))
	}
	if more := d.Mailbox - len(lines); more > 0 && len(lines) > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", countText(more)))
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", len("Monitored by")+2))
}

func registerCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "register NAME PROCESS", Short: "Register a name for a process", Args: cobra.ExactArgs(2),
		Long:    "Registers a process under a name. A process has at most one name.\n" + processRefHelp + "\n" + targetHelp,
		Example: "  actornode register worker 42.0.1z141z3",
	}, func(ctx context.Context, s *session, args []string) error {
		name, err := parseAtom(args[0])
		if err != nil {
			return err
		}
		w, pid, err := onTarget(ctx, s, args[1], func(ctx context.Context, target any) (wire.PID, error) {
			return admin.Register(ctx, s.n, s.at, name, target)
		})
		if err != nil {
			return missing(w, err)
		}
		return s.say(map[string]any{"name": name, "pid": pid}, "%s is %s", shownTerm(name), s.shown(pid))
	})
}

func unregisterCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	return c.command(env, status, &cobra.Command{
		Use: "unregister NAME", Short: "Unregister a name", Args: cobra.ExactArgs(1),
		Long: "Unregisters a name. The process keeps running.\n" + targetHelp, Example: "  actornode unregister worker",
		ValidArgsFunction: c.completeProcess(env, 0),
	}, func(ctx context.Context, s *session, args []string) error {
		name, err := parseAtom(args[0])
		if err != nil {
			return err
		}
		pid, err := ask(ctx, s, func(ctx context.Context) (wire.PID, error) { return admin.Unregister(ctx, s.n, s.at, name) })
		if err != nil {
			return missing(processRef{name: name, node: s.at}, err)
		}
		return s.say(map[string]any{"name": name, "pid": pid}, "%s is no longer %s", s.shown(pid), shownTerm(name))
	})
}
