package node_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/native"
)

// rotated is the cookie of a node, and the old ones that it still accepts.
type rotated struct {
	cookie string
	old    []string
}

// rotating is a node whose cookie can be changed.
type rotating struct {
	*node.Node
	now   atomic.Pointer[rotated]
	conns clustertest.Cutter
}

func startRotating(t *testing.T, name node.Atom, finder discovery.Finder, p dist.Protocol, grace time.Duration) *rotating {
	r := new(rotating)
	r.set("old")
	r.Node = nodetest.Start(t, node.Config{Name: name, Log: new(logtest.Text).Logger(), Distribution: &node.Distribution{
		Protocols: []dist.Protocol{p}, Finder: finder, Listen: "127.0.0.1:0", Timing: node.Timing{Grace: grace}, Transport: &r.conns,
		Access: node.Access{Cookies: func(node.Atom) (in, out string, ok bool) { c := r.now.Load().cookie; return c, c, true },
			OldCookies: func(node.Atom) []string { return r.now.Load().old }},
	}})
	return r
}

func (r *rotating) set(cookie string, old ...string) { r.now.Store(&rotated{cookie, old}) }

// While two nodes change their cookies one after the other, each can connect to the other; no longer once the old
// cookie is not accepted any more.
func TestCookieRotation(t *testing.T) {
	protocols := map[string]func() dist.Protocol{
		"native": func() dist.Protocol { return new(native.Protocol) },
		"erlang": func() dist.Protocol { return new(erldist.Protocol) },
	}
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			places := new(clustertest.Places)
			a := startRotating(t, "a@127.0.0.1", places, protocol(), 0)
			b := startRotating(t, "b@127.0.0.1", places, protocol(), 0)
			both := func(want bool) {
				t.Helper()
				for _, n := range []struct{ from, to *rotating }{{a, b}, {b, a}} {
					if !want {
						testkit.Until(t, func() string { // an attempt with the old cookies may be under way
							err := n.from.Connect(testkit.Context(t), n.to.Name())
							if errors.Is(err, dist.ErrCookie) {
								return ""
							}
							n.from.Disconnect(n.to.Name())
							return fmt.Sprint("connected: ", err)
						})
						continue
					}
					err := n.from.Connect(testkit.Context(t), n.to.Name())
					require.NoError(t, err, "%s to %s", n.from.Name(), n.to.Name())
					testkit.Until(t, func() string { // otherwise its next attempt might get this connection, which ends
						if len(n.to.AllNodes()) == 0 {
							return "the other has not noticed"
						}
						return ""
					})
					require.True(t, n.from.Disconnect(n.to.Name()))
					testkit.Until(t, func() string {
						if len(a.AllNodes())+len(b.AllNodes()) > 0 {
							return "still connected"
						}
						return ""
					})
				}
			}
			both(true)
			a.set("new", "older", "old")
			both(true) // b has not changed it
			b.set("new", "old")
			both(true)
			a.set("new")
			both(true) // b still accepts the old one
			b.set("newer", "new")
			both(true)
			a.set("other")
			both(false)
		})
	}
}

// A link that is resumed while the cookie changes goes on: with the new cookie if the peer has it, otherwise with the
// old one.
func TestCookieRotationResumes(t *testing.T) {
	places := new(clustertest.Places)
	a := startRotating(t, "a@127.0.0.1", places, new(native.Protocol), testkit.Limit)
	b := startRotating(t, "b@127.0.0.1", places, new(native.Protocol), testkit.Limit)
	asked, err := b.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
	require.NoError(t, err)
	h := nodetest.NewProbe(t, a.Node)
	require.NoError(t, a.Ping(testkit.Context(t), b.Name()))
	ref := h.Monitor(asked)
	for _, change := range []func(){
		func() { a.set("new", "old") },
		func() { b.set("new", "old"); a.set("new") },
		func() { b.set("new") },
	} {
		change()
		a.conns.Cut()
		require.NoError(t, a.Ping(testkit.Context(t), b.Name()))
	}
	require.Equal(t, 3, a.conns.Cuts())
	b.Exit(asked, node.Atom("done"))
	require.Equal(t, node.Atom("done"), h.ExpectDown(ref).Reason, "the first that a hears")
}

// The same with an OTP node, whichever name is greater: OTP has one cookie at a time.
func TestCookieRotationOTP(t *testing.T) {
	for _, name := range []node.Atom{"a@127.0.0.1", "z@127.0.0.1"} {
		t.Run(string(name), func(t *testing.T) {
			port, finder := otpMapper(t, "127.0.0.1")
			n := startRotating(t, name, finder, new(erldist.Protocol), 0)
			_, err := n.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
			require.NoError(t, err)
			erl := erltest.Start(t, erltest.Options{Name: "erl@127.0.0.1", Cookie: "old", EPMD: port})
			o := &otp{erl, t, "erl@127.0.0.1"}
			both := func() {
				t.Helper()
				o.bothWays(n.Node)
				n.Disconnect(o.name)
				o.alone(n.Node)
			}
			both()
			n.set("new", "old")
			both() // OTP still has the old one
			require.Equal(t, "true", o.Ask("erlang:set_cookie('new')"))
			both()
			n.set("newer", "new")
			both()
			n.set("newer")
			require.ErrorIs(t, n.Connect(testkit.Context(t), o.name), dist.ErrCookie)
			require.Equal(t, "false", o.Ask("net_kernel:connect_node('%s')", n.Name()))
		})
	}
}
