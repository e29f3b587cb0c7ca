package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
)

// finding is something that seems to be wrong with a node.
type finding struct {
	Name     string    `json:"name"`     // deadlock, no-reply, …: see docs/operations.md
	Severity string    `json:"severity"` // critical, warning, info
	Node     node.Atom `json:"node"`
	Evidence string    `json:"evidence"` // what was seen
	Look     string    `json:"look"`     // the command that shows more
}

// severities are the severities in the order of display.
var severities = map[string]int{"critical": 0, "warning": 1, "info": 2}

// From which values on doctor has a finding. Rates are for each second.
const (
	longMailbox    = 1000             // messages
	lateReply      = 10 * time.Second // since a call began
	leakedGrowth   = 50               // more processes, monitors or goroutines each second
	manyMonitors   = 10_000           // of one process
	hotRate        = 10_000           // messages of one process each second
	hotShare       = 0.5              // of the messages of the node
	slowTurns      = 5                // handlers that take too long, each second
	lettersRate    = 10               // dead letters each second
	busyShare      = 0.8              // of the processors
	memoryGrowth   = 64 << 20         // bytes during the window
	memoryIncrease = 1.2              // of what there was
)

// findings are those of one node, without deadlocks.
func (c *chart) findings() (all []finding) {
	for _, rule := range []func(*chart) []finding{
		(*chart).notReady, (*chart).peers, (*chart).crashLoops, (*chart).processLeaks, (*chart).noReply, (*chart).slowHandlers,
		(*chart).fullMailboxes, (*chart).longMailboxes, (*chart).monitorLeaks, (*chart).deadLetters, (*chart).growth,
		(*chart).cpuBurn, (*chart).hotNames,
	} {
		all = append(all, rule(c)...)
	}
	return all
}

// found makes a finding. look is a command line without the program and --node.
func (c *chart) found(severity, name, look, format string, args ...any) []finding {
	return []finding{{name, severity, c.node, fmt.Sprintf(format, args...), lookAt(c.node, look)}}
}

func lookAt(at node.Atom, command string) string {
	return fmt.Sprintf("actornode %s --node %s", command, at)
}

// perSecond returns a count in the window for each second.
func (c *chart) perSecond(n float64) float64 { return n / c.window.Seconds() }

// who names a process: by its name, and its PID and behaviour.
func (c *chart) who(p admin.Process) string {
	return cmp.Or(nameOf(p), "a process") + " (" + shownAt(p.PID, c.node) + ", " + p.Behaviour + ")"
}

// ref is how a command line names a process.
func (c *chart) ref(p admin.Process) string {
	if p.Name != "" {
		return quotedName(p.Name)
	}
	return shownAt(p.PID, c.node)
}

// deadlocks are the cycles of waits, which may be over several nodes.
func deadlocks(w admin.Waits) (all []finding) {
	for i := 0; i < len(w.Waits); {
		var names []string
		first, least := w.Waits[i], w.Waits[i].Wait.Time
		away := false
		for ; i < len(w.Waits) && w.Waits[i].Cycle == first.Cycle; i++ {
			m := w.Waits[i]
			names = append(names, cmp.Or(string(m.Name), m.Label, m.Behaviour)+" ("+shownAt(m.PID, first.PID.Node())+")")
			least, away = min(least, m.Wait.Time), away || m.PID.Node() != first.PID.Node()
		}
		look := "waits --cycles"
		if away {
			look += " --all"
		}
		all = append(all, finding{"deadlock", "critical", first.PID.Node(), fmt.Sprintf("%s → %s wait for each other since %s",
			strings.Join(names, " → "), cmp.Or(string(first.Name), "the first"), spanText(least)), lookAt(first.PID.Node(), look)})
	}
	return all
}

func (c *chart) notReady() []finding {
	if c.after.Ready {
		return nil
	}
	return c.found("critical", "not-ready", "status", "the node is not ready: %s", c.after.NotReady)
}

