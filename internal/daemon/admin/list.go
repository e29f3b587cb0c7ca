package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

const (
	defaultWindow = time.Second
	maxWindow     = 10 * time.Second
)

// orders maps the sort keys of processes to functions that compare in the order of display.
var orders = map[node.Atom]func(a, b *Process) int{
	"mailbox":  func(a, b *Process) int { return cmp.Compare(b.Mailbox, a.Mailbox) },
	"handled":  func(a, b *Process) int { return cmp.Compare(b.Handled, a.Handled) },
	"rate":     func(a, b *Process) int { return cmp.Compare(b.Rate, a.Rate) },
	"memory":   func(a, b *Process) int { return cmp.Compare(b.Memory, a.Memory) },
	"age":      func(a, b *Process) int { return cmp.Compare(b.Age, a.Age) },
	"links":    func(a, b *Process) int { return cmp.Compare(b.Links+b.Monitors, a.Links+a.Monitors) },
	"monitors": func(a, b *Process) int { return cmp.Compare(b.Monitors, a.Monitors) },
	"wait":     func(a, b *Process) int { return cmp.Compare(b.Wait.long(), a.Wait.long()) },
	"pid":      func(*Process, *Process) int { return 0 },
	"name": func(a, b *Process) int {
		if (a.Name == "") != (b.Name == "") { // processes without a name come last
			return cmp.Compare(b.Name, a.Name)
		}
		return cmp.Compare(a.Name, b.Name)
	},
}

// validate sets the defaults and checks the other values.
func (q *Query) validate() error {
	if q.Sort == "" {
		q.Sort = "pid"
	}
	if q.By != "" {
		if err := q.validateGroups(); err != nil {
			return err
		}
	} else if orders[q.Sort] == nil {
		return fmt.Errorf("%w: ps: sort %s: want mailbox, handled, rate, memory, age, links, monitors, wait, pid or name",
			ErrBadRequest, q.Sort)
	}
	if q.Sort == "rate" && q.Window == 0 {
		q.Window = defaultWindow
	}
	if q.Limit < 0 || q.Mailbox < 0 || q.Window < 0 || q.Window > maxWindow {
		return fmt.Errorf("%w: ps: limit and mailbox must not be negative, and window must be 0 to %d ms", ErrBadRequest,
			maxWindow.Milliseconds())
	}
	if s := q.State; s != "" && !slices.Contains([]node.Atom{"idle", "scheduled", "running", "waiting", "exiting"}, s) {
		return fmt.Errorf("%w: ps: state %s: want idle, scheduled, running, waiting or exiting", ErrBadRequest, s)
	}
	q.Text = strings.ToLower(q.Text)
	return nil
}

// matches reports whether q selects a process.
func (q *Query) matches(p *Process, i *observe.Process) bool {
	switch {
	case q.State != "" && p.State != q.State, p.Mailbox < q.Mailbox, q.Registered && p.Name == "":
		return false
	case q.Text == "":
		return true
	}
	for _, s := range []string{string(p.Name), p.Label, p.Behaviour, i.Code, p.PID.String()} {
		if strings.Contains(strings.ToLower(s), q.Text) {
			return true
		}
	}
	return false
}

// processes makes a Listing. Even on a node with a million processes it holds at most twice as many as it returns.
func (q *request) processes() (any, error) {
	var ask Query
	if err := q.options(&ask); err != nil {
		return nil, err
	}
	if err := ask.validate(); err != nil {
		return nil, err
	}
	if ask.By != "" {
		return q.grouped(&ask)
	}
	before, err := q.handled(ask.Window)
	if err != nil {
		return nil, err
	}
	most := q.s.limit(ask.Limit)
	order := ask.order()
	l := Listing{Processes: []Process{}}
	for i := range q.n.Infos() {
		l.Total++
		p := lineOf(&i)
		if ask.Window > 0 {
			if was, ok := before[i.PID.Number()]; ok {
				p.Rate = float64(i.Handled-min(was, i.Handled)) / ask.Window.Seconds()
			}
		}
		if !ask.matches(&p, &i) {
			continue
		}
		l.Matched++
		if l.Processes = append(l.Processes, p); len(l.Processes) >= 2*most {
			slices.SortFunc(l.Processes, order)
			l.Processes = l.Processes[:most]
		}
	}
	slices.SortFunc(l.Processes, order)
	l.Processes = l.Processes[:min(most, len(l.Processes))]
	return toTerm(l)
}

// order compares in the order of display; ties go by PID.
func (q *Query) order() func(a, b Process) int {
	by := orders[q.Sort]
	return func(a, b Process) int {
		d := cmp.Or(by(&a, &b), wire.Compare(a.PID, b.PID))
		if q.Reverse {
			return -d
		}
		return d
	}
}

