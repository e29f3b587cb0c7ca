package statem_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// plain writes terms without a guess at what is text.
var plain = wire.Formatter{Plain: true}

// The scripts in testdata/machine say what a machine with the states a, b, c and d does, and record the results. Lines
// with a colon are its rules:
//
//	init: OPERATION; OPERATION...            next is the state to start in
//	STATE TYPE CONTENT: OPERATION; ...       for an event; TYPE: call, cast, info, internal,
//	                                         enter, state_timeout, timeout, timeout/NAME
//
// Several rules for one event apply in turn, and the last one stays; without a rule nothing is done. Operations:
//
//	next STATE, repeat, stop REASON          the transition; without, the state is kept
//	crash, exit REASON                       panic, or error(crash); ExitWith, or exit(REASON)
//	reply V, save, answer CALL V             at once; or later, by the call's content
//	postpone
//	internal X, insert TYPE X                next_event
//	set TYPE MS X, update TYPE X, cancel TYPE
//
// The other lines are run in order:
//
//	enter                                    there are enter calls
//	do TYPE X, TYPE X...                     cast, call, info: all in the mailbox at once; or
//	                                         wait MS, while the machine is suspended
//	wait MS
//
// A title "== TITLE" begins a script, "----" ends it. Below that is what happened: each event in its state, the replies
// after what led to them, how the machine ended, or its state and the number of its events. TestScriptsOTP checks it:
// see package erltest.

func TestScripts(t *testing.T) {
	for _, f := range erltest.Files(t, "testdata/machine/*.txt") {
		for _, s := range f.Scripts {
			s.Play(t, f.Name+"/"+s.Title, play)
		}
	}
}

// TestScriptsOTP plays the scripts on a real gen_statem: the recorded answers are its own.
func TestScriptsOTP(t *testing.T) {
	erltest.Judge(t, "testdata/machine.erl", "testdata/machine/*.txt")
}

// scriptRunner plays a script: it has its rules and what has happened.
type scriptRunner struct {
	mu    sync.Mutex
	rules map[string][][]string
	trace logtest.Text
}

func (th *scriptRunner) look(key string) []string {
	th.mu.Lock()
	defer th.mu.Unlock()
	r := th.rules[key]
	switch len(r) {
	case 0:
		return nil
	case 1:
	default:
		th.rules[key] = r[1:]
	}
	return r[0]
}

// scriptedMachine does what its script says.
type scriptedMachine struct {
	*scriptRunner
	count int
	calls map[string]node.From
}

func (p *scriptedMachine) a(c *statem.Context, e statem.Event) (statem.State[*scriptedMachine], error) {
	return p.act("a", c, e)
}
func (p *scriptedMachine) b(c *statem.Context, e statem.Event) (statem.State[*scriptedMachine], error) {
	return p.act("b", c, e)
}
func (p *scriptedMachine) c(c *statem.Context, e statem.Event) (statem.State[*scriptedMachine], error) {
	return p.act("c", c, e)
}
func (p *scriptedMachine) d(c *statem.Context, e statem.Event) (statem.State[*scriptedMachine], error) {
	return p.act("d", c, e)
}

func scriptedStates() []statem.State[*scriptedMachine] {
	return []statem.State[*scriptedMachine]{(*scriptedMachine).a, (*scriptedMachine).b, (*scriptedMachine).c, (*scriptedMachine).d}
}

var (
	scriptedMachines = statem.Define(scriptedStates()...)
	enteringMachines = statem.Define(scriptedStates()...).EnterCalls()
)

func (p *scriptedMachine) State() any { return p.count }

func (p *scriptedMachine) Init(c *statem.Context) (statem.State[*scriptedMachine], error) {
	return p.perform(c, p.look("init"))
}

func (p *scriptedMachine) Terminate(c *statem.Context, reason any) {
	p.trace.Printf("terminate %s in %s", reasonText(reason), c.State())
}

func typeText(t statem.EventType) string {
	return strings.Replace(string(t), "timeout ", "timeout/", 1)
}

func (p *scriptedMachine) act(state string, c *statem.Context, e statem.Event) (statem.State[*scriptedMachine], error) {
	content := plain.Format(sysmsg.Term(e.Content))
	key := state + " " + typeText(e.Type) + " " + content
	p.trace.Printf("%s", key)
	if got := string(c.State()); got != state {
		p.trace.Printf("but State() is %s", got)
	}
	if e.Type == statem.TypeCall {
		ops := p.look(key)
		for _, op := range ops {
			if op == "save" {
				p.calls[content] = c.From()
			}
		}
		next, err := p.perform(c, ops)
		if err == nil {
			p.count++
		}
		return next, err
	}
	next, err := p.perform(c, p.look(key))
	if err == nil {
		p.count++ // as in Erlang, where what crashes returns no data
	}
	return next, err
}