func (c *chart) peers() (all []finding) {
	held := make(map[node.Atom]bool)
	for _, p := range c.before.Peers {
		held[p.Name] = p.Held
	}
	for _, p := range c.after.Peers {
		switch {
		case p.State == "up" && p.Held && held[p.Name]:
			all = append(all, c.found("critical", "frozen-peer", "nodes", "%s takes too little: %s wait for it, and so do the senders",
				p.Name, bytesText(p.Queue))...)
		case p.State == "lost", p.State != "up" && p.Wanted:
			all = append(all, c.found("warning", "lost-peer", "nodes", "%s is not connected since %s: %s", p.Name, momentText(p.Since),
				cmp.Or(p.Failure, "no reason known"))...)
		}
	}
	return all
}

// restarts maps the children of a forest that have been restarted to how often, by their paths.
func restarts(l []admin.Branch, path string, into map[string]int) map[string]int {
	for _, b := range l {
		at := path + "/" + cmp.Or(b.ID, string(b.Name), b.Behaviour)
		into[at] += b.Restarts
		restarts(b.Children, at, into)
	}
	return into
}

func (c *chart) crashLoops() (all []finding) {
	before := restarts(c.treeBefore.Trees, "", make(map[string]int))
	after := restarts(c.treeAfter.Trees, "", make(map[string]int))
	for _, path := range slices.Sorted(maps.Keys(after)) {
		was, known := before[path]
		if n := after[path] - was; known && n > 0 {
			all = append(all, c.found("critical", "crash-loop", "tree", "%s was restarted %s in %s, %s in all", path[1:], timesText(n),
				spanText(c.window), timesText(after[path]))...)
		}
	}
	return all
}

func (c *chart) processLeaks() (all []finding) {
	for _, g := range c.byBehaviour.Groups {
		if c.perSecond(float64(g.Growth)) < leakedGrowth {
			continue
		}
		by := ""
		if p := c.byParent.Groups; len(p) > 0 && 2*p[0].Growth >= g.Growth {
			by = "; most are spawned from outside of processes"
			if !p[0].Parent.IsZero() {
				by = fmt.Sprintf("; %+d by %s (%s)", p[0].Growth, cmp.Or(p[0].Key, "a process that is gone"), shownAt(p[0].Parent, c.node))
			}
		}
		all = append(all, c.found("warning", "process-leak", "ps --by parent --sort growth --rate 5s",
			"%s: %s processes, %+d in %s%s", g.Key, countText(g.Count), g.Growth, spanText(c.window), by)...)
	}
	return all
}

// noReply finds processes whose callers wait for long, such as a port whose program hangs.
func (c *chart) noReply() (all []finding) {
	type server struct {
		first admin.Waiting
		count int
	}
	servers := make(map[string]*server)
	for _, w := range c.waits.Waits { // the longest first
		if w.Wait.For != "reply" || w.Wait.Time < lateReply || w.Cycle > 0 {
			continue
		}
		on := cmp.Or(onText(w.Wait, c.node), "a process")
		if servers[on] == nil {
			servers[on] = &server{first: w}
		}
		servers[on].count++
	}
	for _, on := range slices.Sorted(maps.Keys(servers)) {
		s := servers[on]
		who, look := on, "waits"
		if s.first.OnName != "" {
			who = string(s.first.OnName) + " (" + on + ")"
		}
		if s.first.Wait.PID.Node() == c.node {
			look = "stack " + on
		}
		all = append(all, c.found("warning", "no-reply", look, "%s does not reply: %s wait for it, the oldest, %s, for %s", who,
			countText(s.count), shownAt(s.first.PID, c.node), spanText(s.first.Wait.Time))...)
	}
	return all
}

func (c *chart) slowHandlers() (all []finding) {
	for _, p := range c.running.Processes {
		if p.Rate == 0 && p.State == "running" && p.Age > c.window {
			all = append(all, c.found("warning", "slow-handler", "stack "+c.ref(p), "%s has handled no message in %s; %s wait", c.who(p),
				spanText(c.window), countText(p.Mailbox))...)
		}
	}
	n := c.after.BlockedTurns - min(c.before.BlockedTurns, c.after.BlockedTurns)
	if all == nil && c.perSecond(float64(n)) >= slowTurns {
		all = c.found("warning", "slow-handler", "ps --sort mailbox", "%s handlers took too long in %s: the log has their stacks",
			countText(n), spanText(c.window))
	}
	return all
}

// full reports whether a mailbox is full of messages.
func full(p admin.Process, b admin.Bound) bool { return b.Messages > 0 && p.Mailbox >= b.Messages }

