package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/actornode/actornode/node/deadletter"
)

// census is the state of a soak's nodes at one moment, one value per row of the table. -1 means unknown on this system.
type census struct {
	rows    []soakRow
	letters [][2]any       // dead letters by cause, so far
	code    map[string]int // processes by their code
	names   []string
	got     soakCounts
}

// soakRow is a number that must be the same whenever nothing is in progress.
type soakRow struct {
	name  string
	n     int
	slack int  // allowed growth
	less  bool // it may also be less
	bytes bool
}

func (c census) row(name string) int {
	for _, r := range c.rows {
		if r.name == name {
			return r.n
		}
	}
	panic("no row " + name)
}

func (c census) goroutines() int { return c.row("goroutines") }

// look returns the part for judge.
func (c census) look() look {
	return look{rss: c.row("resident memory"), heap: c.row("heap in use"), goroutines: c.goroutines()}
}

// take makes a census of all permanent nodes. With memory set it runs the garbage collector first.
func (s *soakStand) take(memory bool) census {
	var c census
	var t struct {
		processes, lingering, names, aliases, links, monitors, groups, members, timers, calls, peers, queued, pool int
	}
	c.code = make(map[string]int)
	letters := make(map[deadletter.Cause]uint64)
	for _, n := range s.nodes {
		st := n.Stats()
		t.processes += st.Processes
		t.lingering += st.Lingering
		t.names += st.Names
		t.aliases += st.Aliases
		t.timers += st.Timers
		t.pool += st.Kept
		for i := range n.Infos() {
			t.links += len(i.Links)
			t.monitors += len(i.Watchers)
			t.calls += i.Calls
			t.queued += i.Mailbox
			c.code[fmt.Sprintf("%s on %s", i.Code, n.Name())]++
		}
		for _, p := range n.Peers() {
			t.peers++
			t.links += p.Links
			t.monitors += p.Monitors + p.Watchers
			t.calls += p.Calls
			t.queued += p.Frames
			c.names = append(c.names, fmt.Sprintf("connection of %s to %s", n.Name(), p.Name))
		}
		for _, name := range n.Registered() {
			c.names = append(c.names, fmt.Sprintf("name %s on %s", name, n.Name()))
		}
		if n.scope != nil {
			for _, g := range n.scope.Groups() {
				t.groups++
				t.members += len(n.scope.Members(g))
				c.names = append(c.names, fmt.Sprintf("group %v on %s", g, n.Name()))
			}
		}
		for cause, k := range n.Stats().DeadLetters {
			letters[cause] += k
		}
	}
	l := look{rss: -1, heap: -1}
	if memory {
		runtime.GC() // memory kept for one more collection is freed by the next, in lookNow
		l = lookNow()
	}
	exact := func(name string, n int) { c.rows = append(c.rows, soakRow{name: name, n: n}) }
	exact("goroutines", runtime.NumGoroutine()-t.pool)
	c.rows = append(c.rows,
		soakRow{name: "heap in use", n: l.heap, slack: s.p.Int("heap") << 20, less: true, bytes: true},
		soakRow{name: "resident memory", n: l.rss, slack: s.p.Int("grow") << 20, less: true, bytes: true})
	exact("open files", openFiles())
	exact("processes", t.processes)
	exact("processes killed whose function runs", t.lingering)
	exact("messages that wait", t.queued)
	exact("names", t.names)
	exact("aliases", t.aliases)
	exact("links", t.links)
	exact("monitors", t.monitors)
	exact("groups", t.groups)
	exact("members of groups", t.members)
	exact("timers", t.timers)
	exact("calls waiting", t.calls)
	exact("peers", t.peers)
	for _, cause := range deadletter.Causes() {
		n := int(letters[cause])
		switch cause {
		case deadletter.NotATerm, deadletter.Unreadable, deadletter.MailboxFull, deadletter.NodeStopped:
			exact("dead letters "+cause.String(), n) // nothing in the soak causes one
		default:
			c.letters = append(c.letters, [2]any{cause, n})
		}
	}
	return c
}

// openFiles counts the open files of this OS process, or returns -1 if unknown.
func openFiles() int {
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(d) - 1 // the directory itself
}

// against describes the differences from was, or returns "".
func (c census) against(was census) string {
	var wrong []string
	for i, r := range c.rows {
		b := was.rows[i].n
		if r.n < 0 || b < 0 || r.n == b || r.n > b && r.n-b <= r.slack || r.n < b && r.less {
			continue
		}
		by := fmt.Sprintf("%+d", r.n-b)
		if r.bytes {
			by = fmt.Sprintf("%+.1f MiB, at most %d MiB are allowed", float64(r.n-b)/(1<<20), r.slack>>20)
		}
		wrong = append(wrong, fmt.Sprintf("%s: %s at the start, %s at the end (%s)", r.name, was.rows[i], r, by))
	}
	if wrong == nil {
		return ""
	}
	return strings.Join(append(wrong, c.new(was)...), "\n\t")
}

// String formats the number of the row for the table.
func (r soakRow) String() string {
	switch {
	case r.n < 0:
		return "-"
	case r.bytes:
		return fmt.Sprintf("%.1f MiB", float64(r.n)/(1<<20))
	}
	return fmt.Sprint(r.n)
}

// mostNew is the maximum number of new names shown in a failure.
const mostNew = 10

// new lists the names that appeared and disappeared since was.
func (c census) new(was census) (all []string) {
	for _, code := range sortedKeys(c.code, was.code) {
		if d := c.code[code] - was.code[code]; d != 0 {
			all = append(all, fmt.Sprintf("%+d processes: %s", d, code))
		}
	}
	for _, name := range c.names {
		if !slices.Contains(was.names, name) {
			all = append(all, "new: "+name)
		}
	}
	for _, name := range was.names {
		if !slices.Contains(c.names, name) {
			all = append(all, "gone: "+name)
		}
	}
	if left := len(all) - mostNew; left > 0 {
		all = append(all[:mostNew], fmt.Sprintf("and %d more", left))
	}
	return all
}

func sortedKeys(maps ...map[string]int) (keys []string) {
	for _, m := range maps {
		for k := range m {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// print writes the table.
func (c census) print(out io.Writer, was census) {
	fmt.Fprintf(out, "%-40s %14s %14s\n", "", "at the start", "at the end")
	for i, r := range c.rows {
		fmt.Fprintf(out, "%-40s %14s %14s\n", r.name, was.rows[i], r)
	}
	for i, l := range c.letters {
		fmt.Fprintf(out, "%-40s %14d %14d\n", fmt.Sprintf("(dead letters %v)", l[0]), was.letters[i][1], l[1])
	}
}

// profile writes a heap profile, if requested.
func (s *soakStand) profile(suffix string) error {
	if s.p.Word("profile") == "" {
		return nil
	}
	f, err := os.Create(s.p.Word("profile") + suffix)
	if err != nil {
		return err
	}
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}

// stacks writes the stacks of all goroutines, to find leaked ones.
func stacks(out io.Writer) { pprof.Lookup("goroutine").WriteTo(out, 1) }
