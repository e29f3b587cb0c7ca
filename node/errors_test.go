package node_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
	otpio "github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/pool"
	"github.com/actornode/actornode/node/port"
	"github.com/actornode/actornode/node/registry"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/stage"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/node/tasks"
	"github.com/actornode/actornode/node/trace"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/epmd"
	"github.com/actornode/actornode/wire/etf"
	"github.com/actornode/actornode/wire/pickle"
)

var errSoldOut = errors.New("sold out")

// shortError is an error type that both nodes have registered: its pointer is the error.
type shortError struct {
	Item string
	Left int
}

func (e *shortError) Error() string { return fmt.Sprintf("%d of %s left", e.Left, e.Item) }

// codeError is an error type whose value is the error.
type codeError struct{ Code int }

func (e codeError) Error() string { return fmt.Sprintf("code %d", e.Code) }

// sliceError cannot be compared.
type sliceError []string

func (e sliceError) Error() string { return strings.Join(e, "; ") }

// farTypes are the types that both nodes of these tests have registered.
func farTypes(t *testing.T) *node.Types {
	ts := &node.Types{}
	require.NoError(t, ts.Register(node.ErrorOf(errSoldOut, "shop.ErrSoldOut"), node.TypeOf[shortError](), node.TypeOf[codeError](),
		node.TypeOf[order]("shop.Order"), node.TypeOf[takeCup]("takeCup")))
	return ts
}

// overEach runs a test between two nodes for each protocol.
func overEach(t *testing.T, test func(t *testing.T, a, b *node.Node)) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		start := func(name string) *node.Node { return c.StartWith(name, node.Distribution{Types: farTypes(t)}) }
		test(t, start("a"), start("b"))
	})
}

// answering answers each call with an error.
func answering(err error) node.ActorFunc {
	return func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			return r.Fail(err)
		}
		return nil
	}
}

// An error that a handler answers with reaches the caller as an error: with its text, and as the sentinel or the type
// that both nodes know.
func TestErrorsCross(t *testing.T) {
	var short *shortError
	var code codeError
	for name, c := range map[string]struct {
		err   error
		check func(t *testing.T, got error)
	}{
		"plain":    {errors.New("empty job"), nil},
		"sentinel": {errSoldOut, func(t *testing.T, got error) { assert.Equal(t, errSoldOut, got) }},
		"wrapped":  {fmt.Errorf("order 7: %w", errSoldOut), func(t *testing.T, got error) { assert.ErrorIs(t, got, errSoldOut) }},
		"twice":    {fmt.Errorf("a: %w", fmt.Errorf("b: %w", io.EOF)), func(t *testing.T, got error) { assert.ErrorIs(t, got, io.EOF) }},
		"of a context": {fmt.Errorf("ask: %w", context.DeadlineExceeded), func(t *testing.T, got error) {
			assert.ErrorIs(t, got, context.DeadlineExceeded)
		}},
		"of this module": {fmt.Errorf("put: %w", node.ErrMailboxFull), func(t *testing.T, got error) {
			assert.ErrorIs(t, got, node.ErrMailboxFull)
		}},
		"pointer": {&shortError{"tea", 2}, func(t *testing.T, got error) { assert.Equal(t, &shortError{"tea", 2}, got) }},
		"value":   {codeError{7}, func(t *testing.T, got error) { assert.Equal(t, codeError{7}, got) }},
		"wrapped type": {fmt.Errorf("a: %w", &shortError{"tea", 2}), func(t *testing.T, got error) {
			if assert.ErrorAs(t, got, &short) {
				assert.Equal(t, &shortError{"tea", 2}, short)
			}
		}},
		"joined": {errors.Join(errSoldOut, errors.New("x"), fmt.Errorf("c: %w", codeError{3})), func(t *testing.T, got error) {
			assert.ErrorIs(t, got, errSoldOut)
			assert.ErrorAs(t, got, &code)
		}},
		"exit": {&node.ExitError{Reason: node.NoProc}, func(t *testing.T, got error) {
			assert.ErrorIs(t, got, node.ErrNoProcess)
		}},
		"not comparable": {sliceError{"a", "b"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			overEach(t, func(t *testing.T, a, b *node.Node) {
				pid, err := b.Spawn(answering(c.err))
				require.NoError(t, err)
				for range 2 {
					_, err = node.Call[int](testkit.Context(t), a, pid, "ask")
					require.EqualError(t, err, c.err.Error())
					if c.check != nil {
						c.check(t, err)
					}
				}
			})
		})
	}
}