func eventType(text string) statem.EventType {
	if name, ok := strings.CutPrefix(text, "timeout/"); ok {
		return statem.Named(name)
	}
	return statem.EventType(text)
}

func (p *scriptedMachine) perform(c *statem.Context, ops []string) (next statem.State[*scriptedMachine], err error) {
	for _, op := range ops {
		w := strings.Fields(op)
		last := wire.Atom(w[len(w)-1])
		switch w[0] {
		case "next":
			next = scriptedStates()[w[1][0]-'a']
		case "repeat":
			c.Repeat()
		case "stop":
			c.Stop(last)
		case "crash":
			panic("crash")
		case "exit":
			return nil, node.ExitWith(last)
		case "postpone":
			c.Postpone()
		case "reply":
			c.Reply(c.From(), last)
		case "answer":
			c.Reply(p.calls[w[1]], last)
		case "internal":
			c.Insert(statem.Event{Type: statem.TypeInternal, Content: last})
		case "insert":
			c.Insert(statem.Event{Type: eventType(w[1]), Content: last})
		case "set":
			d := node.Infinity
			if w[2] != "infinity" {
				ms, _ := strconv.Atoi(w[2])
				d = time.Duration(ms) * time.Millisecond
			}
			c.SetTimeout(eventType(w[1]), d, last)
		case "update":
			c.UpdateTimeout(eventType(w[1]), last)
		case "cancel":
			c.SetTimeout(eventType(w[1]), node.Infinity, nil)
		}
	}
	return next, nil
}

func reasonText(reason any) string {
	if c, ok := reason.(*node.Crash); ok {
		if err, _ := c.Reason.(error); errors.Is(err, statem.ErrBadAction) {
			return "bad"
		}
		return fmt.Sprint(c.Reason)
	}
	return plain.Format(reason)
}

func play(t *testing.T, lines []string) string {
	n := nodetest.Start(t, node.Config{Workers: 2})
	driver := nodetest.NewProbe(t, n)
	th := &scriptRunner{rules: make(map[string][][]string)}
	kind := scriptedMachines
	var commands []string
	for _, line := range lines {
		switch key, ops, rule := strings.Cut(line, ":"); {
		case rule:
			var all []string
			for op := range strings.SplitSeq(ops, ";") {
				if op = strings.TrimSpace(op); op != "" {
					all = append(all, op)
				}
			}
			th.rules[key] = append(th.rules[key], all)
		case line == "enter":
			kind = enteringMachines
		default:
			commands = append(commands, line)
		}
	}
	var ref node.Ref
	pid, err := node.SpawnWait(t.Context(), driver, node.Options{Monitor: &ref},
		kind.New(&scriptedMachine{scriptRunner: th, calls: make(map[string]node.From)}))
	require.NoError(t, err)
	wait := func(ms string) {
		k, err := strconv.Atoi(ms)
		require.NoError(t, err)
		driver.ReceiveWithin(time.Duration(k)*time.Millisecond, func(any) bool { return false })
	}
	settle := func() {
		sys.GetState(t.Context(), driver, pid)
		for {
			m, err := driver.ReceiveWithin(0, func(m any) bool { _, ok := m.(wire.Tuple); return ok })
			if err != nil {
				return
			}
			th.trace.Printf("%s <- %s", m.(wire.Tuple)[0], plain.Format(m.(wire.Tuple)[1]))
		}
	}
	settle()
	for _, line := range commands {
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "wait":
			wait(rest)
		case "do":
			sys.Suspend(t.Context(), driver, pid)
			for event := range strings.SplitSeq(rest, ",") {
				w := strings.Fields(event)
				x := wire.Atom(w[1])
				switch w[0] {
				case "call":
					driver.Send(pid, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{driver.Self(), x}, x})
				case "cast":
					genserver.Cast(driver, pid, x)
				case "info":
					driver.Send(pid, x)
				case "wait":
					wait(w[1])
				}
			}
			sys.Resume(t.Context(), driver, pid)
		default:
			require.Fail(t, "no such command", line)
		}
		settle()
	}
	if state, err := sys.GetState(t.Context(), driver, pid); err == nil {
		th.trace.Printf("in %s", plain.Format(state))
	} else {
		down := node.ReceiveOf[node.Down](driver.Process)
		require.Equal(t, ref, down.Ref)
		th.trace.Printf("exit %s", reasonText(down.Reason))
	}
	return strings.TrimSuffix(th.trace.String(), "\n")
}