func (c *chart) fullMailboxes() (all []finding) {
	for _, p := range c.longest.Processes {
		if b := c.bounds[p.PID]; full(p, b) {
			all = append(all, c.found("warning", "full-mailbox", "info "+c.ref(p), "the mailbox of %s is full: %s", c.who(p),
				boundText(b))...)
		}
	}
	return all
}

func (c *chart) longMailboxes() (all []finding) {
	for _, p := range c.longest.Processes {
		if p.Mailbox >= longMailbox && !full(p, c.bounds[p.PID]) {
			all = append(all, c.found("warning", "long-mailbox", "info "+c.ref(p), "%s messages wait for %s, which is %s",
				countText(p.Mailbox), c.who(p), p.State)...)
		}
	}
	return all
}

func (c *chart) monitorLeaks() (all []finding) {
	before := make(map[node.PID]int)
	for _, p := range c.watchedBefore.Processes {
		before[p.PID] = p.Monitors
	}
	for _, p := range c.watchedNow.Processes {
		was, known := before[p.PID]
		n := p.Monitors - was
		if p.Monitors >= manyMonitors || known && c.perSecond(float64(n)) >= leakedGrowth {
			all = append(all, c.found("warning", "monitor-leak", "info "+c.ref(p), "%s has %s monitors, %+d in %s", c.who(p),
				countText(p.Monitors), n, spanText(c.window))...)
		}
	}
	return all
}

func (c *chart) deadLetters() (all []finding) {
	for _, cause := range slices.Sorted(maps.Keys(c.after.DeadLetters)) {
		n := c.after.DeadLetters[cause] - min(c.before.DeadLetters[cause], c.after.DeadLetters[cause])
		if c.perSecond(float64(n)) >= lettersRate {
			all = append(all, c.found("warning", "dead-letters", "deadletters --follow --cause "+string(cause),
				"%s messages were lost in %s: %s", countText(n), spanText(c.window), cause)...)
		}
	}
	return all
}

// growth finds goroutines and memory that grow.
func (c *chart) growth() (all []finding) {
	n := c.after.Goroutines - c.before.Goroutines
	started := c.after.Processes - c.before.Processes // many have a goroutine
	if c.perSecond(float64(n)) >= leakedGrowth && n > started {
		all = c.found("warning", "goroutine-leak", "profile goroutine", "%s goroutines, %+d in %s", countText(c.after.Goroutines), n,
			spanText(c.window))
	}
	was, is := c.before.Memory.Total, c.after.Memory.Total
	if is-was >= memoryGrowth && float64(is) >= memoryIncrease*float64(was) {
		all = append(all, c.found("warning", "memory-growth", "profile heap", "%s of memory, %s more in %s", bytesText(is),
			bytesText(is-was), spanText(c.window))...)
	}
	return all
}

// handledRate returns how many messages the node handles each second.
func (c *chart) handledRate() float64 {
	return c.perSecond(float64(c.after.Handled - min(c.before.Handled, c.after.Handled)))
}

func (c *chart) cpuBurn() []finding {
	if c.cpu == nil || c.cpu.Took <= 0 {
		return nil
	}
	busy := float64(c.cpu.Total) / float64(c.cpu.Took)
	if busy < busyShare*float64(c.after.CPUs) {
		return nil
	}
	var most []string
	for _, r := range c.cpu.Top {
		most = append(most, strings.TrimSpace(shareText(r.Value, c.cpu.Total)+" "+r.Code+" "+strings.Join(r.Names, " ")))
	}
	return c.found("warning", "cpu", "profile cpu", "%.1f of %d processors are busy, with %s messages a second: %s", busy,
		c.after.CPUs, rateText(c.handledRate()), strings.Join(most, ", "))
}

func (c *chart) hotNames() (all []finding) {
	total := c.handledRate()
	for _, p := range c.busiest.Processes {
		if p.Rate >= hotRate && p.Rate >= hotShare*total {
			all = append(all, c.found("info", "hot-process", "ps --sort rate --rate 5s", "%s handles %s messages a second, of %s",
				c.who(p), rateText(p.Rate), rateText(max(total, p.Rate)))...)
		}
	}
	return all
}