// A wrapped error that the other node does not know keeps its text.
func TestErrorsKeepWhatTheyWrap(t *testing.T) {
	overEach(t, func(t *testing.T, a, b *node.Node) {
		inner := fmt.Errorf("inner: %w", errSoldOut)
		pid, err := b.Spawn(answering(fmt.Errorf("outer: %w", inner)))
		require.NoError(t, err)
		_, err = node.Call[int](testkit.Context(t), a, pid, "ask")
		wrapping, ok := err.(interface{ Unwrap() []error })
		require.True(t, ok, "%T", err)
		require.Len(t, wrapping.Unwrap(), 1)
		assert.EqualError(t, wrapping.Unwrap()[0], inner.Error())
	})
}

// An error in a message arrives as an error.
func TestErrorsInMessages(t *testing.T) {
	overEach(t, func(t *testing.T, a, b *node.Node) {
		self := nodetest.NewProbe(t, b)
		require.NoError(t, a.Send(self.Self(), wire.Tuple{node.Atom("lost"), fmt.Errorf("x: %w", io.EOF)}))
		msg := nodetest.Expect[wire.Tuple](self)
		got, ok := msg[1].(error)
		require.True(t, ok, "%T", msg[1])
		assert.EqualError(t, got, "x: EOF")
		assert.ErrorIs(t, got, io.EOF)
	})
}

type secret struct{ _ func() }

// A panic is the same crash to processes that monitor, are linked and call.
func TestPanicsCross(t *testing.T) {
	for name, c := range map[string]struct {
		cause any
		typ   string // "": the value itself crosses
	}{
		"text": {"bad job", ""}, "number": {42, ""}, "error": {fmt.Errorf("job: %w", errSoldOut), ""}, "value": {secret{}, "node_test.secret"},
	} {
		t.Run(name, func(t *testing.T) {
			overEach(t, func(t *testing.T, a, b *node.Node) {
				self := nodetest.NewProbe(t, a)
				self.TrapExit(true)
				pid, err := b.Spawn(node.ActorFunc(func(*node.Context, any) error { breakDown(c.cause); return nil }))
				require.NoError(t, err)
				ref := self.Monitor(pid)
				self.Link(pid)
				_, err = node.Call[int](testkit.Context(t), a, pid, "work")
				var exit *node.ExitError
				require.ErrorAs(t, err, &exit)
				for _, why := range []any{exit.Reason, nodetest.Expect[node.Exited](self).Reason, self.ExpectDown(ref).Reason} {
					crash, ok := why.(*node.Crash)
					require.True(t, ok, "%T %v", why, why)
					assert.True(t, crash.Panic)
					assert.Contains(t, string(crash.Stack), "breakDown")
					assert.Contains(t, string(crash.Stack), "errors_test.go")
					assert.Equal(t, "panic: "+cmp.Or(c.typ, fmt.Sprint(c.cause)), crash.Error()) // nobody has asked for the value
					switch {
					case c.typ != "":
						assert.Equal(t, c.typ, crash.Reason.(interface{ GoType() string }).GoType())
					case name == "error":
						assert.ErrorIs(t, crash.Unwrap(), errSoldOut)
					default:
						assert.Equal(t, c.cause, crash.Reason)
					}
				}
			})
		})
	}
}

func breakDown(cause any) { panic(cause) }

