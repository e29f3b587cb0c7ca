package raw_test

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/wire/epmdserver"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/wire"
)

func TestMain(m *testing.M) { os.Exit(raw.Main(m)) }

var (
	add5 = wire.Tuple{wire.Atom("add"), 5}
	get  = wire.Atom("get")
)

// All clients connect with the cookie, none without, and the daemon's figures are there.
func TestClients(t *testing.T) {
	d := raw.Start(t, raw.Options{})
	require.NotEmpty(t, d.Erlang)
	require.NotEmpty(t, d.Native)
	require.NotEmpty(t, d.HTTP)

	t.Run("erlang", func(t *testing.T) {
		e, err := raw.DialErlang(d.Erlang, raw.Self("x@127.0.0.1", 1), d.Cookie)
		require.NoError(t, err)
		defer e.Close()
		require.Equal(t, d.Name, e.Peer.Name)
		require.NoError(t, e.Tick())
		n, err := e.Call("counter", add5)
		require.NoError(t, err)
		m, err := e.Call("counter", get)
		require.NoError(t, err)
		require.Equal(t, n, m)

		_, err = raw.DialErlang(d.Erlang, raw.Self("y@127.0.0.1", 1), "wrong")
		require.Error(t, err)
	})

	t.Run("erlang with fragments", func(t *testing.T) {
		e, err := raw.OpenErlang(d.Erlang, raw.Self("f@127.0.0.1", 1))
		require.NoError(t, err)
		defer e.Close()
		e.Flags = raw.HeadedFlags
		require.NoError(t, e.Handshake(d.Cookie))
		me, ref := e.PID(1), e.Ref(7)
		enc := new(etfcodec.Encoder)
		b, err := enc.AppendBare([]byte{0}, wire.Tuple{6, me, wire.Atom(""), wire.Atom("counter")})
		require.NoError(t, err)
		p, err := enc.AppendBare(nil, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{me, ref}, get})
		require.NoError(t, err)
		require.NoError(t, e.SendFrame(raw.Fragment(true, 9, 3, b)))
		require.NoError(t, e.SendFrame(raw.Fragment(false, 9, 2, p[:10])))
		require.NoError(t, e.SendFrame(raw.Fragment(false, 9, 1, p[10:])))
		frame, err := e.Frame()
		require.NoError(t, err)
		require.Equal(t, []byte{131, 68}, frame[:2])
	})

	t.Run("native", func(t *testing.T) {
		n, err := raw.DialNative(d.Native, raw.Self("n@127.0.0.1", 1), d.Name, d.Cookie)
		require.NoError(t, err)
		defer n.Close()
		require.False(t, n.Sums)
		require.NoError(t, n.Tick())
		total, err := n.Call("counter", add5)
		require.NoError(t, err)
		same, err := n.Call("counter", get)
		require.NoError(t, err)
		require.Equal(t, total, same)

		_, err = raw.DialNative(d.Native, raw.Self("m@127.0.0.1", 1), d.Name, "wrong")
		var refused *raw.Refusal
		require.ErrorAs(t, err, &refused)
		require.EqualValues(t, 6, refused.Code)
	})

	t.Run("epmd", func(t *testing.T) {
		e, err := raw.DialEPMD(d.EPMD)
		require.NoError(t, err)
		defer e.Close()
		a, err := e.Register(epmdserver.Registration{Name: "shop", Port: 9})
		require.NoError(t, err)
		require.Zero(t, a.Result)
		e2, err := raw.DialEPMD(d.EPMD)
		require.NoError(t, err)
		defer e2.Close()
		names, err := e2.Names()
		require.NoError(t, err)
		require.Len(t, names.Entries, 2)
	})

	t.Run("http", func(t *testing.T) {
		text, err := raw.Get(d.HTTP, "/livez")
		require.NoError(t, err)
		require.Contains(t, text, "200 OK")
		n, err := d.Metric("go_goroutines")
		require.NoError(t, err)
		require.Positive(t, n)
	})

	t.Run("figures", func(t *testing.T) {
		if _, err := os.Stat("/proc/self/status"); err != nil {
			t.Skip("there is no /proc here")
		}
		f := d.Figures()
		require.Greater(t, f.Peak, int64(1<<20))
		require.GreaterOrEqual(t, f.Peak, f.RSS)
		require.Greater(t, f.Files, 5)
	})

	require.True(t, d.Lives())
	require.NoError(t, d.Stop(30*time.Second))
	require.Contains(t, d.Log(), "stopping: asked to, by a signal or by an operator")
	require.Equal(t, len(d.Log()), d.LogSize())
}

// A session: sums, and the resumption with what has been received.
func TestSession(t *testing.T) {
	d := raw.Start(t, raw.Options{Args: []string{"--grace", "5s"}})
	self := raw.Self("s@127.0.0.1", 7)
	open := func() *raw.Native {
		n, err := raw.OpenNative(d.Native, self, d.Name)
		require.NoError(t, err)
		n.Us.Flags |= raw.Session
		n.Us.Grace = 5000
		return n
	}
	n := open()
	require.NoError(t, n.Handshake(d.Cookie))
	require.True(t, n.Sums)
	total, err := n.Call("counter", get)
	require.NoError(t, err)
	require.Zero(t, total)
	n.Reset()

	again := open()
	defer again.Close()
	again.Us.Flags |= raw.Resume
	again.Session = n.Session
	again.Heard(n)
	require.NoError(t, again.Handshake(d.Cookie))
	require.Equal(t, n.Session, again.Session)
	require.Positive(t, again.Want)
	require.NoError(t, again.SendReg(again.PID(1), "counter", wire.Tuple{wire.Atom("$gen_cast"), add5}))
	total, err = again.Call("counter", get)
	require.NoError(t, err)
	require.EqualValues(t, 5, total)
}

// The side that is dialled: a node asks the port mapper for us and connects.
func TestAccept(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	d := raw.Start(t, raw.Options{Args: []string{"--peer", "shop@127.0.0.1=erlang://" + l.Addr().String(), "--join",
		"shop@127.0.0.1"}})
	require.NoError(t, l.(*net.TCPListener).SetDeadline(time.Now().Add(30*time.Second)))
	c, err := l.Accept()
	require.NoError(t, err)
	e := raw.NewErlang(raw.NewConn(c.(*net.TCPConn)), raw.Self("shop@127.0.0.1", 1))
	defer e.Close()
	require.NoError(t, e.Name())
	require.Equal(t, d.Name, e.Peer.Name)
	require.NoError(t, e.SendStatus("ok"))
	require.NoError(t, e.SendChallenge(42))
	number, digest, err := e.Reply()
	require.NoError(t, err)
	require.Equal(t, raw.Digest(d.Cookie, 42), digest)
	require.NoError(t, e.SendAck(raw.Digest(d.Cookie, number)))
	_, err = e.Call("counter", get)
	require.NoError(t, err)
}

// A daemon that cannot start says why.
func TestTryStart(t *testing.T) {
	d, err := raw.TryStart(t, raw.Options{Args: []string{"--listen", "127.0.0.1:no"}})
	require.Error(t, err)
	require.False(t, d.Lives())
	require.False(t, d.State().Success())
	require.NotEmpty(t, strings.TrimSpace(d.Log()))
}
