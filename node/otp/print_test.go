package otp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// greet is a Go function that prints.
func greet(ctx context.Context, args []any) (any, error) {
	_, err := fmt.Fprintf(otp.Writer(ctx), "hello %s, ünï\n", wire.Format(args[0]))
	return wire.AtomOK, err
}

// What a function prints when Erlang calls it appears in the caller's shell.
func TestPrintToTheCallersShell(t *testing.T) {
	n, out, e := startBoth(t)
	greets := wire.Export{Module: "greeter", Function: "greet", Arity: 1}
	require.NoError(t, rpc.Export(n, greets, greet))
	require.NoError(t, rpc.ExportBehaviour(n, greets, func(args []any) (node.Actor, error) {
		return node.ProcessFunc(func(p *node.Process) error {
			_, err := greet(p.Context(), args)
			return errors.Join(err, p.Send(args[0].(wire.PID), wire.Atom("done")))
		}), nil
	}))
	require.NoError(t, rpc.ExportBehaviour(n, wire.Export{Module: "greeter", Function: "parent", Arity: 1}, func(args []any) (node.Actor, error) {
		return node.ActorFunc(func(c *node.Context, msg any) error {
			_, err := c.Spawn(node.ProcessFunc(func(p *node.Process) error {
				_, err := greet(p.Context(), []any{wire.Atom("child")})
				return errors.Join(err, p.Send(args[0].(wire.PID), wire.Atom("done")))
			}))
			return err
		}), nil
	}))
	const there = "'go@127.0.0.1'"
	for _, call := range []string{"rpc:call", "erpc:call", "rpc:block_call"} {
		require.Equal(t, "ok", e.Ask("%s(%s, greeter, greet, [world])", call, there))
		prints(t, e, "hello world, ünï\n")
	}
	// A group leader other than the shell, and a process and its child.
	assert.Equal(t, `{{result,ok},"hello x, ünï\n"}`, e.Ask("tools:holder(fun() -> rpc:call(%s, greeter, greet, [x]) end)", there))
	assert.Equal(t, `{{result,done},"hello child, ünï\n"}`,
		e.Ask("tools:holder(fun() -> P = spawn(%s, greeter, parent, [self()]), P ! go, receive done -> done end end)", there))
	assert.Contains(t, e.Ask("tools:holder(fun() -> spawn(%s, greeter, greet, [self()]), receive done -> done end end)", there), `{{result,done},"hello <`)
	assert.Empty(t, out.Take(), "nothing of this is for user")
	// A leader that has exited.
	assert.Contains(t, e.Ask("tools:holder(fun() -> L = spawn(fun() -> ok end), group_leader(L, self()), rpc:call(%s, greeter, greet, [x]) end)", there), `{badrpc,`)
}

// prints checks what erl has printed, and drops it.
func prints(t *testing.T, e *erltest.Node, text string) {
	t.Helper()
	e.Ask("ok") // its answer comes after what was printed
	require.Equal(t, text, e.Log.Take())
}

// A process without a leader prints to user, until it gets one.
func TestGroupLeaderSignal(t *testing.T) {
	n, out, e := startBoth(t)
	spawn(t, n, node.Options{Name: "late"}, node.ProcessFunc(func(p *node.Process) error {
		for {
			m := node.ReceiveOf[wire.Tuple](p)
			text, _ := wire.AsText(m[2])
			if err := otp.Print(p.Context(), text); err != nil {
				return err
			}
			if err := p.Send(m[1].(wire.PID), wire.Tuple{wire.Atom("done"), p.Self()}); err != nil {
				return err
			}
		}
	}))
	assert.Equal(t, "ok", e.Ask("begin L = rpc:call('go@127.0.0.1', erlang, whereis, [late]), L ! {print, self(), \"before\\n\"}, receive {done, L} -> ok end end"))
	assert.Equal(t, "before\n", out.Take())
	assert.Equal(t, `"after\n"`, e.Ask("tools:late(rpc:call('go@127.0.0.1', erlang, whereis, [late]), \"after\\n\")"))
	assert.Empty(t, out.Take())
	assert.Equal(t, "true", e.Ask("{group_leader, whereis(printer)} =:= rpc:call('go@127.0.0.1', erlang, process_info, [rpc:call('go@127.0.0.1', erlang, whereis, [late]), group_leader])"))
}

