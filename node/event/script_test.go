package event_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// The scripts in testdata/manager send a manager messages of Erlang's gen_event, and record the results. Lines with a
// colon are the rules of the handlers:
//
//	NAME init|event|call|info|terminate X: OPERATION
//
// NAME is the Id of a handler {manager, Id}, - one without. Operations: crash, exit R; remove (of a call: remove REPLY);
// swap ARG NAME ARG; of a call: reply V; of init: refuse R; of terminate: answer V. The other lines are run in order,
// and their answers recorded:
//
//	owner P, exit P REASON, alive P              processes that own handlers
//	add NAME X, addsup NAME X P, addmodule MODULE
//	delete NAME X, swap NAME X NEW Y, swapsup NAME X NEW Y P
//	notify X, sync X, info X, call NAME X, which, modules
//	stop REASON, stopcall, kill
//
// A title "== TITLE" begins a script, "----" ends it. Below that are OTP's answers, which TestScriptsOTP checks: see
// package erltest.

func TestScripts(t *testing.T) {
	for _, f := range erltest.Files(t, "testdata/manager/*.txt") {
		for _, s := range f.Scripts {
			s.Play(t, f.Name+"/"+s.Title, play)
		}
	}
}

// TestScriptsOTP plays the scripts on a real gen_event: the recorded answers are its own.
func TestScriptsOTP(t *testing.T) {
	erltest.Judge(t, "testdata/manager.erl", "testdata/manager/*.txt")
}

// scriptRunner plays a script: it has its rules and what has happened.
type scriptRunner struct {
	rules  map[string][]string
	n      *node.Node
	driver *node.Process
	pid    node.PID

	owners map[string]node.PID
	trace  logtest.Text
}

// norm writes a term without stacks and with the names of the owners.
func (th *scriptRunner) norm(t any) any {
	switch v := t.(type) {
	case *node.Crash:
		return th.norm(v.Reason)
	case string:
		return wire.Atom(v)
	case error:
		return wire.Atom(v.Error())
	case wire.Tuple:
		r := make(wire.Tuple, len(v))
		for i := range v {
			r[i] = th.norm(v[i])
		}
		if len(r) == 2 && r[0] == wire.Atom("EXIT") {
			if u, ok := v[1].(wire.Tuple); ok && len(u) == 2 && u[0] == wire.Atom("undef") {
				r[1] = wire.Atom("undef")
			}
		}
		return r
	case wire.List:
		r := make(wire.List, len(v))
		for i := range v {
			r[i] = th.norm(v[i])
		}
		return r
	case wire.PID:
		return wire.Atom("pid")
	}
	return sysmsg.Term(t)
}

func (th *scriptRunner) text(t any) string { return wire.Formatter{Plain: true}.Format(th.norm(t)) }

// scriptedHandler does what its script says.
type scriptedHandler struct {
	*scriptRunner
	name string
	arg  any
}

type refusal struct{ reason wire.Atom }

func (r refusal) Error() string { return string(r.reason) }
func (r refusal) Term() any     { return r.reason }

func (p *scriptedHandler) State() any { return wire.Atom(p.name) }

func (p *scriptedHandler) act(c *event.Context, kind string, x any) ([]string, error) {
	key := p.name + " " + kind + " " + p.text(x)
	p.trace.Printf("%s", key)
	op := p.rules[key]
	if len(op) == 0 {
		return []string{""}, nil
	}
	switch op[0] {
	case "crash":
		panic("crash")
	case "exit":
		return op, node.ExitWith(wire.Atom(op[1]))
	case "remove":
		return op, event.ErrRemove
	case "refuse":
		return op, refusal{wire.Atom(op[1])}
	case "swap":
		c.Swap(wire.Atom(op[1]), handlerID(op[2]), &scriptedHandler{p.scriptRunner, op[2], wire.Atom(op[3])})
	}
	return op, nil
}

func (p *scriptedHandler) Init(c *event.Context) error {
	_, err := p.act(c, "init", p.arg)
	return err
}

func (p *scriptedHandler) Inherit(c *event.Context, legacy any, found bool) error {
	_, err := p.act(c, "init", wire.Tuple{p.arg, legacy})
	return err
}

func (p *scriptedHandler) HandleEvent(c *event.Context, e any) error {
	_, err := p.act(c, "event", e)
	return err
}

func (p *scriptedHandler) HandleInfo(c *event.Context, msg any) error {
	if e, ok := msg.(node.Exited); ok {
		msg = wire.Tuple{wire.Atom("EXIT"), e.Reason}
	}
	_, err := p.act(c, "info", msg)
	return err
}

func (p *scriptedHandler) HandleCall(c *event.Context, q any) (any, error) {
	op, err := p.act(c, "call", q)
	if op[0] == "swap" {
		return wire.Atom("swapping"), err
	}
	return wire.Atom(op[len(op)-1]), err
}

func (p *scriptedHandler) Terminate(c *event.Context, end event.End) any {
	arg := end.Arg
	switch end.How {
	case event.Removed:
		arg = wire.Atom("remove_handler")
	case event.OwnerGone:
		arg = wire.Tuple{wire.Atom("stop"), arg}
	case event.Stopped:
		arg = wire.Atom("stop")
	case event.Failed:
		arg = wire.Tuple{wire.AtomError, wire.Tuple{wire.Atom("EXIT"), arg}}
	}
	op, _ := p.act(c, "terminate", arg)
	if op[0] == "answer" {
		return wire.Atom(op[1])
	}
	return wire.AtomOK
}

