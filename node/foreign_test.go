package node_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/nodetest"
	otpservices "github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
)

// What a node sends unasked to a peer, by what the peer supports. It is the table of docs/protocols.md, whose first
// column has these names.
var unasked = []struct {
	what string
	of   func(f *dist.Frame) bool
	to   func(p dist.Peer) bool
}{
	{"the query for its OTP release", func(f *dist.Frame) bool {
		return f.Op == dist.OpSpawn && f.Spawn.Module == "erpc" && f.Spawn.Args[2] == node.Atom("system_info")
	}, func(p dist.Peer) bool { return p.Spawn }},
	{"a discover to each scope of pg", func(f *dist.Frame) bool {
		return f.Op == dist.OpSend && strings.HasPrefix(string(f.Name), "pg") && f.Payload.(wire.Tuple)[0] == node.Atom("discover")
	}, func(p dist.Peer) bool { return !p.Foreign() }},
	{"a monitor of each scope of pg", func(f *dist.Frame) bool {
		return (f.Op == dist.OpMonitor || f.Op == dist.OpDemonitor) && strings.HasPrefix(string(f.Name), "pg")
	}, func(p dist.Peer) bool { return !p.Foreign() && p.Monitor }},
	{"the protocol of global", func(f *dist.Frame) bool {
		return f.Op == dist.OpSend && f.Name == "global_name_server"
	}, func(p dist.Peer) bool { return !p.Hidden }},
}

// The flags of nodes that support less than OTP: those of Debian's erl_interface 5.3 and jinterface 1.13, see
// TestForeignFlags, and steps between them and OTP.
const otpOnly = erlflags.Published | erlflags.DistHdrAtomCache | erlflags.Fragments | erlflags.Spawn | erlflags.Alias |
	erlflags.AltactSig | erlflags.SendSender | erlflags.ExitPayload | erlflags.BigSeqtraceLabels | erlflags.UnicodeIO

func TestUnasked(t *testing.T) {
	doc, err := os.ReadFile("../docs/protocols.md")
	require.NoError(t, err)
	seen := map[string]bool{}
	for name, lacks := range map[string]erlflags.Flags{
		"nothing": 0, "spawn": erlflags.Spawn, "monitors": erlflags.DistMonitor, "monitors by name": erlflags.DistMonitorName,
		"spawn and monitors": erlflags.Spawn | erlflags.DistMonitor | erlflags.DistMonitorName,
		"ei":                 otpOnly | erlflags.DistMonitorName, "jinterface": otpOnly | erlflags.DistMonitor | erlflags.DistMonitorName,
		"unlink": erlflags.UnlinkID | erlflags.Mandatory25Digest,
	} {
		for _, hidden := range []bool{true, false} {
			t.Run(fmt.Sprintf("lacks %s, hidden %v", name, hidden), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					about, got := hears(t, &erldist.Protocol{Without: uint64(lacks)}, hidden)
					want := map[string]bool{}
					for _, u := range unasked {
						if u.to(about) {
							want[u.what], seen[u.what] = true, true
						}
					}
					require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
				})
			})
		}
	}
	for _, u := range unasked {
		require.True(t, seen[u.what], "no peer gets %s", u.what)
		require.Contains(t, string(doc), "| "+u.what, "docs/protocols.md lists all of it")
	}
}

