package erldist

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/etf"
)

// gone is an expression that waits until erl knows of no connection with us: as long as one that has ended, or been
// refused, is in its table it makes no other.
const gone = "(fun F() -> case ets:member(sys_dist, 'go@127.0.0.1') of true -> timer:sleep(5), F(); false -> ok end end)()"

// dialsUs lets erl connect to us and returns both ends' view of it.
//
//lint:ignore ST1008 the string is what erl says, after our error
func (e *erl) dialsUs(l net.Listener, p *Protocol, h dist.Handshake) (dist.Link, error, string) {
	e.Tell(gone + ", net_kernel:connect_node('go@127.0.0.1')")
	c, err := l.Accept()
	require.NoError(e.t, err)
	h.Peer = ""
	link, err := p.Accept(e.t.Context(), c, h)
	return link, err, e.Answer()
}

func TestErlangBothWays(t *testing.T) {
	e := startErl(t)
	s := e.dial(&Protocol{})
	p := s.link.Peer()
	assert.Equal(t, e.name, p.ID.Name)
	assert.NotZero(t, p.ID.Creation)
	assert.False(t, p.Hidden)
	assert.True(t, p.Spawn && p.Alias && p.Monitor)
	assert.Equal(t, erlflags.Flags(0xd07df7fbd)&^erlflags.Published, erlflags.Flags(p.Flags), "%v", erlflags.Flags(p.Flags))
	assert.Equal(t, "['go@127.0.0.1']", e.Ask("nodes(hidden)"))
	s.to("echo", wire.Tuple{s.pid(1), wire.Atom("hello")})
	f := s.next()
	assert.Equal(t, dist.OpSend, f.Op)
	assert.Equal(t, s.pid(1), f.To)
	assert.Equal(t, wire.Atom("hello"), f.Payload)
	assert.Equal(t, e.name, f.From.Node())

	require.NoError(t, s.link.Close())
	assert.ErrorIs(t, s.ends(), net.ErrClosed)
	require.Equal(t, "ok", e.Ask("(fun F() -> case nodes(hidden) of [] -> ok; _ -> timer:sleep(5), F() end end)()"))

	l := e.listen()
	link, err, answer := e.dialsUs(l, &Protocol{}, e.handshake())
	require.NoError(t, err)
	assert.Equal(t, "true", answer)
	s = newSide(t, link)
	assert.Equal(t, p.ID, link.Peer().ID)
	s.to("echo", wire.Tuple{s.pid(1), wire.Atom("again")})
	assert.Equal(t, wire.Atom("again"), s.next().Payload)
	assert.Equal(t, "true", e.Ask("erlang:disconnect_node('go@127.0.0.1')"))
	assert.ErrorIs(t, s.ends(), io.EOF)
}

func TestErlangWrongCookie(t *testing.T) {
	e := startErl(t)
	h := e.handshake()
	h.Cookies = knows("wrong")
	_, err := new(Protocol).Dial(t.Context(), e.conn(), h)
	assert.ErrorIs(t, err, dist.ErrCookie)
	assert.ErrorContains(t, err, "e@127.0.0.1 closed the connection after this node's answer")
	e.Log.Await(e.t, "Connection attempt from node 'go@127.0.0.1' rejected. Invalid challenge reply.")

	l := e.listen()
	_, err, answer := e.dialsUs(l, &Protocol{}, h)
	assert.ErrorIs(t, err, dist.ErrCookie)
	assert.Equal(t, "false", answer)

	// OTP has one cookie for each peer. Ours may differ by direction, and a peer that knows only one of the two then
	// gets no further.
	h.Cookies = func(wire.Atom) (string, string) { return "other", "secret" }
	_, err = new(Protocol).Dial(t.Context(), e.conn(), h)
	assert.ErrorIs(t, err, dist.ErrCookie)
	assert.ErrorContains(t, err, "does not know the cookie")
}

