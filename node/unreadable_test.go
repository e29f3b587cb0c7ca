package node_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// forging is TCP that replaces binaries that nodes write with bytes of the test: so a node sends what no node would.
type forging struct {
	dist.TCP
	mu    sync.Mutex
	seq   uint32
	forms [][2][]byte // what is written, what is sent
}

// term returns what to send so that a protocol, "native" or "erlang", sends these bytes as the term.
func (f *forging) term(protocol string, b []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	head := []byte{0xc4, byte(len(b) - 2)} // a binary of package pack
	switch {
	case protocol == "erlang": // BINARY_EXT
		head = binary.BigEndian.AppendUint32([]byte{109}, uint32(len(b)-5))
	case len(b) > 257:
		head = binary.BigEndian.AppendUint16([]byte{0xc5}, uint16(len(b)-3))
	}
	f.seq++
	data := bytes.Repeat([]byte{0xfe}, len(b)-len(head))
	binary.BigEndian.PutUint32(data[1:], f.seq)
	f.forms = append(f.forms, [2][]byte{append(head, data...), b})
	return data
}

func (f *forging) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	conn, err := f.TCP.Dial(ctx, addr, peer)
	return forgingConn{conn, f}, err
}

func (f *forging) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := f.TCP.Listen(ctx, addr)
	return forgingListener{l, f}, err
}

type forgingListener struct {
	net.Listener
	f *forging
}

func (l forgingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return forgingConn{conn, l.f}, nil
}

type forgingConn struct {
	net.Conn
	f *forging
}

func (c forgingConn) Write(b []byte) (int, error) {
	c.f.mu.Lock()
	for _, form := range c.f.forms {
		b = bytes.ReplaceAll(b, form[0], form[1])
	}
	c.f.mu.Unlock()
	return c.Conn.Write(b)
}

// goBinary is {'$go', Binary} as a term.
func goBinary(b []byte) []byte {
	return append(append([]byte("\x68\x02\x77\x03$go\x6d"), binary.BigEndian.AppendUint32(nil, uint32(len(b)))...), b...)
}

// inKeys is a map nested in keys of maps, as bytes of package pack.
func inKeys(depth int) []byte {
	return append(bytes.Repeat([]byte{0x81}, depth), bytes.Repeat([]byte{1}, depth+1)...)
}

// largeInKeys is a map of 33 pairs in a key of a key, as bytes of an Erlang term.
func largeInKeys() []byte {
	large := []byte{116, 0, 0, 0, 33}
	for i := range byte(33) {
		large = append(large, 97, i, 97, 1)
	}
	one := []byte{116, 0, 0, 0, 1}
	return append(append(append(append([]byte{}, one...), one...), large...), 97, 1, 97, 1)
}

// unreadableForms are terms that no node writes, for a protocol, with the text of their error.
func unreadableForms(protocol string) map[string]struct {
	bytes []byte
	want  string
} {
	type form = struct {
		bytes []byte
		want  string
	}
	all := map[string]form{
		"a forged From":   {[]byte("\x93\xd4\x09\x07\xc7\x04\x01from\x07"), "no reference of the kind from: 7"},
		"a forged future": {[]byte("\x93\xd4\x09\x07\xc7\x06\x01future\x92\xc0\x01"), "no reference of the kind future: {1}"},
		"an error's parts": {[]byte("\x93\xd4\x09\x05\xc7\x06\x01$error\x81\xa5Parts\x05"),
			"what came as $error does not fit the type of that name here, at $error.Parts"},
		"maps in keys": {inKeys(40), "maps nested in keys of maps deeper than 32"},
	}
	if protocol == "erlang" {
		for name, f := range all {
			all[name] = form{goBinary(f.bytes), f.want}
		}
		all["no Go value"] = form{goBinary(bytes.Repeat([]byte{0xc1}, 10)), "begins no term"}
		all["more than one"] = form{goBinary(bytes.Repeat([]byte{1}, 10)), "behind the end of a Go value"}
		all["maps in keys of OTP"] = form{largeInKeys(), "a map of more than 32 pairs nested in keys of maps deeper than 1"}
	}
	return all
}

