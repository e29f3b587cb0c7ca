package node_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

var errSoldOut = errors.New("sold out")

// shortError is an error that both nodes have registered: its pointer is the error.
type shortError struct {
	Item string
	Left int
}

func (e *shortError) Error() string { return fmt.Sprintf("%d of %s left", e.Left, e.Item) }

// codeError is one whose value is the error.
type codeError struct{ Code int }

func (e codeError) Error() string { return fmt.Sprintf("code %d", e.Code) }

// sliceError cannot be compared.
type sliceError []string

func (e sliceError) Error() string { return strings.Join(e, "; ") }

// farTypes are what both nodes of these tests have registered.
func farTypes(t *testing.T) *node.Types {
	ts := &node.Types{}
	require.NoError(t, ts.Register(node.ErrorOf(errSoldOut, "shop.ErrSoldOut"), node.TypeOf[shortError](), node.TypeOf[codeError](),
		node.TypeOf[order]("shop.Order")))
	return ts
}

// overEach runs a test for each protocol between two nodes.
func overEach(t *testing.T, test func(t *testing.T, a, b *node.Node)) {
	for _, name := range []string{"native", "erlang"} {
		t.Run(name, func(t *testing.T) {
			where := &nodetest.Places{}
			start := func(as node.Atom) *node.Node {
				d := &node.Distribution{Cookie: "secret", Finder: where, Types: farTypes(t)}
				all, err := d.ProtocolsByName(name)
				require.NoError(t, err)
				d.Protocols = all
				return nodetest.Start(t, node.Config{Name: as, Distribution: d})
			}
			test(t, start("a@127.0.0.1"), start("b@127.0.0.1"))
		})
	}
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

// An error that a handler answers with is one at the caller: with its text, and as the sentinel
// or the type that both nodes know.
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

// What an error wraps that the other node does not know keeps its text.
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

// An error in a message is an error there.
func TestErrorsInMessages(t *testing.T) {
	overEach(t, func(t *testing.T, a, b *node.Node) {
		self := nodetest.Open(t, b)
		require.NoError(t, a.Send(self.Self(), wire.Tuple{node.Atom("lost"), fmt.Errorf("x: %w", io.EOF)}))
		msg := nodetest.Next[wire.Tuple](t, self)
		got, ok := msg[1].(error)
		require.True(t, ok, "%T", msg[1])
		assert.EqualError(t, got, "x: EOF")
		assert.ErrorIs(t, got, io.EOF)
	})
}

type secret struct{ _ func() }

// A panic is the same crash to those who monitor, are linked and call.
func TestPanicsCross(t *testing.T) {
	for name, c := range map[string]struct {
		cause any
		typ   string // "": the value itself crosses
	}{
		"text": {"bad job", ""}, "number": {42, ""}, "error": {fmt.Errorf("job: %w", errSoldOut), ""}, "value": {secret{}, "node_test.secret"},
	} {
		t.Run(name, func(t *testing.T) {
			overEach(t, func(t *testing.T, a, b *node.Node) {
				self := nodetest.Open(t, a)
				self.TrapExit(true)
				pid, err := b.Spawn(node.ActorFunc(func(*node.Context, any) error { breakDown(c.cause); return nil }))
				require.NoError(t, err)
				ref := self.Monitor(pid)
				self.Link(pid)
				_, err = node.Call[int](testkit.Context(t), a, pid, "work")
				var exit *node.ExitError
				require.ErrorAs(t, err, &exit)
				for _, why := range []any{exit.Reason, nodetest.Next[node.Exited](t, self).Reason, nodetest.Down(t, self, ref).Reason} {
					crash, ok := why.(*node.Crash)
					require.True(t, ok, "%T %v", why, why)
					assert.True(t, crash.Panic)
					assert.Contains(t, string(crash.Stack), "breakDown")
					assert.Contains(t, string(crash.Stack), "failure_far_test.go")
					assert.Equal(t, "panic: "+fmt.Sprint(c.cause), crash.String())
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

// An error that ends a process is that of its crash, and an exit of its choosing stays its reason.
func TestExitReasonsCross(t *testing.T) {
	overEach(t, func(t *testing.T, a, b *node.Node) {
		self := nodetest.Open(t, a)
		down := func(err error) any {
			pid, e := b.Spawn(node.ActorFunc(func(*node.Context, any) error { return err }))
			require.NoError(t, e)
			ref := self.Monitor(pid)
			require.NoError(t, a.Send(pid, "go"))
			return nodetest.Down(t, self, ref).Reason
		}
		crash := down(fmt.Errorf("step 3: %w", errSoldOut)).(*node.Crash)
		assert.False(t, crash.Panic)
		assert.Equal(t, "error: step 3: sold out", crash.String())
		assert.ErrorIs(t, crash.Unwrap(), errSoldOut)
		assert.Equal(t, node.Atom("done"), down(node.ExitWith(node.Atom("done"))))
		assert.Equal(t, errSoldOut, down(node.ExitWith(errSoldOut)))
		assert.Equal(t, wire.Tuple{node.Atom("shutdown"), node.Atom("x")}, down(node.ExitWith(wire.Tuple{node.Shutdown, node.Atom("x")})))
	})
}