// handled records how many messages each process has handled, and returns at the end of the window.
func (q *request) handled(window time.Duration) (map[uint64]uint64, error) {
	if window == 0 {
		return nil, nil
	}
	before := make(map[uint64]uint64)
	for i := range q.n.Infos() {
		before[i.PID.Number()] = i.Handled
	}
	return before, q.pause(window)
}

// lineOf returns the line of a listing for a process.
func lineOf(i *observe.Process) Process {
	return Process{
		PID: i.PID, Name: i.Name, Label: i.Label, Behaviour: i.Behaviour, State: node.Atom(i.State),
		Mailbox: i.Mailbox, Handled: i.Handled, Memory: procview.Bytes(i), Stage: i.Stage, Links: len(i.Links),
		Monitors: len(i.Monitors) + len(i.Watchers),
		Age:      max(time.Since(i.Started), 0), Wait: waitOf(&i.Wait),
	}
}

// waitOf converts a wait for a listing.
func waitOf(i *observe.Wait) Wait {
	w := Wait{For: node.Atom(i.For)}
	if w.For != "" {
		w.Time = max(time.Since(i.Since), 0)
	}
	switch on := i.On.(type) {
	case node.PID:
		w.PID = on
	case node.At:
		w.Name, w.Node = on.Name, on.Node
	}
	return w
}

// activationsOf converts activations for a detail.
func activationsOf(i *observe.Activations) Activations {
	if i.Since.IsZero() {
		return Activations{}
	}
	return Activations{i.Future, i.Condition, i.Turn, i.Asleep, max(time.Since(i.Since), 0)}
}

// unhandledOf converts unhandled messages for a detail.
func unhandledOf(i *observe.Unhandled) Unhandled {
	if i.Count == 0 {
		return Unhandled{}
	}
	return Unhandled{i.Count, i.Oldest, max(time.Since(i.Since), 0)}
}

// long returns how long a process has waited for something other than a message, or 0.
func (w *Wait) long() time.Duration {
	if w.For == "message" {
		return 0
	}
	return w.Time
}

// info makes the Detail.
func (q *request) info() (any, error) {
	pid, err := q.target(0)
	if err != nil {
		return nil, err
	}
	i, err := q.n.Info(pid)
	if err != nil {
		return nil, err
	}
	run := procview.ProgramOf(&i)
	most := q.s.cfg.Limit
	d := Detail{
		Process: lineOf(&i), Code: i.Code, Initial: call(run.Initial), Current: call(run.Current), Kind: string(run.Kind),
		TrapExit: i.TrapExit, Monitored: len(i.Watchers), Watching: len(i.Monitors) + len(i.Named),
		Linked: first(i.Links, most), Watchers: first(i.Watchers, most), Watches: first(i.Monitors, most),
		Named:  namedTexts(i.Named[:min(len(i.Named), most)]),
		Parent: i.Parent, Leader: i.Leader, Started: Time{i.Started}, Traced: i.Traced, Messages: []any{},
		Ancestry: procview.Ancestors(q.n, i), Activations: activationsOf(&i.Activations), Unhandled: unhandledOf(&i.Unhandled),
		Owned: i.Owned, Bound: Bound(i.Bound), Restarts: q.restarts(&i), Callers: q.callers(&i),
	}
	for _, m := range q.n.Inside(process.Key{}).Messages(pid, min(most, shownMessages)) {
		d.Messages = append(d.Messages, cut(m, defaultSize))
	}
	return toTerm(d)
}

// callers finds who waits for a reply of a process.
func (q *request) callers(i *observe.Process) (c Callers) {
	if i.Calls == 0 {
		return c // to look at all processes takes long
	}
	for p := range q.n.Infos() {
		if p.Wait.For != "reply" || p.Wait.On != node.Dest(i.PID) {
			continue
		}
		if d := max(time.Since(p.Wait.Since), 0); c.Count == 0 || d > c.Time {
			c.Oldest, c.Time = p.PID, d
		}
		c.Count++
	}
	return c
}

// shownMessages is the maximum number of messages shown of a mailbox.
const shownMessages = 20

// call formats {Module, Function, Arity} as in Erlang.
func call(t wire.Tuple) string {
	if len(t) != 3 {
		return ""
	}
	return wire.Format(t[0]) + ":" + wire.Format(t[1]) + "/" + wire.Format(t[2])
}

// first cuts a list to most elements. It never returns nil: an empty list is [].
func first(l []node.PID, most int) []node.PID {
	return append([]node.PID{}, l[:min(len(l), most)]...)
}

func namedTexts(l []node.At) []string {
	texts := make([]string, len(l))
	for i, at := range l {
		texts[i] = wire.Format(wire.Tuple{at.Name, at.Node})
	}
	return texts
}

// toTerm converts v for the wire.
func toTerm(v any) (any, error) {
	t, err := etf.ToTerm(v)
	if err != nil {
		return nil, fmt.Errorf("admin: cannot answer: %w", err)
	}
	return t, nil
}