// forgers are two nodes with a forging connection.
type forgers struct {
	*forging
	protocol string
	self     *nodetest.Probe    // of the first node
	other    *node.Node         // the second node
	echo     node.PID           // on other
	lost     *deadletter.Stream // on other
}

// bytes returns what to send so that these bytes are sent as the term.
func (w forgers) bytes(b []byte) []byte { return w.term(w.protocol, b) }

// body is bytes as the body of a request. Over Erlang's protocol that is a part of a Go value.
func (w forgers) body(b []byte) any {
	if w.protocol == "native" || !bytes.HasPrefix(b, goBinary(nil)[:8]) {
		return w.bytes(b)
	}
	return wire.Tuple{"text", w.term("native", b[12:])}
}

// eachForged runs f with a forging connection in each protocol.
func eachForged(t *testing.T, f func(t *testing.T, w forgers)) {
	t.Helper()
	for _, protocol := range []string{"native", "erlang"} {
		t.Run(protocol, func(t *testing.T) {
			c, wires := clustertest.NewCluster(t), &forging{}
			c.Speak(protocol)
			start := func(name string) *node.Node {
				types := &node.Types{}
				require.NoError(t, types.Register(node.TypeOf[ring]("x.Ring"), node.TypeOf[holder]("x.Holder")))
				return c.StartWith(name, node.Distribution{Types: types, Transport: wires})
			}
			a, b := start("a"), start("b")
			lost := b.DeadLetters(10)
			t.Cleanup(lost.Close)
			pid, err := b.Spawn(node.ActorFunc(echo))
			require.NoError(t, err)
			self := nodetest.NewProbe(t, a)
			self.Monitor(pid)
			f(t, forgers{wires, protocol, self, b, pid, lost})
			_, err = node.Call[int](testkit.Context(t), self, pid, 1)
			require.NoError(t, err)
			self.ExpectNone() // no Down: it is still the same connection
		})
	}
}

// A frame that is complete on the wire and cannot be read ends no connection: a message becomes a dead letter whose
// error says why, and a process that calls, replies, delivers or exits with it gets an error.
func TestUnreadable(t *testing.T) {
	eachForged(t, func(t *testing.T, w forgers) {
		for name, form := range unreadableForms(w.protocol) {
			t.Run(name, func(t *testing.T) {
				v := w.bytes(form.bytes)
				require.NoError(t, w.self.Send(w.echo, v))
				letter := testkit.Receive(t, w.lost.C)
				require.Equal(t, deadletter.Unreadable, letter.Cause)
				require.Equal(t, w.echo, letter.To)
				require.ErrorContains(t, letter.Message.(error), "b@127.0.0.1 cannot read what a@127.0.0.1 has sent: ")
				require.ErrorContains(t, letter.Message.(error), form.want)

				body := w.body(form.bytes)
				_, err := node.Call[any](testkit.Context(t), w.self, w.echo, body)
				require.ErrorContains(t, err, "b@127.0.0.1 cannot read what a@127.0.0.1 has sent: ")
				require.ErrorContains(t, err, form.want)
				_, err = rpc.Spawn(testkit.Context(t), w.self, w.other.Name(), "any", "thing", body)
				var refused *rpc.SpawnError
				require.ErrorAs(t, err, &refused)
				require.ErrorContains(t, err, "b@127.0.0.1 cannot read what a@127.0.0.1 has sent: ")
				require.ErrorContains(t, err, form.want)
				_, err = rpc.Call[any](testkit.Context(t), w.self, w.other.Name(), "any", "thing", body)
				require.ErrorContains(t, err, form.want)
				if w.protocol == "native" {
					require.ErrorContains(t, node.Deliver(testkit.Context(t), w.self, w.echo, v), form.want)
					testkit.Receive(t, w.lost.C)
				}
			})
		}
	})
}

