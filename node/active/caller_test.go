package active_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// patient is an object whose methods wait as long as their callers do.
type patient struct {
	begun, gone chan string
	enough      bool
}

func (p *patient) Until(c *active.Context, name string) (none, error) {
	p.begun <- name
	c.Until(func() bool { return p.enough || !c.Pending() })
	if !c.Pending() {
		p.gone <- name
	}
	return none{}, nil
}

func (p *patient) Block(c *active.Context, name string) (none, error) {
	p.begun <- name
	<-c.CallContext().Done()
	p.gone <- name
	return none{}, nil
}

func init() {
	active.Export("until", (*patient).Until)
	active.Export("context", (*patient).Block)
}

func (p *patient) Enough(*active.Context, none) (none, error) { p.enough = true; return none{}, nil }

func (p *patient) Keep(c *active.Context, _ none) (context.Context, error) {
	return c.CallContext(), nil
}

// A method whose caller gives up learns of it, in a condition and by its context, however it was called and however the
// caller gives up; the others keep waiting.
func TestCallerGivesUp(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for name, method := range map[string]func(*patient, *active.Context, string) (none, error){
		"until": (*patient).Until, "context": (*patient).Block,
	} {
		for how, call := range map[string]func(p active.Addr[*patient], name string) (giveUp func()){
			"a future is cancelled": func(p active.Addr[*patient], name string) func() {
				f := active.Go(n, p, method, name)
				return func() { require.True(t, f.Cancel()) }
			},
			"the context of a future ends": func(p active.Addr[*patient], name string) func() {
				f := active.Go(n, p, method, name)
				return func() {
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					_, err := node.Await(ctx, n, f)
					require.Error(t, err)
				}
			},
			"the context of a call by name ends": func(p active.Addr[*patient], text string) func() {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					_, err := node.Call[any](ctx, n, p.Dest(), wire.Tuple{node.Atom(name), text})
					done <- err
				}()
				return func() {
					cancel()
					require.Error(t, testkit.Receive(t, done))
				}
			},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				p := &patient{begun: make(chan string, 2), gone: make(chan string, 2)}
				o := start(t, n, p)
				giveUp := call(o, "x")
				require.Equal(t, "x", testkit.Receive(t, p.begun))
				if name == "until" {
					stays := active.Go(n, o, (*patient).Until, "stays")
					require.Equal(t, "stays", testkit.Receive(t, p.begun))
					giveUp()
					require.Equal(t, "x", testkit.Receive(t, p.gone))
					result(t, active.Go(n, o, (*patient).Enough, none{}))
					result(t, stays)
					require.Empty(t, p.gone)
					return
				}
				giveUp()
				require.Equal(t, "x", testkit.Receive(t, p.gone))
			})
		}
	}
}

// The context of a method ends with the method, and with the process; looking at it changes nothing for a call whose
// object ends.
func TestContextEnds(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	p := &patient{begun: make(chan string, 2), gone: make(chan string, 2)}
	o := start(t, n, p)
	<-result(t, active.Go(n, o, (*patient).Keep, none{})).Done()
	f := active.Go(n, o, (*patient).Block, "x")
	require.Equal(t, "x", testkit.Receive(t, p.begun))
	n.Exit(o.Dest(), node.Kill)
	_, err := node.Await(testkit.Context(t), n, f)
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, "x", testkit.Receive(t, p.gone))
}

// namer is an object that returns its own address.
type namer struct{ other active.Addr[*namer] }

func (o *namer) Name(c *active.Context, ask bool) ([]active.Addr[*namer], error) {
	all := []active.Addr[*namer]{active.Self[*namer](c)}
	if ask {
		inner, err := active.Call(c, o.other, (*namer).Name, false)
		if err != nil {
			return nil, err
		}
		all = append(append(all, inner...), active.Self[*namer](c))
	}
	return all, nil
}

func (o *namer) Wrong(c *active.Context, _ none) (none, error) {
	active.Self[*account](c)
	return none{}, nil
}

// Self is the object whose method runs, also for an object that In has made and for one that is called on the stack of
// another.
func TestSelf(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	first := &namer{}
	a := start(t, n, first)
	b, err := active.In(n, a, &namer{other: a})
	require.NoError(t, err)
	first.other = b
	require.Equal(t, []active.Addr[*namer]{a, b, a}, result(t, active.Go(n, a, (*namer).Name, true)))
	require.Equal(t, []active.Addr[*namer]{b, a, b}, result(t, active.Go(n, b, (*namer).Name, true)))
	_, err = node.Await(testkit.Context(t), n, active.Go(n, b, (*namer).Wrong, none{}))
	require.ErrorContains(t, err, "has no *active_test.account but a *active_test.namer")
}