// An error that ends a process becomes the error of its crash, and an exit reason that the process chose stays its
// reason.
func TestExitReasonsCross(t *testing.T) {
	overEach(t, func(t *testing.T, a, b *node.Node) {
		self := nodetest.NewProbe(t, a)
		down := func(err error) any {
			pid, e := b.Spawn(node.ActorFunc(func(*node.Context, any) error { return err }))
			require.NoError(t, e)
			ref := self.Monitor(pid)
			require.NoError(t, a.Send(pid, "go"))
			return self.ExpectDown(ref).Reason
		}
		crash := down(fmt.Errorf("step 3: %w", errSoldOut)).(*node.Crash)
		assert.False(t, crash.Panic)
		assert.Equal(t, "error: step 3: sold out", crash.Error())
		assert.ErrorIs(t, crash.Unwrap(), errSoldOut)
		assert.Equal(t, node.Atom("done"), down(node.ExitWith(node.Atom("done"))))
		assert.Equal(t, errSoldOut, down(node.ExitWith(errSoldOut)))
		assert.Equal(t, wire.Tuple{node.Atom("shutdown"), node.Atom("x")}, down(node.ExitWith(wire.Tuple{node.Shutdown, node.Atom("x")})))
	})
}

// sentinels are the exported errors of this module.
var sentinels = map[string]error{
	"node.ErrArgument": node.ErrArgument,
	"node.ErrCycle":    node.ErrCycle,
	"node.ErrDropped":  node.ErrDropped, "node.ErrExited": node.ErrExited, "node.ErrIgnore": node.ErrIgnore,
	"node.ErrMailboxFull": node.ErrMailboxFull, "node.ErrNameTaken": node.ErrNameTaken,
	"node.ErrNoConnection": node.ErrNoConnection, "node.ErrNoName": node.ErrNoName,
	"node.ErrNoProcess": node.ErrNoProcess, "node.ErrNodeStopped": node.ErrNodeStopped, "node.ErrNotHere": node.ErrNotHere,
	"node.ErrPending": node.ErrPending, "node.ErrProtected": node.ErrProtected, "node.ErrReplied": node.ErrReplied,
	"node.ErrReplyType": node.ErrReplyType, "node.ErrSelfCall": node.ErrSelfCall, "node.ErrThreadLocked": node.ErrThreadLocked,
	"node.ErrTimeout": node.ErrTimeout, "node.ErrTooMany": node.ErrTooMany, "node.ErrType": node.ErrType,
	"node.ErrUnhandled":             node.ErrUnhandled,
	"node_discovery.ErrUnknownNode": discovery.ErrUnknownNode, "node_event.ErrNoCalls": event.ErrNoCalls,
	"node_event.ErrNoHandler": event.ErrNoHandler, "node_event.ErrRemove": event.ErrRemove,
	"node_global.ErrNotPublished": global.ErrNotPublished, "node_global.ErrTaken": global.ErrTaken,
	"node_genserver.ErrReplyLater": genserver.ErrReplyLater, "node_otp.ErrNoLeader": otpio.ErrNoLeader,
	"node_pg.ErrNotJoined": pg.ErrNotJoined, "node_pg.ErrNotLocal": pg.ErrNotLocal,
	"node_migrate.ErrFailed": migrate.ErrFailed, "node_migrate.ErrFixed": migrate.ErrFixed,
	"node_migrate.ErrUnknown": migrate.ErrUnknown,
	"node_migrate.ErrMoving":  migrate.ErrMoving, "node_migrate.ErrNotAllowed": migrate.ErrNotAllowed,
	"node_migrate.ErrNotStarted": migrate.ErrNotStarted, "node_migrate.ErrNotThere": migrate.ErrNotThere,
	"node_port.ErrBusy": port.ErrBusy, "node_port.ErrConfig": port.ErrConfig, "node_port.ErrFrame": port.ErrFrame,
	"node_stage.ErrClosed": stage.ErrClosed, "node_stage.ErrDetached": stage.ErrDetached,
	"node_stage.ErrOffStage": stage.ErrOffStage, "node_stage.ErrOrdered": stage.ErrOrdered,
	"node_stage.ErrTooMany": stage.ErrTooMany,
	"node_keyed.ErrFull":    keyed.ErrFull, "node_keyed.ErrFailing": keyed.ErrFailing, "node_keyed.ErrEnded": keyed.ErrEnded,
	"node_keyed.ErrKey": keyed.ErrKey, "node_pool.ErrNoWorkers": pool.ErrNoWorkers,
	"node_registry.ErrTaken": registry.ErrTaken, "node_registry.ErrRegistered": registry.ErrRegistered,
	"node_registry.ErrFull": registry.ErrFull, "node_tasks.ErrFull": tasks.ErrFull, "node_tasks.ErrNotLocal": tasks.ErrNotLocal,
	"node_statem.ErrUnhandled": statem.ErrUnhandled, "node_trace.ErrFull": trace.ErrFull,
	"supervisor.ErrAlreadyPresent": supervisor.ErrAlreadyPresent, "supervisor.ErrNotFound": supervisor.ErrNotFound,
	"supervisor.ErrNotAllowed": supervisor.ErrNotAllowed,
	"supervisor.ErrNotSimple":  supervisor.ErrNotSimple, "supervisor.ErrRestarting": supervisor.ErrRestarting,
	"supervisor.ErrRunning": supervisor.ErrRunning, "supervisor.ErrSimple": supervisor.ErrSimple,
	"wire_dist.ErrFull": dist.ErrFull, "wire_dist.ErrBusy": dist.ErrBusy, "wire_dist.ErrCookie": dist.ErrCookie, "wire_dist.ErrLater": dist.ErrLater,
	"wire_dist.ErrNotAllowed": dist.ErrNotAllowed, "wire_dist.ErrPeerName": dist.ErrPeerName,
	"wire_dist.ErrPeerProtocol": dist.ErrPeerProtocol, "wire_epmd.ErrNotFound": epmd.ErrNotFound,
	"wire_epmd.ErrRefused": epmd.ErrRefused, "wire_epmd.ErrUnreachable": epmd.ErrUnreachable, "wire_etf.ErrCut": etf.ErrCut,
	"wire_etf.ErrLimit": etf.ErrLimit, "wire_etf.ErrMalformed": etf.ErrMalformed, "wire_etf.ErrMismatch": etf.ErrMismatch,
	"wire_etf.ErrNoTerm": etf.ErrNoTerm, "wire_pickle.ErrMismatch": pickle.ErrMismatch,

	"node.ErrStop":      nil, // an exit reason: it crosses as *node.ExitError
	"node_rpc.ErrUndef": nil, // the exception undef, as in Erlang: it crosses as *rpc.Error
}