// A reply that cannot be read becomes the error of the call, and an exit reason the reason of the exit.
func TestUnreadableAnswer(t *testing.T) {
	eachForged(t, func(t *testing.T, w forgers) {
		for name, form := range unreadableForms(w.protocol) {
			t.Run(name, func(t *testing.T) {
				v := w.bytes(form.bytes)
				var reply any // set before the call that asks for it
				pid, err := w.other.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
					if r := msg.(node.Request[node.Atom]); r.Body == "reply" {
						return r.Reply(reply)
					}
					return node.ExitWith(v)
				}))
				require.NoError(t, err)
				reply = w.body(form.bytes)
				_, err = node.Call[any](testkit.Context(t), w.self, pid, node.Atom("reply"))
				require.ErrorContains(t, err, "a@127.0.0.1 cannot read what b@127.0.0.1 has sent: ")
				require.ErrorContains(t, err, form.want)
				ref := w.self.Monitor(pid)
				_, err = node.Call[any](testkit.Context(t), w.self, pid, node.Atom("exit"))
				require.ErrorContains(t, err, form.want)
				why, ok := w.self.ExpectDown(ref).Reason.(error)
				require.True(t, ok)
				require.ErrorContains(t, why, form.want)
			})
		}
	})
}

// Types that two nodes have registered under one name, and errors and types that cannot be read.
type (
	wideSize struct {
		N    int64
		Name string
		All  []wideSize
	}
	narrowSize struct {
		N    int32
		Name string
		All  []narrowSize
	}
	panicsWritten struct{ N int }
	panicsRead    struct{ N int }
	badError      struct{ Text string }
)

func (panicsWritten) MarshalBinary() ([]byte, error) { panic("not to be written") }
func (*panicsWritten) UnmarshalBinary([]byte) error  { return nil }
func (panicsRead) MarshalBinary() ([]byte, error)    { return []byte("x"), nil }
func (*panicsRead) UnmarshalBinary([]byte) error     { panic("not to be read") }
func (e badError) Error() string                     { return "bad: " + e.Text }
func (e badError) MarshalText() ([]byte, error)      { return []byte(e.Text), nil }
func (e *badError) UnmarshalText([]byte) error       { return errors.New("no text of mine") }

// A value that does not fit the type of its name does not become a map: a message becomes a dead letter, and a caller
// gets an error with the type, the field and both shapes.
func TestMisfit(t *testing.T) {
	for _, protocol := range []string{"native", "erlang"} {
		t.Run(protocol, func(t *testing.T) {
			cluster := clustertest.NewCluster(t)
			cluster.Speak(protocol)
			start := func(name string, size node.Type) *node.Node {
				types := &node.Types{}
				require.NoError(t, types.Register(size, node.TypeOf[panicsWritten]("x.Written"), node.TypeOf[panicsRead]("x.Read"),
					node.TypeOf[badError]("x.Bad")))
				return cluster.StartWith(name, node.Distribution{Types: types})
			}
			a, b := start("a", node.TypeOf[wideSize]("x.Size")), start("b", node.TypeOf[narrowSize]("x.Size"))
			lost := b.DeadLetters(10)
			t.Cleanup(lost.Close)
			pid, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
				r, _ := b.AsRequest(msg)
				if _, ok := r.Body.(node.Atom); ok {
					return r.From.Fail(fmt.Errorf("wrapped: %w", badError{"one"}))
				}
				return r.Reply(r.Body)
			}))
			require.NoError(t, err)
			self := nodetest.NewProbe(t, a)
			self.Monitor(pid)
			const large = 1 << 40
			for _, c := range []struct {
				v    any
				want []string
			}{
				{wideSize{N: large}, []string{"what came as x.Size", "at x.Size.N, which is of type int32: 1099511627776",
					"here {All []…, N int, Name string}, what came is {"}},
				{&wideSize{All: []wideSize{{}, {N: large}}}, []string{"at x.Size.All[1].N, which is of type int32"}},
				{[]wideSize{{N: large}}, []string{"what came as []x.Size", "at []x.Size[0].N, which is of type int32"}},
				{wire.Tuple{1, wideSize{N: large}}, []string{"what came as x.Size"}},
				{panicsRead{}, []string{"x.Read", "a method of the type panics: not to be read"}},
			} {
				_, err := node.Call[any](testkit.Context(t), self, pid, c.v)
				require.NoError(t, self.Send(pid, c.v))
				letter := testkit.Receive(t, lost.C)
				require.Equal(t, deadletter.Unreadable, letter.Cause)
				for _, want := range c.want {
					require.ErrorContains(t, err, want)
					require.ErrorContains(t, letter.Message.(error), want)
				}
			}
			require.ErrorContains(t, self.Send(pid, panicsWritten{}), "panics when asked for its bytes: not to be written")
			_, err = node.Call[any](testkit.Context(t), self, pid, panicsWritten{})
			require.ErrorContains(t, err, "panics when asked for its bytes: not to be written")

			_, err = node.Call[any](testkit.Context(t), self, pid, node.Atom("fail"))
			require.EqualError(t, err, "wrapped: bad: one", "an error whose parts cannot be read keeps its text")
			require.False(t, errors.As(err, new(badError)))

			got, err := node.Call[wideSize](testkit.Context(t), self, pid, wideSize{N: 5, Name: "x"})
			require.NoError(t, err)
			require.Equal(t, wideSize{N: 5, Name: "x"}, got)
			self.ExpectNone() // no Down: it is still the same connection
		})
	}
}