func TestErlangMissesFlags(t *testing.T) {
	e := startErl(t)
	l := e.listen()
	for _, k := range erlflags.Known {
		if !erlflags.Needed.Has(k.Flag) {
			continue
		}
		p := &Protocol{Without: uint64(k.Flag | erlflags.Mandatory25Digest)}
		_, err := p.Dial(t.Context(), e.conn(), e.handshake())
		assert.ErrorIs(t, err, dist.ErrNotAllowed, "%s", k.Name)
		e.Log.Await(e.t, fmt.Sprintf("Connection attempt from node 'go@127.0.0.1' rejected since it cannot handle [%q].", k.Name))
		_, err, answer := e.dialsUs(l, p, e.handshake())
		assert.Error(t, err, "%s", k.Name)
		assert.Equal(t, "false", answer)
		e.Log.Await(e.t, fmt.Sprintf("Connection attempt to node 'go@127.0.0.1' aborted since it cannot handle [%q].", k.Name))
	}
	// The digest alone stands for all of them.
	p := &Protocol{Without: uint64(erlflags.Needed)}
	s := newSide(t, func() dist.Link {
		l, err := p.Dial(t.Context(), e.conn(), e.handshake())
		require.NoError(t, err)
		return l
	}())
	s.to("echo", wire.Tuple{s.pid(1), wire.NewMap(wire.Atom("a"), 1.5)})
	assert.True(t, wire.Equal(wire.NewMap(wire.Atom("a"), 1.5), s.next().Payload))
}

func TestErlangNotAllowedAndAlive(t *testing.T) {
	e := startErl(t)
	require.Equal(t, "ok", e.Ask("net_kernel:allow(['x@127.0.0.1'])"))
	_, err := new(Protocol).Dial(t.Context(), e.conn(), e.handshake())
	assert.ErrorIs(t, err, dist.ErrNotAllowed)
	assert.ErrorContains(t, err, "e@127.0.0.1 answered not_allowed")
	require.Equal(t, "ok", e.Ask("net_kernel:allow(['go@127.0.0.1'])"))

	first := e.dial(&Protocol{})
	second := e.dial(&Protocol{}) // alive, and we insist
	assert.Error(t, first.ends())
	second.to("echo", wire.Tuple{second.pid(1), 1})
	assert.Equal(t, 1, second.next().Payload)

	h := e.handshake()
	h.Peer = "other@127.0.0.1"
	_, err = new(Protocol).Dial(t.Context(), e.conn(), h)
	assert.ErrorIs(t, err, dist.ErrPeerName)
	assert.ErrorContains(t, err, `expected other@127.0.0.1 to answer, but "e@127.0.0.1" did`)

	require.NoError(t, second.link.Close())
	l := e.listen()
	for _, c := range []struct {
		v    dist.Verdict
		want error
	}{{dist.NotAllowed, dist.ErrNotAllowed}, {dist.Simultaneous, nil}, {dist.Alive, nil}} {
		h := e.handshake()
		h.Admit = func(id wire.NodeID) dist.Verdict {
			assert.Equal(t, e.name, id.Name)
			return c.v
		}
		link, err, answer := e.dialsUs(l, &Protocol{}, h)
		if c.want != nil {
			assert.ErrorIs(t, err, c.want)
			assert.Equal(t, "false", answer)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, "true", answer)
		assert.Equal(t, "true", e.Ask("erlang:disconnect_node('go@127.0.0.1')"))
		_ = link.Close()
	}
}

func TestErlangAsksForAName(t *testing.T) {
	e := startErlAs(t, "undefined@127.0.0.1")
	l := e.listen()
	h := e.handshake()
	h.NameFor = func(host string) (wire.NodeID, bool) {
		return wire.NodeID{Name: wire.Atom("dyn1@" + host), Creation: 99}, true
	}
	link, err, answer := e.dialsUs(l, &Protocol{}, h)
	require.NoError(t, err)
	assert.Equal(t, "true", answer)
	assert.Equal(t, wire.NodeID{Name: "dyn1@127.0.0.1", Creation: 99}, link.Peer().ID)
	s := newSide(t, link)
	s.to("echo", wire.Tuple{s.pid(1), wire.Atom("hi")})
	f := s.next()
	assert.Equal(t, wire.NodeID{Name: "dyn1@127.0.0.1", Creation: 99}, f.From.Origin().NodeID())
	assert.Equal(t, "'dyn1@127.0.0.1'", e.Ask("node()"))
}

