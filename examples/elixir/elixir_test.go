package main

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/epmd"
)

const (
	cookie = "cookie-of-a-test"
	there  = node.Atom("shop@127.0.0.1")
)

// mix returns the command in the folder of the Elixir application, or skips the test.
func mix(t *testing.T, program string, args ...string) *exec.Cmd {
	if tier := os.Getenv("ACTORNODE_TESTS"); tier != "merge" && tier != "night" {
		t.Skip("left to make merge: Elixir")
	}
	for _, name := range []string{"elixir", "mix"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("not installed: %s", name)
		}
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = "shop"
	cmd.Env = append(os.Environ(), "MIX_ENV=prod")
	return cmd
}

func TestFormatted(t *testing.T) {
	out, err := mix(t, "mix", "format", "--check-formatted").CombinedOutput()
	require.NoError(t, err, string(out))
}

// mapper is a port mapper on a free port: a node that lives as long as the test, finds no port mapper there and becomes one.
func mapper(t *testing.T) (port int) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving atomic.Bool
	cfg := epmd.Config{Port: l.Addr().(*net.TCPAddr).Port, Local: []string{"127.0.0.1"},
		Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
	cfg.Listen = func(_ context.Context, _, address string) (net.Listener, error) {
		if address == l.Addr().String() && serving.CompareAndSwap(false, true) {
			return l, nil
		}
		return nil, errors.New("this test listens at one address")
	}
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !serving.Load() {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	goNode(t, "mapper@127.0.0.1", cfg)
	return cfg.Port
}

func goNode(t *testing.T, name node.Atom, cfg epmd.Config) *node.Node {
	return nodetest.Start(t, node.Config{Name: name, Distribution: &node.Distribution{
		Cookie: cookie, Finder: &discovery.EPMD{Config: cfg},
	}})
}

// elixir is the application while it runs.
type elixir struct {
	t     *testing.T
	build string
	port  int
	cmd   *exec.Cmd
}

func (e *elixir) start() {
	out, err := os.OpenFile(filepath.Join(e.build, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(e.t, err)
	defer out.Close()
	e.cmd = mix(e.t, "elixir", "--name", string(there), "--cookie", cookie, "-S", "mix", "run", "--no-halt")
	e.cmd.Env = append(e.cmd.Env, "MIX_BUILD_PATH="+e.build, "ERL_EPMD_PORT="+strconv.Itoa(e.port),
		"ELIXIR_ERL_OPTIONS=-start_epmd false")
	e.cmd.Stdout, e.cmd.Stderr = out, out
	require.NoError(e.t, e.cmd.Start())
}

func (e *elixir) kill() {
	require.NoError(e.t, e.cmd.Process.Kill())
	_ = e.cmd.Wait() // killed
}

// until calls f until it returns true.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	end := time.Now().Add(6 * nodetest.Timeout)
	for pause := time.NewTicker(20 * time.Millisecond); !f(); <-pause.C {
		require.True(t, time.Now().Before(end), "this has not come: %s", what)
	}
}

// The two applications, with real restarts of each.
func TestElixir(t *testing.T) {
	build := t.TempDir()
	compile := mix(t, "mix", "compile", "--warnings-as-errors")
	compile.Env = append(compile.Env, "MIX_BUILD_PATH="+build)
	out, err := compile.CombinedOutput()
	require.NoError(t, err, string(out))

	port := mapper(t)
	cfg := epmd.Config{Port: port}
	e := &elixir{t: t, build: build, port: port}
	e.start()
	t.Cleanup(func() {
		e.kill()
		if text, err := os.ReadFile(filepath.Join(build, "log")); err == nil && t.Failed() {
			t.Log(string(text))
		}
	})
	n := goNode(t, "go@127.0.0.1", cfg)
	warehouse(t, n)
	w := &world{t: t, go_: n}
	p := nodetest.NewProbe(t, n)
	call := func(module, function wire.Atom, args ...any) any {
		v, err := rpc.Call[any](t.Context(), n, there, "Elixir.Shop."+module, function, args...)
		require.NoError(t, err)
		return v
	}
	// stock waits until Shop.Stock has found the stock for the nth time.
	stock := func(times int) {
		until(t, "Shop.Stock finds the stock", func() bool {
			v, err := rpc.Call[any](t.Context(), n, there, "Elixir.Shop.Stock", "state")
			return err == nil && wire.Equal(v, wire.Tuple{wire.Atom("true"), times})
		})
	}
	ok := func(v any) wire.Tuple { return wire.Tuple{wire.Atom("ok"), v} }
	failed := func(v wire.Atom) wire.Tuple { return wire.Tuple{wire.Atom("error"), v} }

	// Elixir calls Go.
	stock(1)
	require.EqualValues(t, ok(8), call("Stock", "reserve", "tea", 2))
	require.EqualValues(t, failed("sold_out"), call("Stock", "reserve", "tea", 9))
	require.EqualValues(t, failed("bad_count"), call("Stock", "reserve", "tea", 0))

	// Go calls Elixir.
	require.EqualValues(t, ok(2), call("Stock", "reserve", "coffee", 8))
	until(t, "the order", func() bool { return w.buying().Made == 1 })
	require.EqualValues(t, wire.List{[]byte("coffee")}, call("Orders", "all"))

	// A basket is linked to a process in Go: its end gives the goods back.
	open := func(count int) node.PID {
		reply := call("Basket", "open", "tea", count).(wire.Tuple)
		require.Equal(t, wire.Atom("ok"), reply[0])
		return reply[1].(node.PID)
	}
	basket := open(3)
	require.Equal(t, 5, w.level("tea"))
	require.EqualValues(t, failed("sold_out"), call("Basket", "open", "tea", 6))
	n.Exit(basket, node.Kill) // in Elixir
	until(t, "the goods are back", func() bool { return w.level("tea") == 8 })

	// The stock crashes: its supervisor in Go starts it again, baskets end, and Shop.Stock notices.
	ref := p.Monitor(open(1))
	pid, _ := n.Whereis("stock")
	n.Exit(pid, node.Kill)
	require.Equal(t, node.Killed, p.ExpectDown(ref).Reason)
	stock(2)
	require.EqualValues(t, ok(10), call("Stock", "level", "tea"))

	// Elixir ends and starts again: what is low meanwhile is ordered then.
	open(4)
	e.kill()
	until(t, "the buyer notices", func() bool { return !w.buying().Up })
	until(t, "the goods are back", func() bool { return w.level("tea") == 10 })
	_, err = w.take("tea", 9)
	require.NoError(t, err)
	until(t, "the order waits", func() bool { return len(w.buying().Waiting) == 1 })
	e.start()
	until(t, "the order", func() bool { return w.buying().Made == 2 })
	stock(1)
	require.EqualValues(t, wire.List{[]byte("tea")}, call("Orders", "all"))

	// The Go node ends and starts again: Elixir finds it.
	last := open(1)
	require.NoError(t, n.Stop())
	n = goNode(t, "go@127.0.0.1", cfg)
	warehouse(t, n)
	w.go_ = n
	stock(2)
	p = nodetest.NewProbe(t, n)
	require.Equal(t, node.NoProc, p.ExpectDown(p.Monitor(last)).Reason) // the basket has ended with its link
	require.EqualValues(t, ok(9), call("Stock", "reserve", "tea", 1))   // a new stock
	until(t, "the buyer finds the shop", func() bool { return w.buying().Up })
}
