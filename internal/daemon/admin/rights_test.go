package admin_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// guarded starts a node whose operator is ops, which logs into records; ops and near may call its exports as allow
// says.
func guarded(
	t *testing.T, c admin.Config, allow func(node.Atom, wire.Export) bool,
) (far, ops, near *node.Node, log *logtest.Records) {
	t.Helper()
	f, log := new(clustertest.Places), new(logtest.Records)
	cfg := node.Config{Name: "far@127.0.0.1", Log: slog.New(log),
		Distribution: &node.Distribution{Cookie: "secret", Finder: f, Access: node.Access{Allow: allow}}}
	far = nodetest.Start(t, cfg)
	ops, near = startNode(t, f, "ops"), startNode(t, f, "near")
	require.NoError(t, admin.Start(testkit.Context(t), far, c))
	return far, ops, near, log
}

func onlyOps(peer node.Atom) bool { return peer == "ops@127.0.0.1" }

// Which node may make which requests.
func TestRights(t *testing.T) {
	var stops, drains atomic.Int32
	level := new(slog.LevelVar)
	far, ops, near, log := guarded(t, admin.Config{Operators: onlyOps, Level: level,
		Stop: func() { stops.Add(1) }}, nil)
	require.NoError(t, rpc.ExportBehaviour(far, wire.Export{Module: "m", Function: "f"},
		func([]any) (node.Actor, error) { drains.Add(1); return node.ActorFunc(echo), nil }))
	target := spawn(t, far, "echo", node.ActorFunc(echo))
	ctx := testkit.Context(t)
	word := func(w string, args ...any) any { return append(wire.Tuple{wire.Atom(w)}, args...) }
	looks := map[string]any{
		"status": wire.Atom("status"), "nodes": wire.Atom("nodes"), "ps": wire.Atom("ps"), "tree": wire.Atom("tree"),
		"waits": wire.Atom("waits"),
		"info":  word("info", target), "log_level": wire.Atom("log_level"), "log_levels": wire.Atom("log_levels"),
	}
	acts := map[string]any{
		"send": word("send", target, 1), "call": word("call", target, 1, 1000),
		"spawn": word("spawn", wire.Atom("m"), wire.Atom("f"), wire.List{}),
		"exit":  word("exit", target, wire.Atom("normal")), "register": word("register", wire.Atom("n"), target),
		"unregister": word("unregister", wire.Atom("n")), "connect": word("connect", near.Name()),
		"disconnect": word("disconnect", wire.Atom("no@where")), "drain": wire.Atom("drain"), "stop": wire.Atom("stop"),
		"log_level":  word("log_level", wire.Atom("debug")),
		"log_levels": word("log_levels", wire.NewMap(wire.Atom("name"), wire.Atom("till"), wire.Atom("level"), wire.Atom("debug"))),
		"trace":      word("trace", wire.NewMap(wire.Atom("targets"), wire.List{target})), "deadletters": wire.Atom("deadletters"),
		"stack":   word("stack", target),
		"profile": word("profile", wire.NewMap(wire.Atom("kind"), wire.Atom("goroutine"))),
	}
	ask := func(from *node.Node, request any) (allowed bool) {
		v, err := node.Call[any](ctx, from, node.At{Name: admin.Name, Node: far.Name()}, request)
		require.NoError(t, err)
		return !strings.HasPrefix(wire.Format(v), "{error,{not_allowed,")
	}
	for _, c := range []struct {
		who *node.Node
		may bool
	}{{near, false}, {ops, true}, {far, true}} {
		for what, request := range looks {
			assert.True(t, ask(c.who, request), "%s %s", c.who.Name(), what)
		}
		log.Take("operator action")
		for what, request := range acts {
			assert.Equal(t, c.may, ask(c.who, request), "%s %s", c.who.Name(), what)
			lines := log.Take("operator action")
			require.Len(t, lines, 1, "%s %s", c.who.Name(), what)
			assert.Equal(t, string(c.who.Name()), lines[0]["peer"])
			assert.Equal(t, what, lines[0]["action"])
			assert.Equal(t, c.who != far, lines[0]["addr"] != "", "%v", lines[0])
			assert.NotEmpty(t, lines[0]["outcome"])
			if !c.may {
				assert.Contains(t, lines[0]["outcome"], "does not allow")
			}
		}
		becomes(t, map[bool]int32{true: 1}[c.may], &stops)
		stops.Store(0)
		assert.EqualValues(t, map[bool]int{true: 1}[c.may], drains.Swap(0))
		assert.Equal(t, c.may, level.Level() == slog.LevelDebug)
		level.Set(slog.LevelInfo)
	}
}