func TestErlangNoNames(t *testing.T) {
	e := startErlAs(t, "undefined@127.0.0.1")
	l := e.listen()
	_, err, answer := e.dialsUs(l, &Protocol{}, e.handshake())
	assert.ErrorIs(t, err, dist.ErrNotAllowed)
	assert.Equal(t, "false", answer)
}

func TestErlangMonitorsAndLinks(t *testing.T) {
	e := startErl(t)
	s := e.dial(&Protocol{})
	ref := s.origin.RefOf(1)
	s.send(dist.Frame{Op: dist.OpMonitor, From: s.pid(1), Name: "nobody_there", Ref: ref})
	assert.Equal(t, dist.Frame{Op: dist.OpDown, Name: "nobody_there", To: s.pid(1), Ref: ref, Payload: wire.Atom("noproc")},
		s.next())

	// A process of theirs: monitored, linked, sent a signal, gone.
	s.to("echo", wire.Tuple{s.pid(1), 1})
	echo := s.next().From
	s.send(dist.Frame{Op: dist.OpMonitor, From: s.pid(1), To: echo, Ref: ref})
	s.send(dist.Frame{Op: dist.OpMonitor, From: s.pid(1), To: echo, Ref: s.origin.RefOf(2)})
	s.send(dist.Frame{Op: dist.OpDemonitor, From: s.pid(1), To: echo, Ref: s.origin.RefOf(2)})
	s.send(dist.Frame{Op: dist.OpLink, From: s.pid(2), To: echo})
	s.send(dist.Frame{Op: dist.OpLink, From: s.pid(3), To: echo})
	s.send(dist.Frame{Op: dist.OpUnlink, ID: 1 << 63, From: s.pid(3), To: echo})
	assert.Equal(t, dist.Frame{Op: dist.OpUnlinkAck, ID: 1 << 63, From: echo, To: s.pid(3)}, s.next())
	reason := wire.Tuple{wire.Atom("shot"), []byte("by us")}
	s.send(dist.Frame{Op: dist.OpSignal, From: s.pid(1), To: echo, Payload: reason})
	got := map[dist.Op]dist.Frame{}
	for range 2 {
		f := s.next()
		got[f.Op] = f
	}
	assert.Equal(t, dist.Frame{Op: dist.OpDown, From: echo, To: s.pid(1), Ref: ref, Payload: reason}, got[dist.OpDown])
	assert.Equal(t, dist.Frame{Op: dist.OpExit, From: echo, To: s.pid(2), Payload: reason}, got[dist.OpExit])

	// What they do to a process of ours.
	e.Tell("P = spawn(fun() -> receive {linkto, Q} -> link(Q), receive unlink -> unlink(Q) end, monitor(process, Q), " +
		"M = monitor(process, {ours, 'go@127.0.0.1'}), demonitor(M), exit(Q, [bye]) end end), register(p, P)")
	e.Answer()
	s.to("p", wire.Tuple{wire.Atom("linkto"), s.pid(7)})
	f := s.next()
	assert.Equal(t, dist.OpLink, f.Op)
	assert.Equal(t, s.pid(7), f.To)
	p := f.From
	s.to("p", wire.Atom("unlink"))
	f = s.next()
	assert.Equal(t, dist.OpUnlink, f.Op)
	assert.NotZero(t, f.ID)
	assert.Equal(t, p, f.From)
	s.send(dist.Frame{Op: dist.OpUnlinkAck, ID: f.ID, From: s.pid(7), To: p})
	f = s.next()
	assert.Equal(t, dist.Frame{Op: dist.OpMonitor, From: p, To: s.pid(7), Ref: f.Ref}, f)
	f = s.next()
	assert.Equal(t, dist.Frame{Op: dist.OpMonitor, From: p, Name: "ours", Ref: f.Ref}, f)
	assert.Equal(t, dist.Frame{Op: dist.OpDemonitor, From: p, Name: "ours", Ref: f.Ref}, s.next())
	assert.Equal(t, dist.Frame{Op: dist.OpSignal, From: p, To: s.pid(7), Payload: wire.List{wire.Atom("bye")}}, s.next())
	assert.Equal(t, dist.OpDemonitor, s.next().Op) // p has ended
	require.Equal(t, "true", e.Ask("group_leader(self(), "+theirView(s.pid(7))+")"))
	f = s.next()
	assert.Equal(t, dist.Frame{Op: dist.OpGroupLeader, Leader: f.Leader, To: s.pid(7)}, f)
	assert.Equal(t, e.name, f.Leader.Node())

	// A monitor of theirs on a process of ours that ends.
	e.Tell("Q = " + theirView(s.pid(8)) + ", R = monitor(process, Q), receive {'DOWN', R, process, Q, W} -> W end")
	for f = s.next(); f.Op != dist.OpMonitor || f.To != s.pid(8); f = s.next() {
	}
	s.send(dist.Frame{Op: dist.OpDown, From: s.pid(8), To: f.From, Ref: f.Ref, Payload: wire.Tuple{wire.Atom("gone"), 1}})
	assert.Equal(t, "{gone,1}", e.Answer())
	e.Tell("process_flag(trap_exit, true), L = " + theirView(s.pid(9)) + ", link(L), receive {'EXIT', L, V} -> V end")
	for f = s.next(); f.Op != dist.OpLink; f = s.next() {
	}
	s.send(dist.Frame{Op: dist.OpExit, From: s.pid(9), To: f.From, Payload: wire.Atom("noproc")})
	assert.Equal(t, "noproc", e.Answer())
}

