package node_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// The scripts in testdata/failure say what processes do to each other, and what
// comes of it. A line is a command; each has its full effect before the next.
//
//	spawn NAME...               processes that do what they are told
//	register A NAME             and unregister NAME
//	whereis NAME                recorded
//	links A                     recorded
//	do A COMMAND; COMMAND...    A does all of this in one go, any of:
//	    trap                    and untrap
//	    link B                  and unlink B
//	    monitor B as REF        and monitorname NAME as REF
//	    demonitor REF [flush]   recorded
//	    send B TERM
//	    signal B TERM           exit(B, TERM)
//	    exit TERM               exit(TERM)
//	link A B                    short for: do A link B; so for all of them
//
// A title "== TITLE" begins a script, "----" ends it. Below that stands what was
// recorded, and how each process has ended or what is in its mailbox. A line
// that begins with # is a comment. TestFailureOTP checks that this is what OTP
// gives: see package erltest.

// casts are the ways to write and run a process; they cannot be told apart from outside.
var casts = []struct {
	name  string
	spawn func(n *node.Node, p *scripted) (node.PID, error)
}{
	{"Actor", func(n *node.Node, p *scripted) (node.PID, error) { return n.Spawn(p) }},
	{"Process", func(n *node.Node, p *scripted) (node.PID, error) { return n.Spawn(node.ProcessFunc(p.run)) }},
	{"Coroutine", func(n *node.Node, p *scripted) (node.PID, error) {
		return n.SpawnOpt(node.Options{Coroutine: true}, node.ProcessFunc(p.run))
	}},
	{"Detached", func(n *node.Node, p *scripted) (node.PID, error) {
		return n.SpawnOpt(node.Options{Place: node.Detached()}, p)
	}},
}

func TestFailure(t *testing.T) {
	for _, f := range erltest.Files(t, "testdata/failure/*.txt") {
		for _, style := range casts {
			t.Run(f.Name+"/"+style.name, func(t *testing.T) {
				for _, s := range f.Scripts {
					s.Play(t, s.Title, func(t *testing.T, lines []string) string { return newScriptRun(t, style.spawn).play(lines) })
				}
			})
		}
	}
}

// scriptRun plays one script on one node. The test touches its fields between the steps, and so does the one process
// that a step moves.
type scriptRun struct {
	t     *testing.T
	n     *node.Node
	spawn func(*node.Node, *scripted) (node.PID, error)
	watch *node.Process // monitors all scripted processes
	order []*scripted
	refs  map[node.Ref]string
	log   []string
}

// scripted is a process of a script: it takes orders out of its mailbox, and nothing else until it is told to empty it.
type scripted struct {
	*scriptRun
	name string
	pid  node.PID
	got  []any
}

// act is what a scripted process does in one go; empty tells it to empty its mailbox.
type (
	act   []string
	empty struct{}
)

// doer is what both casts can do.
type doer interface {
	Self() node.PID
	Send(node.Dest, any) error
	Link(node.Dest)
	Unlink(node.Dest)
	Monitor(node.Dest) node.Ref
	demonitors
	TrapExit(bool) bool
	Exit(node.Dest, any)
}

func newScriptRun(t *testing.T, spawn func(*node.Node, *scripted) (node.PID, error)) *scriptRun {
	n := nodetest.Start(t, node.Config{Workers: 2, StopTimeout: testkit.Limit})
	watch := nodetest.NewProbe(t, n)
	return &scriptRun{t: t, n: n, spawn: spawn, watch: watch.Process, refs: make(map[node.Ref]string)}
}

// Receive makes a scripted process an Actor.
func (p *scripted) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case act:
		return p.do(c, m)
	case empty:
		c.Become(node.ActorFunc(func(_ *node.Context, msg any) error {
			p.got = append(p.got, msg)
			return nil
		}))
		return nil
	}
	return node.ErrUnhandled
}

// run makes a scripted process a Process.
func (p *scripted) run(s *node.Process) error {
	for {
		m := s.ReceiveMatch(func(m any) bool {
			switch m.(type) {
			case act, empty:
				return true
			}
			return false
		})
		if a, ok := m.(act); ok {
			if err := p.do(s, a); err != nil {
				return err
			}
			continue
		}
		for m, err := s.ReceiveWithin(0, nil); err == nil; m, err = s.ReceiveWithin(0, nil) {
			p.got = append(p.got, m)
		}
	}
}