// hears is a peer, for five minutes, of a node that runs everything that talks to other nodes unasked. It sends only
// ticks. It returns what it receives, by the names of unasked.
func hears(t *testing.T, p *erldist.Protocol, hidden bool) (about dist.Peer, got map[string]bool) {
	tr := clustertest.NewPipes(t)
	n, _ := exposed(t, tr, &erldist.Protocol{}, node.Distribution{Published: global.Join(global.Config{})})
	require.NoError(t, otpservices.Serve(n, otpservices.Config{}))
	for _, scope := range []node.Atom{"pg", "pg_more"} {
		_, err := pg.Start(t.Context(), n, pg.Config{Name: scope})
		require.NoError(t, err)
	}
	conn, err := tr.Dial(t.Context(), n.Addr().String(), n.Name())
	require.NoError(t, err)
	link, err := p.Dial(t.Context(), conn, dist.Handshake{Local: wire.NodeID{Name: "peer@127.0.0.1", Creation: 7}, Hidden: hidden,
		Peer: n.Name(), Cookies: func(node.Atom) (string, string) { return "secret", "secret" }})
	require.NoError(t, err)
	got = make(map[string]bool)
	ended := make(chan struct{})
	go func() { // ended by the link's end
		defer close(ended)
		for {
			var f dist.Frame
			if link.Read(&f) != nil {
				return
			}
			if i := slices.IndexFunc(unasked, func(u struct {
				what string
				of   func(f *dist.Frame) bool
				to   func(p dist.Peer) bool
			}) bool {
				return u.of(&f)
			}); i >= 0 {
				got[unasked[i].what] = true
			} else {
				got[fmt.Sprintf("%s %v %v", f.Op, f.Name, f.Payload)] = true
			}
		}
	}()
	for range 20 {
		time.Sleep(15 * time.Second)
		_, err := link.Flush(true)
		require.NoError(t, err, "the node has kept the connection")
	}
	has := ^erlflags.Flags(p.Without)
	for _, q := range n.Peers() {
		about = dist.Peer{Hidden: q.Hidden, Spawn: has.Has(erlflags.Spawn), Monitor: has.Has(erlflags.DistMonitor | erlflags.DistMonitorName)}
		require.Equal(t, about.Foreign(), q.Foreign)
	}
	link.Close()
	<-ended
	return about, got
}