// theirView returns an expression for a pid of ours.
func theirView(p wire.PID) string {
	b, err := etf.Append(nil, p)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("binary_to_term(<<%s>>)", strings.Trim(strings.ReplaceAll(fmt.Sprint(b), " ", ","), "[]"))
}

func TestErlangSpawn(t *testing.T) {
	e := startErl(t)
	s := e.dial(&Protocol{})
	ref, result := s.origin.RefOf(1), s.origin.RefOf(2)
	s.send(dist.Frame{Op: dist.OpSpawn, Ref: ref, From: s.pid(1), Spawn: &dist.Spawn{
		Module: "erpc", Function: "execute_call", Monitor: true,
		Args: []any{result, wire.Atom("erlang"), wire.Atom("node"), wire.List{}},
	}})
	f := s.next()
	require.Equal(t, dist.OpSpawnReply, f.Op)
	assert.Equal(t, ref, f.Ref)
	assert.True(t, f.Watched && !f.Linked)
	assert.Equal(t, e.name, f.From.Node())
	spawned := f.From
	f = s.next()
	assert.Equal(t, dist.Frame{Op: dist.OpDown, From: spawned, To: s.pid(1), Ref: ref,
		Payload: wire.Tuple{result, wire.Atom("return"), e.name}}, f)

	// An error (OTP has no option name), a link, another option.
	s.send(dist.Frame{Op: dist.OpSpawn, Ref: ref, From: s.pid(1), Spawn: &dist.Spawn{
		Module: "farend", Function: "sink", Name: "echo"}})
	f = s.next()
	assert.Equal(t, dist.Frame{Op: dist.OpSpawnReply, Ref: ref, To: s.pid(1), Payload: wire.Atom("badopt")}, f)
	s.send(dist.Frame{Op: dist.OpSpawn, Ref: ref, From: s.pid(1), Token: nil, Spawn: &dist.Spawn{
		Module: "farend", Function: "sink", Link: true, Monitor: true, Args: []any{},
		Options: wire.List{wire.Tuple{wire.Atom("priority"), wire.Atom("high")}}}})
	f = s.next()
	assert.True(t, f.Watched && f.Linked)
	assert.Equal(t, "{priority,high}", e.Ask("process_info("+theirView(f.From)+", priority)"))

	// Their requests to us.
	e.Tell("erpc:call('go@127.0.0.1', m, f, [1, 2, 3])")
	f = s.next()
	require.Equal(t, dist.OpSpawn, f.Op)
	assert.Equal(t, wire.Atom("erpc"), f.Spawn.Module)
	assert.Equal(t, wire.Atom("execute_call"), f.Spawn.Function)
	assert.True(t, f.Spawn.Monitor)
	require.Len(t, f.Spawn.Args, 4)
	assert.Equal(t, wire.List{1, 2, 3}, f.Spawn.Args[3])
	s.send(dist.Frame{Op: dist.OpSpawnReply, Ref: f.Ref, To: f.From, From: s.pid(50), Watched: true})
	s.send(dist.Frame{Op: dist.OpDown, From: s.pid(50), To: f.From, Ref: f.Ref,
		Payload: wire.Tuple{f.Spawn.Args[0], wire.Atom("return"), wire.Atom("made_in_go")}})
	assert.Equal(t, "made_in_go", e.Answer())

	e.Tell("spawn_opt('go@127.0.0.1', m, f, \"ab\", [link, monitor, {priority, low}])")
	f = s.next()
	require.Equal(t, dist.OpSpawn, f.Op)
	assert.True(t, f.Spawn.Link && f.Spawn.Monitor)
	assert.Equal(t, []any{97, 98}, f.Spawn.Args)
	assert.Equal(t, wire.List{wire.Tuple{wire.Atom("priority"), wire.Atom("low")}}, f.Spawn.Options)
	s.send(dist.Frame{Op: dist.OpSpawnReply, Ref: f.Ref, To: f.From, From: s.pid(51), Watched: true, Linked: true})
	assert.Contains(t, e.Answer(), "<")
	e.Tell("spawn_request('go@127.0.0.1', m, f, [], [{reply_tag, tag}]), receive {tag, _, error, Why} -> Why end")
	f = s.next()
	s.send(dist.Frame{Op: dist.OpSpawnReply, Ref: f.Ref, To: f.From, Payload: wire.Atom("notsup")})
	assert.Equal(t, "notsup", e.Answer())
}

