package genserver_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// probe is a server whose callbacks do what a test says, and that notes which ones have run.
type probe struct {
	value     any // what get_state shows
	init      func(p *probe, c *genserver.Context) error
	terminate func(p *probe, c *genserver.Context, reason any)
	code      func(module node.Atom, old, extra any) error

	mu    sync.Mutex
	notes []string
}

type (
	// Do is a call, Tell a cast and Hint another message; each runs F.
	Do struct {
		genserver.Returns[string]
		F func(p *probe, c *genserver.Context) (string, error)
	}
	Tell struct {
		F func(p *probe, c *genserver.Context) error
	}
	Hint struct {
		F func(p *probe, c *genserver.Context) error
	}
	// Notes returns what has been noted.
	Notes struct{ genserver.Returns[[]string] }
	// Nobody is a request that no server handles.
	Nobody struct{ genserver.Returns[int] }
)

func (p *probe) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

func (p *probe) noted() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.notes...)
}

func (p *probe) Init(c *genserver.Context) error {
	if p.init != nil {
		return p.init(p, c)
	}
	return nil
}

func (p *probe) Terminate(c *genserver.Context, reason any) {
	if crash, ok := reason.(*node.Crash); ok {
		reason = crash.Error()
	}
	p.note("terminate %v", reason)
	if p.terminate != nil {
		p.terminate(p, c, reason)
	}
}

func (p *probe) State() any {
	if f, ok := p.value.(func() any); ok {
		return f()
	}
	return p.value
}

func (p *probe) SetState(t any) error {
	if t == wire.Atom("bad") {
		return fmt.Errorf("not that one")
	}
	p.value = t
	return nil
}

func (p *probe) CodeChange(module node.Atom, old, extra any) error {
	p.note("code %v %v %v", module, old, extra)
	if p.code != nil {
		return p.code(module, old, extra)
	}
	return nil
}

var probes = genserver.Define(
	genserver.OnCall(func(p *probe, c *genserver.Context, d Do) (string, error) { return d.F(p, c) }),
	genserver.OnCall(func(p *probe, _ *genserver.Context, _ Notes) ([]string, error) { return p.noted(), nil }),
	genserver.OnCast(func(p *probe, c *genserver.Context, t Tell) error { return t.F(p, c) }),
	genserver.OnInfo(func(p *probe, c *genserver.Context, h Hint) error { return h.F(p, c) }),
	genserver.OnInfo(func(p *probe, _ *genserver.Context, e node.Exited) error {
		p.note("exited %v", e.Reason)
		return nil
	}),
	genserver.OnInfo(func(p *probe, _ *genserver.Context, _ genserver.Timeout) error {
		p.note("timeout")
		return nil
	}),
	genserver.OnInfo(func(p *probe, _ *genserver.Context, t wire.Tuple) error {
		p.note("tuple %v", t)
		return nil
	}),
	genserver.OnInfo(func(p *probe, _ *genserver.Context, s string) error {
		p.note("%s", s)
		return nil
	}),
	genserver.OnCast(func(p *probe, _ *genserver.Context, a wire.Atom) error {
		p.note("cast %s", a)
		return nil
	}),
	// Requests of Erlang, as terms.
	genserver.OnAnyCall(func(p *probe, c *genserver.Context, a wire.Atom) (any, error) {
		p.note("call %s", a)
		switch a {
		case "fail":
			return nil, errTea
		case "stop":
			c.Stop(wire.Atom("asked"))
		case "exit":
			return nil, node.ExitWith(wire.Atom("chosen"))
		case "state":
			return p.value, nil
		}
		return a, nil
	}),
	genserver.OnAnyCall(func(p *probe, c *genserver.Context, a int) (any, error) {
		old := p.value
		p.value = a
		return old, nil
	}),
)

var errTea = fmt.Errorf("the tea is cold")

func do(f func(p *probe, c *genserver.Context) (string, error)) Do { return Do{F: f} }
func tell(f func(p *probe, c *genserver.Context) error) Tell       { return Tell{F: f} }
func hint(f func(p *probe, c *genserver.Context) error) Hint       { return Hint{F: f} }
func saying(s string) Hint {
	return hint(func(p *probe, _ *genserver.Context) error { p.note("%s", s); return nil })
}

// start starts a probe.
func start(t testing.TB, from node.Caller, p *probe, o node.Options) node.PID {
	t.Helper()
	pid, err := probes.Start(testkit.Context(t), from, p, o)
	require.NoError(t, err)
	return pid
}

// gone waits for the exit of a process and returns its reason, a crash as text.
func gone(t testing.TB, down node.Down) any {
	if c, ok := down.Reason.(*node.Crash); ok {
		return c.Error()
	}
	return down.Reason
}

// watch waits for the Down of a monitor.
func watch(t testing.TB, h *nodetest.Probe, ref node.Ref) any {
	t.Helper()
	return gone(t, h.ExpectDown(ref))
}

// ask is a call that must work.
func ask[Q genserver.Returning[R], R any](t testing.TB, from node.Caller, to node.PID, q Q) R {
	t.Helper()
	r, err := genserver.Call(testkit.Context(t), from, to, q)
	require.NoError(t, err)
	return r
}

// places are the ways to run a server.
var places = []struct {
	name string
	o    node.Options
}{
	{"stage", node.Options{}},
	{"detached", node.Options{Place: node.Detached()}},
	{"bounded", node.Options{Bounds: mailbox.Bounds{Messages: 64, Policy: mailbox.Refuse}}},
	{"bounded detached", node.Options{Place: node.Detached(), Bounds: mailbox.Bounds{Messages: 64, Policy: mailbox.Block}}},
}

func eachPlace(t *testing.T, f func(t *testing.T, o node.Options)) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) { f(t, p.o) })
	}
}