// What Erlang prints in a call from Go appears in the output of Go's process user.
func TestPrintOfErlang(t *testing.T) {
	n, out, _ := startBoth(t)
	v, err := rpc.Call[any](t.Context(), n, "e@127.0.0.1", "tools", "say", wire.Charlist("hello ~p ~ts~n"), wire.List{wire.Tuple{1, wire.Atom("a")}, wire.Charlist("ünï")})
	require.NoError(t, err)
	assert.Equal(t, wire.Atom("done"), v)
	assert.Equal(t, "hello {1,a} ünï\nand put\n", out.Take())
}

// Formats print what OTP's io_lib prints.
func TestFormatsOTP(t *testing.T) {
	_, out, e := startBoth(t)
	answer, err := wire.Parse(e.Ask("tools:formats(rpc:call('go@127.0.0.1', erlang, whereis, [user]))"))
	require.NoError(t, err)
	both := answer.(wire.Tuple)
	assert.Equal(t, "[]", wire.Format(both[0]))
	var want strings.Builder
	for _, text := range both[1].(wire.List) {
		fmt.Fprintf(&want, "|%s|\n", text)
	}
	assert.Equal(t, want.String(), out.Take())
	assert.Equal(t, "[eof,eof,[{binary,false},{encoding,unicode}],{error,enotsup},{error,enotsup}]",
		e.Ask("begin U = rpc:call('go@127.0.0.1', erlang, whereis, [user]), [io:get_line(U, x), io:fread(U, x, \"~d\"), io:getopts(U), io:columns(U), io:setopts(U, [binary])] end"))
	assert.Equal(t, "ok", e.Ask("io:requests(U = rpc:call('go@127.0.0.1', erlang, whereis, [user]), [{put_chars, unicode, <<\"a\">>}, {format, \"~w\", [b]}, nl])"))
	assert.Equal(t, "ab\n", out.Take())
}

func TestPrintErrors(t *testing.T) {
	assert.ErrorIs(t, otp.Print(t.Context(), "x"), otp.ErrNoLeader)
	n := nodetest.Start(t, node.Config{})
	p := nodetest.NewProbe(t, n)
	assert.ErrorIs(t, otp.Print(p.Context(), "x"), otp.ErrNoLeader)

	lead := func(answer any) context.Context { // of a process whose leader gives this answer
		leader := spawn(t, n, node.Options{}, node.ActorFunc(func(c *node.Context, msg any) error {
			m := msg.(wire.Tuple)
			if answer == nil {
				return node.ErrStop
			}
			c.Send(m[1].(wire.PID), wire.Tuple{wire.Atom("io_reply"), n.MakeRef(), wire.AtomOK}) // the reply to another request
			return c.Send(m[1].(wire.PID), wire.Tuple{wire.Atom("io_reply"), m[2], answer})
		}))
		told := make(chan context.Context)
		spawn(t, n, node.Options{Leader: leader}, node.ProcessFunc(func(p *node.Process) error {
			told <- p.Context()
			return idle(p)
		}))
		return <-told
	}
	assert.NoError(t, otp.Print(lead(wire.AtomOK), "x"))
	require.EqualError(t, otp.Print(lead(wire.Tuple{wire.AtomError, wire.Atom("enospc")}), "x"),
		"otp: the group leader did not print: enospc")
	require.EqualError(t, otp.Print(lead(wire.Atom("what")), "x"), "otp: the group leader did not print: what")
	var gone *node.ExitError
	require.ErrorAs(t, otp.Print(lead(nil), "x"), &gone)
	assert.Equal(t, node.Normal, gone.Reason)

	silent := spawn(t, n, node.Options{}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	told := make(chan context.Context)
	spawn(t, n, node.Options{Leader: silent}, node.ProcessFunc(func(p *node.Process) error {
		told <- p.Context()
		return idle(p)
	}))
	ctx, cancel := context.WithCancelCause(<-told)
	enough := errors.New("enough")
	cancel(enough)
	assert.ErrorIs(t, otp.Print(ctx, "x"), enough)
}

// failing is an output that refuses everything.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestUserCannotWrite(t *testing.T) {
	n := alone(t, otp.Config{Output: failing{}})
	told := make(chan error)
	spawn(t, n, node.Options{}, node.ProcessFunc(func(p *node.Process) error {
		told <- otp.Print(p.Context(), "x")
		return nil
	}))
	assert.EqualError(t, <-told, "otp: the group leader did not print: terminated")
}