func TestErlangCallsAndAliases(t *testing.T) {
	e := startErl(t)
	s := e.dial(&Protocol{})
	e.Tell("net_adm:ping('go@127.0.0.1')")
	f := s.next() // monitor of net_kernel
	require.Equal(t, dist.OpMonitor, f.Op)
	assert.Equal(t, wire.Atom("net_kernel"), f.Name)
	f = s.next()
	require.Equal(t, dist.OpSend, f.Op)
	assert.Equal(t, wire.Atom("net_kernel"), f.Name)
	call := f.Payload.(wire.Tuple)
	assert.Equal(t, wire.Atom("$gen_call"), call[0])
	tag := call[1].(wire.Tuple)[1].(wire.ImproperList)
	alias := tag.Tail.(wire.Ref)
	s.send(dist.Frame{Op: dist.OpSend, From: s.pid(1), Ref: alias, Payload: wire.Tuple{tag, wire.Atom("yes")}})
	assert.Equal(t, "pong", e.Answer())
	assert.Equal(t, dist.OpDemonitor, s.next().Op)

	// A traced message keeps its token both ways.
	e.Tell("seq_trace:set_token(label, 42), {echo2, 'go@127.0.0.1'} ! hello, seq_trace:set_token([]), receive M -> M end")
	f = s.next()
	require.NotNil(t, f.Token)
	token := f.Token.(wire.Tuple)
	require.Len(t, token, 5)
	assert.Equal(t, 42, token[1])
	s.send(dist.Frame{Op: dist.OpSend, From: s.pid(1), To: f.From, Payload: wire.Atom("back"), Token: token})
	assert.Equal(t, "back", e.Answer())
	assert.Equal(t, "{label,42}", e.Ask("seq_trace:get_token(label)"))

	// Each way to send and to signal, with a token.
	e.Tell("seq_trace:set_token([]), Self = self(), spawn(fun F() -> register(tok, self()), Self ! up, process_flag(trap_exit, " +
		"true), " +
		"(fun G(0) -> ok; G(N) -> receive Y -> {label, L} = seq_trace:get_token(label), Self ! {Y, L}, G(N-1) end end)(3) end), " +
		"receive up -> ok end")
	e.Answer()
	s.send(dist.Frame{Op: dist.OpSend, From: s.pid(1), Name: "tok", Payload: wire.Atom("named"), Token: token})
	s.send(dist.Frame{Op: dist.OpMonitor, From: s.pid(1), Name: "tok", Ref: s.origin.RefOf(77)})
	assert.Contains(t, e.Ask("receive {named, 42} -> ok end"), "ok")
	e.Tell("{whereis(tok), self()}")
	e.Answer()
	e.Tell("whereis(tok) ! more, {ours, 'go@127.0.0.1'} ! whereis(tok)")
	e.Answer()
	for f = s.next(); f.Op != dist.OpSend; f = s.next() {
	}
	tok := f.Payload.(wire.PID)
	s.send(dist.Frame{Op: dist.OpSignal, From: s.pid(1), To: tok, Payload: wire.Atom("sig"), Token: token})
	assert.Contains(t, e.Ask("receive {{'EXIT', _, sig}, 42} -> ok end"), "ok")
}