// The requester is the node that sent the request, whatever From says, and whichever process passed it on.
func TestForgedRights(t *testing.T) {
	var stops atomic.Int32
	far, ops, near, log := guarded(t, admin.Config{Operators: onlyOps, Stop: func() { stops.Add(1) }}, nil)
	operator, me := nodetest.NewProbe(t, ops), nodetest.NewProbe(t, near)
	at := node.At{Name: admin.Name, Node: far.Name()}
	ctx := testkit.Context(t)
	require.NoError(t, ops.Connect(ctx, far.Name()))
	request := func(from node.PID, ref node.Ref) any {
		return wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{from, ref}, wire.Atom("stop")}
	}
	refused := func(h *nodetest.Probe) {
		t.Helper()
		v := nodetest.Expect[wire.Tuple](h)
		require.Contains(t, wire.Format(v[1]), "{error,{not_allowed,")
		require.Zero(t, stops.Load())
	}
	// In the name of the operator, or of the node itself.
	require.NoError(t, me.Send(at, request(operator.Self(), ops.MakeRef())))
	refused(operator)
	own := nodetest.NewProbe(t, far)
	require.NoError(t, me.Send(at, request(own.Self(), far.MakeRef())))
	refused(own)
	assert.Contains(t, log.Take("operator action")[0]["outcome"],
		"names 'ops@127.0.0.1' as its sender, but it came from near@127.0.0.1")
	// The caller is the sender's own, but the reply would go to an alias of the operator's node.
	alias := operator.Alias()
	require.NoError(t, me.Send(at, wire.Tuple{wire.Atom("$gen_call"),
		wire.Tuple{me.Self(), wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: alias}}, wire.Atom("stop")}))
	refused(operator)
	assert.Contains(t, log.Take("operator action")[0]["outcome"],
		"the request came from near@127.0.0.1, but its caller or the reply's receiver is not on that node")
	// Passed on by rex.
	rex := node.At{Name: "rex", Node: far.Name()}
	passOn := wire.Tuple{wire.Atom("sbcast"), admin.Name, request(me.Self(), near.MakeRef())}
	require.NoError(t, me.Send(rex, wire.Tuple{me.Self(), passOn}))
	for {
		if v := nodetest.Expect[wire.Tuple](me); v[0] != wire.Atom("rex") {
			require.Contains(t, wire.Format(v[1]), "{error,{not_allowed,")
			break
		}
	}
	// Passed on by a process that sends what it is told to send.
	puppet := spawn(t, far, "puppet", node.ActorFunc(func(c *node.Context, msg any) error {
		m := msg.(wire.Tuple)
		return c.Send(m[0].(wire.Atom), m[1])
	}))
	for _, from := range []*nodetest.Probe{me, operator, own} {
		require.NoError(t, me.Send(puppet, wire.Tuple{admin.Name, request(from.Self(), from.Node().MakeRef())}))
		refused(from)
	}
	// By the service itself: the operator's service would make the request.
	for _, word := range []string{"send", "call"} {
		body := wire.Tuple{wire.Atom(word), admin.Name, wire.Atom("stop")}
		if word == "call" {
			body = append(body, 1000)
		}
		v, err := node.Call[any](ctx, ops, at, body)
		require.NoError(t, err)
		assert.Contains(t, wire.Format(v), "{error,{bad_request,")
	}
	require.NoError(t, admin.Stop(ctx, ops, far.Name()))
	becomes(t, 1, &stops)
}