// sentinels includes every exported error of the module.
func TestSentinelsAreAll(t *testing.T) {
	files, err := filepath.Glob("../testdata/api/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	line := regexp.MustCompile(`(?m)^var (Err\w+)`)
	all := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			name := filepath.Base(f[:len(f)-len(".txt")]) + "." + m[1]
			require.Contains(t, sentinels, name, "an exported error that no test takes to another node")
			all++
		}
	}
	require.Len(t, sentinels, all, "some of these are no exported errors any more")
}

// Every node knows the exported errors of the module: errors.Is finds them in an error of a call, and in that of a
// function that is called by name, on any node and with any types.
func TestSentinelsCross(t *testing.T) {
	for _, protocol := range []string{"native", "erlang"} {
		t.Run(protocol, func(t *testing.T) {
			c := clustertest.NewCluster(t)
			c.Speak(protocol)
			a := c.StartWith("a", node.Distribution{Types: &node.Types{}})
			b := c.StartWith("b", node.Distribution{Types: &node.Types{}})
			pid, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
				r := msg.(node.Request[string])
				return r.Fail(fmt.Errorf("so: %w", sentinels[r.Body]))
			}))
			require.NoError(t, err)
			f := wire.Export{Module: "m", Function: "f", Arity: 1}
			require.NoError(t, rpc.Export(b, f, func(_ context.Context, args []any) (any, error) {
				name, _ := wire.AsText(args[0])
				return nil, fmt.Errorf("so: %w", sentinels[name])
			}))
			for name, want := range sentinels {
				if want == nil {
					continue
				}
				_, err := node.Call[int](testkit.Context(t), a, pid, name)
				require.ErrorIs(t, err, want, name)
				require.EqualError(t, err, "so: "+want.Error())
				for _, n := range []*node.Node{a, b} {
					if want == node.ErrIgnore {
						break // returned by a function that is called by name, it is an exit
					}
					_, err = rpc.Call[int](testkit.Context(t), n, b.Name(), "m", "f", name)
					require.ErrorIs(t, err, want, name)
				}
			}
		})
	}
}