// A message that is no reply, and cannot be sent, has no effect on its receiver; a caller is told that its reply cannot
// be sent, even if the call came as a message from a PID and a reference, as gen_server:call of OTP 23 makes it.
func TestUnfitReplyToPlainFrom(t *testing.T) {
	farNodes(t, nil, func(t *testing.T, a, b *node.Node) {
		self := nodetest.NewProbe(t, a)
		pid, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[int])
			if err := c.SendOpt(node.SendOptions{NoWait: true}, r.From.Caller(), wire.Tuple{c.Node().MakeRef(), unknown{1}}); err == nil {
				return r.From.Fail(err)
			}
			return r.From.Reply(wire.Tuple{unknown{r.Body}})
		}))
		require.NoError(t, err)
		ref := a.MakeRef()
		require.NoError(t, self.Send(pid, wire.Tuple{node.Atom("$gen_call"), wire.Tuple{self.Self(), ref}, 7}))
		reply := nodetest.Expect[wire.Tuple](self)
		require.Equal(t, ref, reply[0])
		require.Contains(t, wire.Format(reply[1]), "cannot encode: pack: at {1}: type node_test.unknown is not registered")
		self.ExpectNone()
	})
}

// Sending, casting, calling or replying with a value that cannot be sent returns the error, with the place in that
// value. There is a dead letter, and nothing in the log.
func TestUnfitIsToldOnce(t *testing.T) {
	log := &logtest.Text{}
	farNodes(t, log.Logger(), func(t *testing.T, a, b *node.Node) {
		self := nodetest.NewProbe(t, a)
		values := []any{unknown{1}, wire.Tuple{1, 2, unknown{1}}, wire.Tuple{1, unknown{1}}, holder{Any: unknown{1}},
			[]any{make(chan int)}}
		wants := []string{"cannot encode: type node_test.unknown", "at {3}: type", "at {2}: type", "at x.Holder.Any: type",
			"at []any[0]: etf: at chan int: a Go value"}
		pid, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			return msg.(node.Request[int]).From.Reply(values[msg.(node.Request[int]).Body])
		}))
		require.NoError(t, err)
		dead := []*deadletter.Stream{a.DeadLetters(100), b.DeadLetters(100)}
		for i, v := range values {
			_, called := node.Call[any](testkit.Context(t), self, pid, v)
			_, replied := node.Call[any](testkit.Context(t), self, pid, i)
			for what, err := range map[string]error{"send": self.Send(pid, v), "cast": node.Send(self, pid, node.Cast[any]{Body: v}),
				"call": called, "reply": replied} {
				require.ErrorContains(t, err, "wire: cannot encode: ", what)
				require.ErrorContains(t, err, wants[i], what)
			}
		}
		require.ErrorContains(t, self.Send(pid, wire.Tuple{node.Atom("$gen_cast"), unknown{1}}), "at {2}: type", "it is the message")
		for i, n := range []int{3*len(values) + 1, len(values)} {
			for range n {
				require.Equal(t, deadletter.NotATerm, testkit.Receive(t, dead[i].C).Cause)
			}
			dead[i].Close()
		}
	})
	require.NotContains(t, log.String(), "WARN")
}

// gated is TCP that dials when open is closed.
type gated struct {
	dist.TCP
	open chan struct{}
}