// A peer that takes no monitors is called, pinged and monitored as OTP does it: the request arrives, the answer counts,
// and the monitor fires when the connection ends.
func TestPeerWithoutMonitors(t *testing.T) {
	for name, lacks := range map[string]erlflags.Flags{
		"ei": otpOnly | erlflags.DistMonitorName, "jinterface": otpOnly | erlflags.DistMonitor | erlflags.DistMonitorName,
		"monitors alone": erlflags.DistMonitor,
	} {
		t.Run(name, func(t *testing.T) {
			tr := clustertest.NewPipes(t)
			n, log := exposed(t, tr, &erldist.Protocol{}, node.Distribution{})
			r := connectRaw(t, n, tr, &erldist.Protocol{Without: uint64(lacks)}, "c@127.0.0.1")
			served := make(chan error, 1)
			go func() { served <- serves(r) }() // ended by the link's end
			for _, to := range []node.Dest{r.id.PID(3), node.At{Name: "box", Node: "c@127.0.0.1"}} {
				for _, style := range styles {
					t.Run(fmt.Sprintf("%s to %v", style.Name, to), func(t *testing.T) {
						done := make(chan error, 1)
						pid := style.Spawn(t, n, func(self actortest.Self, _ any) error {
							got, err := node.Call[node.Atom](testkit.Context(t), self, to, node.Atom("hello"))
							if err == nil && got != "hello" {
								err = fmt.Errorf("the answer is %v", got)
							}
							done <- err
							return nil
						})
						require.NoError(t, n.Send(pid, "begin"))
						require.NoError(t, testkit.Receive(t, done))
					})
				}
				got, err := node.Await[node.Atom](testkit.Context(t), n, node.Async[node.Atom](n, to, node.Atom("hi")))
				require.NoError(t, err)
				require.Equal(t, node.Atom("hi"), got)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				_, err = node.Call[node.Atom](ctx, n, to, node.Atom("silence"))
				cancel()
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			require.NoError(t, n.Ping(testkit.Context(t), "c@127.0.0.1"))
			h := nodetest.NewProbe(t, n)
			refs := []node.Ref{h.Monitor(r.id.PID(3)), h.Monitor(r.id.PID(4)), h.Monitor(node.At{Name: "box", Node: "c@127.0.0.1"})}
			require.True(t, h.DemonitorFlush(refs[1]))
			call := node.Async[node.Atom](n, r.id.PID(3), node.Atom("silence"))
			require.NoError(t, n.Ping(testkit.Context(t), "c@127.0.0.1"), "what was sent before has arrived")
			h.ExpectNone()
			require.NoError(t, r.Close())
			for _, ref := range []node.Ref{refs[0], refs[2]} {
				require.Equal(t, node.NoConnection, h.ExpectDown(ref).Reason)
			}
			h.ExpectNone()
			_, err := node.Await[node.Atom](testkit.Context(t), n, call)
			require.ErrorContains(t, err, "noconnection")
			require.Error(t, testkit.Receive(t, served))
			require.NotContains(t, log.String(), "was not sent")
			require.Empty(t, n.Stats().DeadLetters)
		})
	}
}

// serves answers the calls to a peer by hand, except those of silence.
func serves(r *raw) error {
	for {
		var f dist.Frame
		if err := r.Read(&f); err != nil {
			return err
		}
		if f.Op == dist.OpMonitor || f.Op == dist.OpDemonitor {
			return fmt.Errorf("a frame that the peer does not take: %v", f)
		}
		call, ok := f.Payload.(wire.Tuple)
		if !ok || f.Op != dist.OpSend || call[0] != node.Atom("$gen_call") || call[2] == node.Atom("silence") {
			continue
		}
		from := call[1].(wire.Tuple)
		if err := r.say(dist.Frame{Op: dist.OpSend, From: r.id.PID(3), To: from[0].(node.PID), Payload: wire.Tuple{from[1], call[2]}}); err != nil {
			return err
		}
		if _, err := r.Flush(false); err != nil {
			return err
		}
	}
}

// A peer without UNLINK_ID is told of an unlink, and nothing waits for its acknowledgement.
func TestPeerWithoutUnlinkIDs(t *testing.T) {
	tr := clustertest.NewPipes(t)
	n, log := exposed(t, tr, &erldist.Protocol{}, node.Distribution{})
	r := connectRaw(t, n, tr, &erldist.Protocol{Without: uint64(erlflags.UnlinkID | erlflags.Mandatory25Digest | erlflags.Spawn)}, "c@127.0.0.1")
	h := nodetest.NewProbe(t, n)
	h.Link(r.id.PID(3))
	h.Unlink(r.id.PID(3))
	require.Equal(t, r.id.PID(3), r.until(t, dist.OpLink).To)
	f := r.until(t, dist.OpUnlink)
	require.Equal(t, r.id.PID(3), f.To)
	require.Zero(t, f.ID)
	require.Zero(t, n.Peers()[0].Links)
	require.NoError(t, r.say(dist.Frame{Op: dist.OpLink, From: r.id.PID(4), To: h.Self()}))
	require.NoError(t, r.say(dist.Frame{Op: dist.OpUnlink, From: r.id.PID(4), To: h.Self()}))
	require.NoError(t, r.say(dist.Frame{Op: dist.OpSend, From: r.id.PID(4), To: h.Self(), Payload: 1}))
	_, err := r.Flush(false)
	require.NoError(t, err)
	require.Equal(t, 1, nodetest.Expect[int](h))
	require.Zero(t, n.Peers()[0].Links)
	require.NotContains(t, log.String(), "was not sent")
}

// A node without a name gets one. When its connection ends the next node gets the same name with another creation;
// while it is connected, another name.
func TestDynamicNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := clustertest.NewPipes(t)
		n, _ := exposed(t, tr, &erldist.Protocol{}, node.Distribution{Published: global.Join(global.Config{})})
		first, end := asksForName(t, n, tr, "host.example", "secret")
		second, endSecond := asksForName(t, n, tr, "host.example", "secret")
		require.NotEqual(t, first, second)
		for _, id := range []wire.NodeID{first, second} {
			require.Regexp(t, `^[0-9A-Z]{1,13}@host\.example$`, string(id.Name))
			require.GreaterOrEqual(t, id.Creation, uint32(4))
			require.Contains(t, n.AllNodes(), id.Name)
			require.NotContains(t, n.Nodes(), id.Name, "it is hidden")
		}
		end()
		again, end := asksForName(t, n, tr, "host.example", "secret")
		require.Equal(t, wire.NodeID{Name: first.Name, Creation: first.Creation + 1}, again)
		other, endOther := asksForName(t, n, tr, "other", "secret")
		require.True(t, strings.HasSuffix(string(other.Name), "@other"))
		for range 3 { // a peer with a wrong cookie uses no name up, and gets no connection
			_, nobody := asksForName(t, n, tr, "host.example", "wrong")
			nobody()
		}
		require.Len(t, n.AllNodes(), 3)
		end()
		again, end = asksForName(t, n, tr, "host.example", "secret")
		require.Equal(t, first.Name, again.Name, "strangers have left it free")
		for _, end := range []func(){end, endSecond, endOther} {
			end()
		}
		require.Empty(t, n.AllNodes())
	})
}