func TestErlangTerms(t *testing.T) {
	e := startErl(t)
	for _, p := range []*Protocol{{}, {Without: uint64(erlflags.DistHdrAtomCache)}, {Without: uint64(erlflags.Fragments)},
		{Without: uint64(erlflags.ExitPayload | erlflags.SendSender)}} {
		s := e.dial(p)
		require.Equal(t, "true", e.Ask("erase(), K = farend:kinds(), put(k, K), {kinds, 'go@127.0.0.1'} ! K, true"))
		kinds := s.next().Payload.(wire.List)
		require.Greater(t, len(kinds), 30)
		e.Tell("receive B -> B =:= get(k) end")
		for _, k := range kinds { // one by one, then together
			s.to("echo", wire.Tuple{s.pid(1), k})
			back := s.next().Payload
			assert.True(t, wire.Equal(k, back), "%s\n%s", wire.Format(k), wire.Format(back))
		}
		// The evaluator is the sender.
		shell := wire.PID{}
		for _, k := range kinds {
			if p, ok := k.(wire.PID); ok {
				shell = p
			}
		}
		s.send(dist.Frame{Op: dist.OpSend, From: s.pid(1), To: shell, Payload: kinds})
		assert.Equal(t, "true", e.Answer())

		// More atoms than the cache holds, several times, both ways.
		for _, prefix := range []string{"x", "y", "x", strings.Repeat("ж", 200)} {
			e.Tell(fmt.Sprintf("A = farend:atoms(%s, 3000), [{kinds, 'go@127.0.0.1'} ! {X, X} || X <- A], {kinds, 'go@127.0.0.1'} ! A, ok",
				strings.Trim(strings.ReplaceAll(fmt.Sprint([]rune(prefix)), " ", ","), " ")))
			require.Equal(t, "ok", e.Answer())
			for i := range 3000 {
				want := wire.Atom(fmt.Sprintf("%s%d", prefix, i+1))
				require.Equal(t, wire.Tuple{want, want}, s.next().Payload)
			}
			all := s.next().Payload.(wire.List)
			require.Len(t, all, 3000)
			for range 2 {
				for i, a := range all {
					if i%7 == 0 || len(prefix) < 3 {
						s.put(dist.Frame{Op: dist.OpSend, From: s.pid(1), Name: "echo",
							Payload: wire.Tuple{s.pid(1), wire.List{a, a, wire.Atom("fixed")}}})
					}
				}
				s.to("echo", wire.Tuple{s.pid(1), all})
			}
			for range 2 {
				for i, a := range all {
					if i%7 == 0 || len(prefix) < 3 {
						require.Equal(t, wire.List{a, a, wire.Atom("fixed")}, s.next().Payload)
					}
				}
				require.Equal(t, all, s.next().Payload)
			}
		}
		require.NoError(t, s.link.Close())
	}
}