func (g gated) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	select {
	case <-g.open:
		return g.TCP.Dial(ctx, addr, peer)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A message that has waited for the connection, and then cannot be sent, is logged with the error.
func TestUnfitIsLoggedWhereNobodyIsTold(t *testing.T) {
	c, gate := clustertest.NewCluster(t), gated{open: make(chan struct{})}
	a, log := c.StartLogged("a", node.Distribution{Transport: gate})
	b := c.StartWith("b", node.Distribution{Transport: gate})
	self := nodetest.NewProbe(t, a)
	pid, err := b.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	require.NoError(t, self.Send(pid, unknown{1}))
	close(gate.open)
	log.Await(t, "a signal was not sent")
	require.Contains(t, log.String(), "type node_test.unknown is not registered")
	require.NotContains(t, log.String(), "dead letter")
}

// A value whose type differs on the other node is detected there: a caller gets the error, of the request and of the
// reply, and a message becomes a dead letter.
func TestOtherShape(t *testing.T) {
	farNodes(t, nil, func(t *testing.T, a, b *node.Node) {
		self := nodetest.NewProbe(t, a)
		lost := b.DeadLetters(10)
		t.Cleanup(lost.Close)
		pid, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
			return msg.(node.Request[int]).From.Reply(wire.Tuple{shapeThere{"a"}})
		}))
		require.NoError(t, err)
		_, err = node.Call[any](testkit.Context(t), self, pid, 1)
		require.ErrorContains(t, err, "at x.Shape.ID, which is of type int: here {ID int}, what came is {ID string}")
		const there = "at x.Shape.ID, which is of type string: here {ID string}, what came is {ID int}"
		_, err = node.Call[any](testkit.Context(t), self, pid, shapeHere{1})
		require.ErrorContains(t, err, there)
		require.NoError(t, self.Send(pid, shapeHere{1}))
		letter := testkit.Receive(t, lost.C)
		require.Equal(t, deadletter.Unreadable, letter.Cause)
		require.ErrorContains(t, letter.Message.(error), there)
	})
}

// bomb is a registered type that panics while it is written, if N is negative, or read, if N is 13.
type bomb struct{ N int }

func (b bomb) MarshalText() ([]byte, error) {
	if b.N < 0 {
		panic("no text")
	}
	return strconv.AppendInt(nil, int64(b.N), 10), nil
}

func (b *bomb) UnmarshalText(text []byte) (err error) {
	if b.N, err = strconv.Atoi(string(text)); b.N == 13 {
		panic("no number")
	}
	return err
}

// A type that panics while a value of it is written or read loses only that message: the sender, the caller, or the
// receiver's node gets the error. The connection goes on.
func TestTypesThatPanic(t *testing.T) {
	farNodes(t, nil, func(t *testing.T, a, b *node.Node) {
		self := nodetest.NewProbe(t, a)
		pid, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
			if r, ok := msg.(node.Request[int]); ok {
				return r.From.Reply(bomb{r.Body})
			}
			return msg.(node.Request[bomb]).From.Reply(0)
		}))
		require.NoError(t, err)
		dead := b.DeadLetters(10)
		defer dead.Close()
		self.MonitorNode(b.Name())
		reply, err := node.Call[bomb](testkit.Context(t), self, pid, 7)
		require.NoError(t, err)
		require.Equal(t, bomb{7}, reply)

		require.ErrorContains(t, self.Send(pid, wire.Tuple{bomb{-1}}), "no text")
		require.NoError(t, self.Send(pid, wire.Tuple{bomb{13}}))
		letter := testkit.Receive(t, dead.C)
		require.Equal(t, deadletter.Unreadable, letter.Cause)
		require.ErrorContains(t, letter.Message.(error), "no number")
		for n, text := range map[int]string{-1: "no text", 13: "no number"} {
			_, err = node.Call[any](testkit.Context(t), self, pid, bomb{n})
			require.ErrorContains(t, err, text, "a request")
			_, err = node.Call[any](testkit.Context(t), self, pid, n)
			require.ErrorContains(t, err, text, "a reply")
		}
		left, err := node.Call[int](testkit.Context(t), self, pid, bomb{1})
		require.NoError(t, err)
		require.Zero(t, left)
		self.ExpectNone() // no NodeDown
	})
}