// asksForName connects as a node without a name and returns the one that it gets. end closes the connection, and
// returns when the node has seen that. With a wrong cookie nothing else happens.
func asksForName(t *testing.T, n *node.Node, tr dist.Transport, host, cookie string) (id wire.NodeID, end func()) {
	c, err := tr.Dial(t.Context(), n.Addr().String(), n.Name())
	require.NoError(t, err)
	say(t, c, "N", uint64((otpFlags|erlflags.NameMe)&^(erlflags.Spawn|erlflags.Published)), uint32(0), uint16(len(host)), host)
	status, ok := hear(t, c)
	require.True(t, ok)
	name, ok := bytes.CutPrefix(status, []byte("snamed:"))
	require.True(t, ok, "%q", status)
	size := binary.BigEndian.Uint16(name)
	id = wire.NodeID{Name: node.Atom(name[2 : 2+size]), Creation: binary.BigEndian.Uint32(name[2+size:])}
	challenge, ok := hear(t, c)
	require.True(t, ok)
	flags := erlflags.Flags(binary.BigEndian.Uint64(challenge[1:]))
	require.True(t, flags.Has(erlflags.NameMe))
	require.False(t, flags.Has(erlflags.Published), "as OTP says it to such a node")
	digest := md5.Sum(fmt.Append(nil, cookie, binary.BigEndian.Uint32(challenge[9:])))
	say(t, c, "r", uint32(1), string(digest[:]))
	_, ok = hear(t, c)
	require.Equal(t, cookie == "secret", ok)
	synctest.Wait()
	go func() { // ended by the end of the connection
		for b := make([]byte, 1000); ; {
			if _, err := c.Read(b); err != nil {
				return
			}
		}
	}()
	return id, func() {
		c.Close()
		synctest.Wait()
	}
}

// An erl without a name connects, both ways of asking work, and its PIDs can be used.
func TestDynamicNamesOfOTP(t *testing.T) {
	c := newOTPHost(t)
	n := c.start(c.config("go"))
	_, err := n.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
	require.NoError(t, err)
	var names []string
	for range 2 {
		e := erltest.Start(t, erltest.Options{Name: "undefined@127.0.0.1", Cookie: erltest.Cookie, EPMD: c.mapper.Port})
		require.Equal(t, "nonode@nohost", e.Ask("node()"))
		require.Equal(t, "true", e.Ask("net_kernel:connect_node('go@127.0.0.1')"))
		require.Equal(t, "hello", e.Ask("gen_server:call({echo, 'go@127.0.0.1'}, hello)"))
		name := strings.Trim(e.Ask("node()"), "'")
		names = append(names, name)
		require.Equal(t, []node.Atom{node.Atom(name)}, n.AllNodes())
		require.Equal(t, "true", e.Ask("register(box, self())"))
		e.Tell("receive {'$gen_call', {P, T}, Q} -> P ! {T, Q} end, ok")
		got, err := node.Call[int](testkit.Context(t), n, node.At{Name: "box", Node: node.Atom(name)}, 7)
		require.NoError(t, err)
		require.Equal(t, 7, got)
		require.Equal(t, "ok", e.Answer())
		e.Kill()
		testkit.Until(t, func() string {
			if up := n.AllNodes(); len(up) > 0 {
				return fmt.Sprintf("%v is still connected", up)
			}
			return ""
		})
	}
	require.Equal(t, names[0], names[1], "the name was free again")
}