func (p *scripted) do(d doer, a act) error {
	for _, command := range a {
		verb, args, _ := strings.Cut(strings.TrimSpace(command), " ")
		who, rest, _ := strings.Cut(args, " ")
		ref := strings.TrimPrefix(rest, "as ")
		switch verb {
		case "trap", "untrap":
			d.TrapExit(verb == "trap")
		case "link":
			d.Link(p.who(who))
		case "unlink":
			d.Unlink(p.who(who))
		case "monitor":
			p.refs[d.Monitor(p.who(who))] = ref
		case "monitorname":
			p.refs[d.Monitor(node.Atom(who))] = ref
		case "demonitor":
			for r, name := range p.refs {
				if name == who {
					p.record(command, demonitor(d, r, rest == "flush"))
				}
			}
		case "send":
			_ = d.Send(p.who(who), p.term(rest)) // returns an error if the process is dead: some scripts want that
		case "signal":
			d.Exit(p.who(who), p.term(rest))
		case "exit":
			return node.ExitWith(p.term(args))
		default:
			p.t.Errorf("no such command: %s", command)
		}
	}
	return nil
}

// play plays a script and returns what was recorded.
func (th *scriptRun) play(script []string) string {
	for _, line := range script {
		th.step(line)
		synctest.Wait()
	}
	for _, p := range th.order {
		_ = th.n.Send(p.pid, empty{})
	}
	synctest.Wait()

	ends := make(map[node.PID]any)
	for {
		m, err := th.watch.ReceiveWithin(0, nil)
		if err != nil {
			break
		}
		d := m.(node.Down)
		ends[d.PID] = d.Reason
	}
	out := th.log
	for _, p := range th.order {
		if reason, ok := ends[p.pid]; ok {
			out = append(out, p.name+": exit "+th.show(reason))
			continue
		}
		out = append(out, p.name+": alive")
		for _, m := range p.got {
			out = append(out, "  "+th.show(m))
		}
	}
	return strings.Join(out, "\n")
}

func (th *scriptRun) step(line string) {
	verb, args, _ := strings.Cut(line, " ")
	words := strings.Fields(args)
	switch verb {
	case "spawn":
		for _, name := range words {
			p := &scripted{scriptRun: th, name: name}
			th.order = append(th.order, p)
			pid, err := th.spawn(th.n, p)
			require.NoError(th.t, err)
			p.pid = pid
			th.watch.Monitor(pid)
		}
	case "register":
		require.NoError(th.t, th.n.Register(node.Atom(words[1]), th.who(words[0])))
	case "unregister":
		require.NoError(th.t, th.n.Unregister(node.Atom(words[0])))
	case "whereis":
		if pid, ok := th.n.Whereis(node.Atom(words[0])); ok {
			th.record(line, pid)
		} else {
			th.record(line, wire.AtomUndefined)
		}
	case "links":
		info, err := th.n.Info(th.who(words[0]))
		if err != nil {
			th.record(line, wire.AtomUndefined)
			break
		}
		links := wire.List{}
		for _, pid := range info.Links {
			links = append(links, th.shown(pid))
		}
		slices.SortFunc(links, func(a, b any) int { return cmp.Compare(a.(wire.Atom), b.(wire.Atom)) })
		th.record(line, links)
	case "do":
		who, commands, _ := strings.Cut(args, " ")
		_ = th.n.Send(th.who(who), act(strings.Split(commands, ";")))
	default:
		who, rest, _ := strings.Cut(args, " ")
		_ = th.n.Send(th.who(who), act{verb + " " + rest})
	}
}

func (th *scriptRun) record(command string, result any) {
	command = strings.TrimSpace(command)
	th.log = append(th.log, command+" -> "+th.show(result))
}

func (th *scriptRun) who(name string) node.PID {
	for _, p := range th.order {
		if p.name == name {
			return p.pid
		}
	}
	th.t.Errorf("no process is called %q", name)
	return node.PID{}
}

func (th *scriptRun) term(text string) any {
	term, err := wire.Parse(text)
	if err != nil {
		th.t.Errorf("%q: %v", text, err)
	}
	return term
}

func (th *scriptRun) show(term any) string { return wire.Format(th.shown(term)) }

// shown replaces identifiers with names.
func (th *scriptRun) shown(term any) any {
	switch v := term.(type) {
	case node.PID:
		for _, p := range th.order {
			if p.pid == v {
				return wire.Atom(p.name)
			}
		}
	case node.Ref:
		return wire.Atom(th.refs[v])
	case node.Exited:
		return wire.Tuple{wire.Atom("EXIT"), th.shown(v.From), v.Reason}
	case node.Down:
		var object any = wire.Tuple{v.Name, wire.Atom("node")}
		if v.Name == "" {
			object = th.shown(v.PID)
		} else if v.Node != th.n.Name() {
			th.t.Errorf("a DOWN of node %s", v.Node)
		}
		return wire.Tuple{wire.Atom("DOWN"), th.shown(v.Ref), wire.Atom("process"), object, v.Reason}
	}
	return term
}

// TestFailureOTP plays the scripts of TestFailure on a real Erlang node: what
// they expect must be what Erlang does.
func TestFailureOTP(t *testing.T) {
	erltest.Judge(t, "testdata/failure.erl", "testdata/failure/*.txt")
}
