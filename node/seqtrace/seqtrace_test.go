package seqtrace_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/seqtrace"
	"github.com/actornode/actornode/wire"
)

// process is what both kinds of processes can do here.
type process interface {
	seqtrace.Process
	Send(to node.Dest, msg any) error
	Spawn(b node.Actor) (node.PID, error)
}

// order is what a follower does: steps, separated by semicolons. To is who is told labels.
func order(steps string, to node.PID) wire.Tuple { return wire.Tuple{node.Atom(steps), to} }

// obey does the steps of an order.
func obey(p process, msg any) (err error) {
	o, ok := msg.(wire.Tuple)
	if !ok {
		return nil
	}
	to := o[1].(node.PID)
	for step := range strings.SplitSeq(string(o[0].(node.Atom)), ";") {
		what, arg, _ := strings.Cut(step, " ")
		switch what {
		case "set":
			seqtrace.SetLabel(p, node.Atom(arg))
		case "clear":
			seqtrace.Clear(p)
		case "tell":
			label, ok := seqtrace.Label(p)
			if !ok {
				label = node.Atom("none")
			}
			err = p.Send(to, label)
		case "pass": // the next step is another's
			err = p.Send(node.Atom("next"), order(arg, to))
		case "passfar":
			err = p.Send(node.At{Name: "next", Node: "far@127.0.0.1"}, order(arg, to))
		case "spawn":
			child := func(p *node.Process) error { return obey(p, order(arg, to)) }
			_, err = p.Spawn(node.ProcessFunc(child))
		case "call":
			_, err = node.Call[string](context.Background(), p, node.Atom("answers"), "x")
		default:
			err = errors.New(step)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// followers are processes of each kind that obey.
func followers() map[string]func() (node.Options, node.Actor) {
	loop := node.ProcessFunc(func(p *node.Process) error {
		for {
			if err := obey(p, p.Receive()); err != nil {
				return err
			}
		}
	})
	actor := node.ActorFunc(func(c *node.Context, msg any) error { return obey(c, msg) })
	return map[string]func() (node.Options, node.Actor){
		"actor":     func() (node.Options, node.Actor) { return node.Options{}, actor },
		"detached":  func() (node.Options, node.Actor) { return node.Options{Place: node.Detached()}, actor },
		"process":   func() (node.Options, node.Actor) { return node.Options{}, loop },
		"coroutine": func() (node.Options, node.Actor) { return node.Options{Coroutine: true}, loop },
	}
}

// A label that is set goes with what is sent, called and spawned, until the next message.
func TestLabels(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		for _, coroutines := range []bool{false, true} {
			cfg := c.Config("here")
			cfg.Coroutines = coroutines // of those that are spawned
			here, far := nodetest.Start(t, cfg), c.Start("far")
			labels(t, here, far)
			here.Stop()
			far.Stop()
		}
	})
}

func labels(t *testing.T, here, far *node.Node) {
	answers := node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			return c.Reply(r.From, "y")
		}
		return nil
	})
	_, err := here.SpawnOpt(node.Options{Name: "answers"}, answers)
	require.NoError(t, err)
	h := nodetest.NewProbe(t, here)
	for kind, follower := range followers() {
		o, b := follower()
		first, err := here.SpawnOpt(o, b)
		require.NoError(t, err)
		o, b = follower()
		o.Name = "next"
		next, err := here.SpawnOpt(o, b)
		require.NoError(t, err)
		there, err := far.SpawnOpt(o, b)
		require.NoError(t, err)
		for _, c := range []struct {
			steps string
			want  node.Atom
		}{
			{"tell", "none"},
			{"set a;tell", "a"},
			{"tell", "none"},
			{"set b;set c;tell", "c"},
			{"set d;clear;tell", "none"},
			{"clear;set d;tell", "d"},
			{"set e;pass tell", "e"},
			{"pass tell", "none"},
			{"set f;passfar tell", "f"},
			{"passfar tell", "none"},
			{"set g;spawn tell", "g"},
			{"spawn tell", "none"},
			{"set h;call;tell", "h"},
			{"call;tell", "none"},
		} {
			require.NoError(t, here.Send(first, order(c.steps, h.Self())))
			assert.Equal(t, c.want, nodetest.Expect[node.Atom](h), "%s: %s", kind, c.steps)
		}
		for _, pid := range []node.PID{first, next, there} {
			ref := h.Monitor(pid)
			h.Exit(pid, node.Kill)
			h.ExpectDown(ref)
		}
	}
}

// A token that begins here is as one that begins in OTP, and labels of OTP are read.
func TestLabelsOfOTP(t *testing.T) {
	erltest.Need(t)
	mapper := epmdtest.Serve(t, "127.0.0.1")
	e := erltest.Start(t, erltest.Options{Name: "e1@127.0.0.1", Cookie: erltest.Cookie, EPMD: mapper.Port})
	n := nodetest.Start(t, node.Config{Name: "go@127.0.0.1",
		Distribution: &node.Distribution{Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: mapper}}})
	for kind, follower := range followers() {
		o, b := follower()
		o.Name = node.Atom(kind)
		_, err := n.SpawnOpt(o, b)
		require.NoError(t, err)
		_, err = n.SpawnOpt(node.Options{Name: "label of " + o.Name}, node.ActorFunc(func(c *node.Context, msg any) error {
			label, _ := seqtrace.Label(c)
			binary, ok := label.([]byte)
			return c.Send(msg.(node.PID), wire.Tuple{node.Atom("label"), string(binary), ok})
		}))
		require.NoError(t, err)
		assert.Equal(t, "{0,a,true}", e.Ask("seq_trace:set_token([]), {%s, '%s'} ! {'set a;tell', self()}, "+
			"receive none -> none; a -> {A, B, _, _, _} = seq_trace:get_token(), {A, B, seq_trace:set_token([]) =/= []} "+
			"after 50000 -> nothing end", kind, n.Name()), kind)
		assert.Equal(t, `{<<"00-1">>,true}`, e.Ask("seq_trace:set_token(label, <<\"00-1\">>), {'label of %s', '%s'} ! self(), "+
			"seq_trace:set_token([]), receive {label, L, B} -> {L, B} after 50000 -> nothing end", kind, n.Name()), kind)
	}
}