// A spawn whose arguments cannot be read creates no new atom at an OTP caller, which would keep it for ever; the log
// says what is wrong.
func TestUnreadableSpawnMakesNoAtoms(t *testing.T) {
	c := newOTPHost(t)
	log := new(logtest.Text)
	cfg := c.config("go")
	cfg.Log = log.Logger()
	c.start(cfg)
	e := c.erl("e", erltest.Cookie)
	deep := func(n int) string {
		return e.Ask("catch erpc:call('go@127.0.0.1', m, f, [lists:foldl(fun(_, A) -> [A] end, [], lists:seq(1, %d))])", 100_000+n)
	}
	require.Equal(t, "{'EXIT',{{erpc,badarg},", deep(0)[:len("{'EXIT',{{erpc,badarg},")])
	before := e.Ask("erlang:system_info(atom_count)")
	for n := range 10 {
		deep(n)
	}
	require.Equal(t, before, e.Ask("erlang:system_info(atom_count)"))
	require.Contains(t, log.String(), "its arguments cannot be read")
	require.Contains(t, log.String(), "nested")
}

// A Go node gets its name from another, Go or OTP, is called by it, and stops when it has lost it.
func TestNamedByAnother(t *testing.T) {
	c := clustertest.NewCluster(t)
	namer, other := c.Start("namer"), c.Start("other")
	d := node.Distribution{NamedBy: namer.Name()}
	n, err := node.Start(c.ConfigWith("undefined", d))
	require.NoError(t, err)
	require.Regexp(t, `^[0-9A-Z]+@127\.0\.0\.1$`, string(n.Name()))
	testkit.Until(t, func() string { // it may be told after the other end
		if up := namer.AllNodes(); !slices.Contains(up, n.Name()) {
			return fmt.Sprintf("connected to %v, not to %v", up, n.Name())
		}
		return ""
	})
	require.Equal(t, []node.Atom{namer.Name()}, n.AllNodes())
	require.Empty(t, n.Endpoints())
	usable(t, n, namer)
	usable(t, other, n) // which it has told its name, as any node
	second := c.StartWith("undefined", d)
	require.NotEqual(t, n.Name(), second.Name())

	namer.Disconnect(n.Name())
	<-n.Done()
	require.ErrorContains(t, n.Err(), "has its name no longer: the connection to namer@127.0.0.1 is over")
	require.ErrorContains(t, n.Stop(), "has its name no longer")
}

func TestNamedByOTP(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e", erltest.Cookie)
	cfg := c.config("undefined")
	cfg.Distribution.NamedBy = "e@127.0.0.1"
	n, err := node.Start(cfg)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("['%s']", n.Name()), e.Ask("nodes(hidden)"))
	_, err = n.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
	require.NoError(t, err)
	require.Equal(t, "7", e.Ask("gen_server:call({echo, '%s'}, 7)", n.Name()))
	require.NoError(t, n.Ping(testkit.Context(t), "e@127.0.0.1"))
	e.Kill()
	<-n.Done()
	require.ErrorContains(t, n.Stop(), "has its name no longer")

	cfg.Name = "mine@127.0.0.1"
	_, err = node.Start(cfg)
	require.ErrorContains(t, err, "want undefined@HOST")
	cfg.Name, cfg.Distribution.Published = "undefined@127.0.0.1", global.Join(global.Config{})
	_, err = node.Start(cfg)
	require.ErrorContains(t, err, "is not Published")
	cfg.Distribution.Published = nil
	_, err = node.Start(cfg)
	require.ErrorContains(t, err, "cannot get a name from e@127.0.0.1")
}

// usable makes two nodes call each other.
func usable(t *testing.T, nodes ...*node.Node) {
	t.Helper()
	for i, n := range nodes {
		pid, err := n.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		got, err := node.Call[int](testkit.Context(t), nodes[1-i], pid, 7)
		require.NoError(t, err)
		require.Equal(t, 7, got)
	}
}