func TestErlangLargeAndMany(t *testing.T) {
	e := startErl(t)
	for _, p := range []*Protocol{{}, {Without: uint64(erlflags.Fragments)}, {Without: uint64(erlflags.DistHdrAtomCache)}} {
		s := e.dial(p)
		blob := make([]byte, 20<<20)
		_, _ = rand.Read(blob)
		s.to("echo", wire.Tuple{s.pid(1), wire.Tuple{wire.Atom("blob"), blob}})
		back := s.next().Payload.(wire.Tuple)
		require.True(t, bytes.Equal(blob, back[1].([]byte)))
		for _, n := range []int{fragmentSize - 200, fragmentSize - 1, fragmentSize, fragmentSize + 1, 2 * fragmentSize,
			3*fragmentSize + 17} {
			for d := range 100 {
				s.to("echo", wire.Tuple{s.pid(1), blob[:n-50+d]})
				require.True(t, bytes.Equal(blob[:n-50+d], s.next().Payload.([]byte)), "%d", n-50+d)
			}
		}
		// An exit reason in fragments.
		s.to("echo", wire.Tuple{s.pid(1), 1})
		echo := s.next().From
		s.send(dist.Frame{Op: dist.OpMonitor, From: s.pid(1), To: echo, Ref: s.origin.RefOf(1)})
		s.send(dist.Frame{Op: dist.OpSignal, From: s.pid(1), To: echo, Payload: blob[:1<<20]})
		f := s.next()
		assert.Equal(t, dist.OpDown, f.Op)
		assert.True(t, bytes.Equal(blob[:1<<20], f.Payload.([]byte)))
		require.Equal(t, "true", e.Ask("register(echo, proc_lib:spawn(fun F() -> receive {P, T} -> P ! T, F() end end))"))

		const n = 100_000
		require.Equal(t, "ok", e.Ask("farend:collect(many, %d)", n))
		for i := range n {
			if s.put(dist.Frame{Op: dist.OpSend, From: s.pid(1), Name: "many", Payload: i + 1}) > 1<<15 {
				s.flush()
			}
		}
		s.flush()
		assert.Equal(t, "0", e.Ask("receive {many, Bad} -> Bad end"))
		e.Tell("farend:many(%s, %d)", theirView(s.pid(1)), n)
		for i := range n {
			require.Equal(t, i+1, s.next().Payload)
		}
		assert.Equal(t, "ok", e.Answer())
		require.NoError(t, s.link.Close())
	}
}

func TestErlangTicks(t *testing.T) {
	e := startErl(t, "-kernel", "net_ticktime", "2")
	var s *side
	for late := true; late; {
		s = e.dial(&Protocol{})
		late = s.ticks(8)
	}
	assert.Error(t, s.ends()) // without ticks of ours
	e.Log.Await(e.t, "not responding")
	require.Equal(t, "2", e.Ask("net_kernel:get_net_ticktime()"), "not OTP's default")
}

// ticks waits until erl has ticked n times, and is alive, and ticks itself meanwhile. It returns true if its own ticks
// came so late that erl has ended the link.
func (s *side) ticks(n uint64) (late bool) {
	s.t.Helper()
	in, _ := s.link.Traffic()
	our := time.NewTicker(200 * time.Millisecond) // more often than erl needs to hear of us
	defer our.Stop()
	end, last, asked := time.After(testkit.Limit), time.Now(), false
	for {
		select {
		case <-our.C:
			late = late || time.Since(last) > time.Second // erl waits for 1.5 s at least
			last = time.Now()
			_, err := s.link.Flush(true)
			require.True(s.t, err == nil || late, "%v", err)
			if now, _ := s.link.Traffic(); now >= in+n && !asked {
				f := dist.Frame{Op: dist.OpSend, From: s.pid(1), Name: "echo", Payload: wire.Tuple{s.pid(1), wire.Atom("alive")}}
				_, err := s.link.Write(&f) // the next tick is behind it
				asked = err == nil
			}
		case f, ok := <-s.frames:
			late = late || time.Since(last) > time.Second
			if !ok && late {
				return true
			}
			if !ok {
				require.NoError(s.t, s.err, "the link has ended")
			}
			require.True(s.t, asked)
			require.Equal(s.t, wire.Atom("alive"), f.Payload)
			return false
		case <-end:
			require.Fail(s.t, "erl does not tick")
		}
	}
}