// becomes waits until n is want: the service answers before it stops its node.
func becomes(t *testing.T, want int32, n *atomic.Int32) {
	t.Helper()
	testkit.Until(t, func() string {
		if got := n.Load(); got != want {
			return fmt.Sprintf("it is %d, not %d", got, want)
		}
		return ""
	})
}

// An operator may start only what Allow permits.
func TestSpawnAsksAllow(t *testing.T) {
	f := func(peer node.Atom, e wire.Export) bool { return peer == "ops@127.0.0.1" && e.Function == "yes" }
	far, ops, near, _ := guarded(t, admin.Config{}, f)
	for _, name := range []wire.Atom{"yes", "no"} {
		require.NoError(t, rpc.ExportBehaviour(far, wire.Export{Module: "m", Function: name},
			func([]any) (node.Actor, error) { return node.ActorFunc(echo), nil }))
	}
	ctx := testkit.Context(t)
	for _, c := range []struct {
		from *node.Node
		what node.Atom
		ok   bool
	}{{ops, "yes", true}, {ops, "no", false}, {near, "yes", false}, {near, "no", false}, {far, "no", true}} {
		_, err := admin.Spawn(ctx, c.from, far.Name(), "m", c.what, nil, "")
		if c.ok {
			assert.NoError(t, err, "%s %s", c.from.Name(), c.what)
		} else {
			assert.ErrorIs(t, err, rpc.ErrUndef, "%s %s", c.from.Name(), c.what)
		}
	}
}

// The log has neither messages nor arguments.
func TestAuditKeepsSecrets(t *testing.T) {
	far, ops, _, log := guarded(t, admin.Config{}, nil)
	pid := spawn(t, far, "echo", node.ActorFunc(echo))
	ctx := testkit.Context(t)
	require.NoError(t, admin.Send(ctx, ops, far.Name(), pid, "SECRET"))
	_, err := admin.Call(ctx, ops, far.Name(), pid, "SECRET", testkit.Limit)
	require.NoError(t, err)
	_, err = admin.Spawn(ctx, ops, far.Name(), "m", "f", []any{"SECRET"}, "name")
	require.ErrorIs(t, err, rpc.ErrUndef)
	_, err = admin.Exit(ctx, ops, far.Name(), pid, wire.List{strings.Repeat("long", 10_000)})
	require.NoError(t, err)
	lines := log.With("operator action")
	require.Len(t, lines, 4)
	for _, l := range lines {
		assert.NotContains(t, fmt.Sprint(l), "SECRET")
		assert.Less(t, len(fmt.Sprint(l)), 1000)
	}
	i := slices.IndexFunc(lines, func(l map[string]any) bool { return l["action"] == "spawn" })
	assert.Equal(t, "m, f, name", lines[i]["arguments"])
}

// The service comes back when an operator kills it, and so do others.
func TestServiceIsKept(t *testing.T) {
	far, ops, _, log := guarded(t, admin.Config{Drain: nil}, nil)
	ctx := testkit.Context(t)
	for _, name := range []node.Atom{admin.Name, "net_kernel", "rex"} {
		was, _ := far.Whereis(name)
		_, err := admin.Exit(ctx, ops, far.Name(), name, node.Kill)
		if name != admin.Name { // it may be gone before it can answer
			require.NoError(t, err)
		}
		settles(t, func() bool {
			pid, ok := far.Whereis(name)
			return ok && pid != was && far.Inside(process.Key{}).CheckServices(ctx) == nil
		})
		require.NoError(t, ops.Ping(ctx, far.Name()))
		_, err = admin.Status(ctx, ops, far.Name())
		require.NoError(t, err)
	}
	settles(t, func() bool { return len(log.With("operator action")) == 3 }) // the killed one logs when it returns
	assert.Len(t, log.With("a service ended: it will be restarted"), 3)
	_, err := admin.Unregister(ctx, ops, far.Name(), "rex")
	assert.ErrorIs(t, err, node.ErrProtected)
	assert.False(t, errors.Is(err, admin.ErrBadRequest))
}
