package supervisor_test

import (
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

type deaf struct{}

var deafServers = genserver.Define[deaf]()

type mute struct{}

func (*mute) only(*statem.Context, statem.Event) (statem.State[*mute], error) {
	return nil, statem.ErrUnhandled
}

// An unexpected message, and an exit reason, are shown in part, in logs and in answers, and take no more memory than
// that part.
func TestMessagesAreNotShownWhole(t *testing.T) {
	const size = 16 << 20
	big := wire.Tuple{wire.Atom("big"), make([]byte, size)}
	bound := func(t *testing.T, what string, text string) {
		t.Helper()
		require.Less(t, len(text), 10<<10, what)
	}
	ctx := testkit.Context(t)
	var log, printed logtest.Text
	n, err := node.Start(node.Config{Log: slog.New(slog.NewTextHandler(&log, nil)), Name: "go@127.0.0.1",
		Distribution: &node.Distribution{Cookie: "secret", Listen: "-", Finder: &discovery.Static{}}})
	require.NoError(t, err)
	defer n.Stop()
	require.NoError(t, otp.Serve(n, otp.Config{Output: &printed}))
	server, err := deafServers.Start(ctx, n, deaf{}, node.Options{})
	require.NoError(t, err)
	machine, err := statem.Define((*mute).only).Start(ctx, n, &mute{}, node.Options{})
	require.NoError(t, err)
	manager, err := event.Start(ctx, n, event.Config{}, node.Options{})
	require.NoError(t, err)
	sup, err := supervisor.Start(ctx, n, supervisor.Spec{}, node.Options{})
	require.NoError(t, err)
	fails := func(how func() error) func(*testing.T) {
		return func(t *testing.T) {
			pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return how() }))
			require.NoError(t, err)
			require.NoError(t, n.Send(pid, 1))
			log.Await(t, "crash report")
		}
	}
	asks := func(to node.Atom) func(*testing.T) {
		return func(t *testing.T) {
			_, err := node.Call[any](ctx, n, to, big)
			require.Error(t, err)
			bound(t, "the answer", err.Error())
			require.Contains(t, err.Error(), "does not support")
		}
	}
	sends := func(to wire.PID, msg any, said string) func(*testing.T) {
		return func(t *testing.T) {
			require.NoError(t, n.Send(to, msg))
			log.Await(t, said)
		}
	}
	for name, do := range map[string]func(*testing.T){
		"server":       sends(server, big, "unexpected message"),
		"cast":         sends(server, wire.Tuple{wire.Atom("$gen_cast"), big}, "unexpected cast"),
		"machine":      sends(machine, big, "unexpected event"),
		"manager":      sends(manager, big, "unexpected message"),
		"supervisor":   sends(sup, big, "unexpected message"),
		"panic":        fails(func() error { panic(big) }),
		"panic of Go":  fails(func() error { panic(struct{ B []byte }{make([]byte, size)}) }),
		"net_kernel":   asks(node.Atom("net_kernel")),
		"rex":          asks(node.Atom("rex")),
		"exit error":   func(t *testing.T) { bound(t, "text", (&node.ExitError{Reason: big}).Error()) },
		"exit":         func(t *testing.T) { bound(t, "text", node.ExitWith(big).Error()) },
		"throw, raise": func(t *testing.T) { bound(t, "text", rpc.Throw(big).Error()+rpc.Raise(big).Error()) },
		"words":        func(t *testing.T) { bound(t, "text", sysmsg.Words(big)+sysmsg.Words([]any{big, sysmsg.Words(big)})) },
		"Term": func(t *testing.T) {
			bound(t, "text", sysmsg.Words(wire.Tuple{shown{big}, shown{shown{big}}, shown{nil}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			log.Take()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			do(t)
			runtime.ReadMemStats(&after)
			own := uint64(size) // for the value of the panic
			if !strings.Contains(name, "Go") {
				own = 0
			}
			require.Less(t, after.TotalAlloc-before.TotalAlloc, own+2<<20)
			for line := range strings.Lines(log.String()) {
				bound(t, "line", line)
			}
		})
	}

	// What other code prints is cut, too, and marked as cut.
	self := nodetest.NewProbe(t, n)
	user, ok := n.Whereis("user")
	require.True(t, ok)
	for _, request := range []wire.Tuple{
		{wire.Atom("put_chars"), wire.Atom("latin1"), make([]byte, 2<<20)},
		{wire.Atom("put_chars"), wire.Atom("unicode"), wire.Atom("io_lib"), wire.Atom("format"),
			wire.List{"~p~w", wire.List{big, big}}},
		{wire.Atom("put_chars"), wire.Atom("unicode"), wire.Atom("io_lib"), wire.Atom("write"), wire.List{big}},
	} {
		require.NoError(t, self.Send(user, wire.Tuple{wire.Atom("io_request"), self.Self(), 1, request}))
		require.Equal(t, wire.Tuple{wire.Atom("io_reply"), 1, wire.AtomOK}, self.Receive())
		text := printed.Take()
		require.Less(t, len(text), 1<<20+100)
		require.True(t, strings.HasSuffix(text, "… (cut: a request prints 1 MiB at most)\n"))
	}
}

// shown is a value that prints as the value as.
type shown struct{ as any }

func (s shown) Term() any { return s.as }