func TestErlangDropsWhatIsInvalid(t *testing.T) {
	e := startErl(t)
	third := wire.NewOrigin(wire.NodeID{Name: "third@127.0.0.1", Creation: 1}).PID(5)
	for _, ctl := range []wire.Tuple{
		{99, 1},
		{int(opLink), third, wire.Atom("x")},
		{int(opMonitorP), third, wire.Atom("echo"), wire.NewOrigin(self).RefOf(1)},
		{int(opUnlinkID), 0, wire.NewOrigin(self).PID(1), third},
	} {
		s := e.dial(&Protocol{})
		b, err := etf.Append(nil, ctl)
		require.NoError(t, err)
		frame := append([]byte{0, 0, 0, byte(2 + len(b)), 131, distHeader, 0}, b[1:]...)
		_, err = s.link.(*link).conn.Write(frame)
		require.NoError(t, err)
		assert.Error(t, s.ends(), "%s", wire.Format(ctl))
	}
	e.Log.Await(e.t, "Invalid distribution message")
}

func TestErlangTLS(t *testing.T) {
	erltest.NeedTLS(t)
	dir := t.TempDir()
	f := certtest.New(t, "actornode test").Write(dir, certtest.Host("127.0.0.1"))
	conf := filepath.Join(dir, "ssl.conf")
	require.NoError(t, os.WriteFile(conf, []byte(fmt.Sprintf(`[{server, [{certfile, %q}, {keyfile, %q}]}, {client, [{verify, verify_none}]}].`,
		f.Cert, f.Key)), 0o600))
	e := startErl(t, "-proto_dist", "inet_tls", "-ssl_dist_optfile", conf)
	cert, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	require.NoError(t, err)

	c := tls.Client(e.conn(), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test
	l, err := new(Protocol).Dial(t.Context(), c, e.handshake())
	require.NoError(t, err)
	s := newSide(t, l)
	s.to("echo", wire.Tuple{s.pid(1), make([]byte, 300_000)})
	assert.Equal(t, make([]byte, 300_000), s.next().Payload)
	require.NoError(t, l.Close())
	require.Equal(t, "ok", e.Ask("(fun F() -> case nodes(hidden) of [] -> ok; _ -> timer:sleep(5), F() end end)()"))

	ln := tls.NewListener(e.listen(), &tls.Config{Certificates: []tls.Certificate{cert}})
	l, err, answer := e.dialsUs(ln, &Protocol{}, e.handshake())
	require.NoError(t, err)
	assert.Equal(t, "true", answer)
	s = newSide(t, l)
	s.to("echo", wire.Tuple{s.pid(1), wire.Atom("hi")})
	assert.Equal(t, wire.Atom("hi"), s.next().Payload)
}

func TestErlangCutsOff(t *testing.T) {
	e := startErl(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String()) // nobody answers
	require.NoError(t, err)
	why := errors.New("changed its mind")
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	_, err = new(Protocol).Dial(ctx, c, e.handshake())
	assert.ErrorIs(t, err, why)
	c, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	h := e.handshake()
	h.Limits.Timeout = 20 * time.Millisecond
	_, err = new(Protocol).Dial(t.Context(), c, h)
	assert.ErrorContains(t, err, "e@127.0.0.1 did not answer within 20ms (await status)")
}