func handlerID(name string) event.ID {
	if name == "-" {
		return event.ID{Module: "manager"}
	}
	return event.ID{Module: "manager", ID: wire.Atom(name)}
}

func play(t *testing.T, lines []string) string {
	n := nodetest.Start(t, node.Config{Workers: 2})
	driver := nodetest.NewProbe(t, n)
	th := &scriptRunner{rules: make(map[string][]string), n: n, driver: driver.Process, owners: make(map[string]node.PID)}
	var err error
	th.pid, err = event.Start(t.Context(), driver, event.Config{Modules: map[node.Atom]func(any) (event.Handler, error){
		"manager": func(args any) (event.Handler, error) {
			a := args.(wire.Tuple)
			return &scriptedHandler{th, string(a[0].(wire.Atom)), a[1]}, nil
		},
	}}, node.Options{})
	require.NoError(t, err)
	for _, line := range lines {
		key, op, rule := strings.Cut(line, ":")
		switch {
		case rule:
			th.rules[key] = strings.Fields(op)
		default:
			th.command(t, line)
			synctest.Wait()
		}
	}
	return strings.TrimSuffix(th.trace.String(), "\n")
}

// owner is a process that reports the messages that it gets.
type owner struct {
	*scriptRunner
	name string
}

func (o *owner) Receive(c *node.Context, msg any) error {
	e := msg.(event.Exit)
	reason := e.Reason
	switch v := reason.(type) {
	case *node.Crash:
		reason = wire.Tuple{wire.Atom("EXIT"), v}
	case wire.Tuple:
		if _, ok := v[len(v)-1].(node.PID); ok {
			v[len(v)-1] = wire.Atom("pid")
		}
	}
	o.trace.Printf("%s told %s", o.name, o.text(wire.Tuple{sysmsg.Term(e.Handler), reason}))
	return nil
}

func (th *scriptRunner) command(t *testing.T, line string) {
	w := strings.Fields(line)
	last := wire.Atom(w[len(w)-1])
	switch w[0] {
	case "owner":
		pid, err := th.n.Spawn(&owner{th, w[1]})
		require.NoError(t, err)
		th.owners[w[1]] = pid
	case "exit":
		th.n.Exit(th.owners[w[1]], last)
	case "alive":
		th.trace.Printf("%s %v", w[1], th.n.IsAlive(th.owners[w[1]]))
	case "notify":
		th.driver.Send(th.pid, wire.Tuple{wire.Atom("notify"), last})
	case "info":
		th.driver.Send(th.pid, last)
	case "kill":
		th.n.Exit(th.pid, node.Kill)
	case "stop":
		sys.Stop(t.Context(), th.driver, th.pid, last)
	default:
		answer := th.ask(th.request(t, w))
		synctest.Wait() // let the others get their messages first
		th.trace.Printf("%s -> %s", line, answer)
	}
}

// ask calls as gen:call does.
func (th *scriptRunner) ask(request any) string {
	ref := th.driver.Monitor(th.pid)
	defer th.driver.DemonitorFlush(ref)
	th.driver.Send(th.pid, wire.Tuple{th.driver.Self(), wire.Tuple{th.driver.Self(), ref}, request})
	m, _ := th.driver.ReceiveMatch(func(m any) bool {
		if d, ok := m.(node.Down); ok {
			return d.Ref == ref
		}
		a, ok := m.(wire.Tuple)
		return ok && a[0] == ref
	}).(wire.Tuple)
	if m == nil {
		return "gone"
	}
	return th.text(m[1])
}

func (th *scriptRunner) request(t *testing.T, w []string) any {
	id := func(i int) any { return sysmsg.Term(handlerID(w[i])) }
	args := func(i int) any { return wire.Tuple{wire.Atom(w[i]), wire.Atom(w[i+1])} }
	arg := func(i int) any { return wire.Atom(w[i]) }
	word := func(s string) wire.Atom { return wire.Atom(s) }
	switch w[0] {
	case "add":
		return wire.Tuple{word("add_handler"), id(1), args(1)}
	case "addsup":
		return wire.Tuple{word("add_sup_handler"), id(1), args(1), th.owners[w[3]]}
	case "addmodule":
		return wire.Tuple{word("add_handler"), arg(1), wire.List{}}
	case "delete":
		return wire.Tuple{word("delete_handler"), id(1), arg(2)}
	case "swap":
		return wire.Tuple{word("swap_handler"), id(1), arg(2), id(3), wire.Tuple{arg(3), arg(4)}}
	case "swapsup":
		return wire.Tuple{word("swap_sup_handler"), id(1), arg(2), id(3), wire.Tuple{arg(3), arg(4)}, th.owners[w[5]]}
	case "sync":
		return wire.Tuple{word("sync_notify"), arg(1)}
	case "call":
		return wire.Tuple{word("call"), id(1), arg(2)}
	case "which":
		return word("which_handlers")
	case "modules":
		return word("get_modules")
	case "stopcall":
		return word("stop")
	}
	require.Fail(t, "no such command", w)
	return nil
}
