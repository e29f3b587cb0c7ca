package node_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// relayOf starts OTP processes that stand between two Go processes: a server that calls another, and an echo.
func relayOf(o *otp) (relay, echo node.At) {
	o.Ask("register(relay, spawn(fun() -> F = fun(F) -> receive {'$gen_call', From, {To, Request}} -> " +
		"gen_server:reply(From, catch gen_server:call(To, Request)), F(F) end end, F(F) end))")
	o.Ask("register(back, spawn(fun() -> F = fun(F) -> receive {Pid, Term} -> Pid ! {back, Term}, F(F) end end, F(F) end))")
	return node.At{Name: "relay", Node: o.name}, node.At{Name: "back", Node: o.name}
}

// Errors, panics and values of registered types are terms that OTP's tools can print, and come back unchanged.
func TestErrorsAndOTP(t *testing.T) {
	needOTP(t, false)
	port, finder := otpMapper(t, "127.0.0.1")
	o := startOTP(t, port, "-name", "e@127.0.0.1")
	n, _ := otpPeer(t, "go@127.0.0.1", node.Distribution{Finder: finder, Types: farTypes(t)})
	self := nodetest.NewProbe(t, n)
	self.TrapExit(true)
	require.NoError(t, n.Ping(testkit.Context(t), o.name))
	relay, back := relayOf(o)

	for _, c := range []struct {
		err   error
		term  string
		check func(err error) bool
	}{
		{errors.New("empty job"), `{error,<<"empty job">>}`, nil},
		{node.ExitWith(node.Atom("chosen")), `{error,chosen}`, nil},
		{errSoldOut, `{error,{'$error',<<"sold out">>,['shop.ErrSoldOut']}}`, func(err error) bool { return err == errSoldOut }},
		{fmt.Errorf("a: %w", errSoldOut), `{error,{'$error',<<"a: sold out">>,['shop.ErrSoldOut']}}`,
			func(err error) bool { return errors.Is(err, errSoldOut) }},
		{&shortError{"tea", 2}, `{error,{'$error',<<"2 of tea left">>,[#{'$type' => '*node_test.shortError',item => <<"tea">>,left => 2}]}}`,
			func(err error) bool { s := (*shortError)(nil); return errors.As(err, &s) && *s == shortError{"tea", 2} }},
		{fmt.Errorf("b: %w", errors.Join(codeError{4}, errors.New("x"))),
			`{error,{'$error',<<"b: code 4\nx">>,[{'$error',<<"code 4\nx">>,[{'$error',<<"code 4">>,[#{'$type' => 'node_test.codeError',code => 4}]}]}]}}`,
			func(err error) bool { c := codeError{}; return errors.As(err, &c) && c.Code == 4 }},
	} {
		pid, err := n.SpawnOpt(node.Options{Name: "fails"}, answering(c.err))
		require.NoError(t, err)
		assert.Equal(t, c.term, o.Ask("gen_server:call({fails, '%s'}, ask)", n.Name()))
		_, err = node.Call[int](testkit.Context(t), n, relay, wire.Tuple{pid, node.Atom("ask")})
		if assert.Error(t, err); c.check != nil {
			assert.True(t, c.check(err), "%#v", err)
		}
		if c.term != `{error,chosen}` {
			assert.EqualError(t, err, c.err.Error())
		}
		n.Exit(pid, node.Kill)
		testkit.Until(t, func() string {
			if _, there := n.Whereis("fails"); there {
				return "fails is alive"
			}
			return ""
		})
	}

	// A panic.
	breaks := func(cause any) node.PID {
		pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { breakDown(cause); return nil }))
		require.NoError(t, err)
		return pid
	}
	o.Ask("persistent_term:put(shape, fun({{'$panic', T, X}, [{M, F, 0, [{file, _}, {line, _}]} | _]}) when is_atom(M), is_atom(F) -> {T, X, F}; (R) -> R end)")
	hand := func(pid node.PID) {
		require.NoError(t, n.Send(node.At{Name: "keep", Node: o.name}, wire.Tuple{node.Atom("pid"), pid, self.Self()}))
		nodetest.Expect[node.Atom](self)
	}
	ask := func(pid node.PID, show string) string {
		hand(pid)
		return o.Ask("keep ! {get, self()}, P = receive {kept, Kept} -> Kept end, Ref = monitor(process, P), P ! go, "+
			"Reason = receive {'DOWN', Ref, _, _, R} -> R end, %s", show)
	}
	o.Ask("register(keep, spawn(fun() -> F = fun(F, Last) -> receive {pid, P, From} -> From ! kept, F(F, P); {get, To} -> To ! {kept, Last}, F(F, Last) end end, F(F, none) end))")
	assert.Equal(t, `{<<"string">>,<<"bad job">>,breakDown}`, ask(breaks("bad job"), "(persistent_term:get(shape))(Reason)"))
	assert.Equal(t, `{<<"int">>,<<"42">>,breakDown}`, ask(breaks(42), "(persistent_term:get(shape))(Reason)"))
	assert.Equal(t, `{<<"node_test.secret">>,<<"node_test.secret">>,breakDown}`, ask(breaks(secret{}), "(persistent_term:get(shape))(Reason)"))
	for tool, show := range map[string]string{
		"proc_lib": "proc_lib:format([[{initial_call, {shop, run, []}}, {pid, self()}, {registered_name, []}, " +
			"{error_info, {error, element(1, Reason), element(2, Reason)}}], []])",
		"erl_error": "erl_error:format_exception(error, element(1, Reason), element(2, Reason))",
		"logger": "logger_formatter:format(#{level => error, msg => {report, #{label => {proc_lib, crash}, report => [[{initial_call, " +
			"{shop, run, []}}, {pid, self()}, {registered_name, []}, {error_info, {error, element(1, Reason), element(2, Reason)}}], []]}}, " +
			"meta => #{time => 0, report_cb => fun proc_lib:report_cb/2}}, #{})",
	} {
		printed := ask(breaks("bad job"), "unicode:characters_to_binary("+show+")")
		for _, part := range []string{"bad job", "breakDown", "errors_test.go"} {
			assert.Contains(t, printed, part, tool)
		}
	}
	printed := ask(breaks("bad job"), `unicode:characters_to_binary(io_lib:format("~p", [Reason]))`)
	for _, part := range []string{"bad job", "breakDown", "errors_test.go", "{line,"} {
		assert.Contains(t, printed, part)
	}

	// And back: a crash here, seen through an OTP process that was linked to the crashed process.
	bad := breaks("bad job")
	hand(bad)
	o.Ask("keep ! {get, self()}, P = receive {kept, Kept} -> Kept end, persistent_term:put(middle, spawn(fun() -> link(P), receive {is_there, To} -> To ! {there, self()} end, receive after 300000 -> ok end end))")
	hand(self.Self())
	o.Ask("keep ! {get, self()}, S = receive {kept, Kept} -> Kept end, S ! {back, persistent_term:get(middle)}")
	middle := nodetest.Expect[wire.Tuple](self)[1].(node.PID)
	ref := self.Monitor(middle)
	require.NoError(t, n.Send(middle, wire.Tuple{node.Atom("is_there"), self.Self()}))
	nodetest.Expect[wire.Tuple](self) // so it is linked
	require.NoError(t, n.Send(bad, "go"))
	crash, ok := self.ExpectDown(ref).Reason.(*node.Crash)
	require.True(t, ok)
	assert.True(t, crash.Panic)
	assert.Equal(t, "bad job", crash.Reason)
	assert.Contains(t, string(crash.Stack), "breakDown")

	// A value of a registered type, and a pointer to one.
	want := order{Item: "tea", Count: 3, By: self.Self(), Lines: []line{{"green"}}}
	for _, sent := range []any{want, &want} {
		require.NoError(t, n.Send(back, wire.Tuple{self.Self(), sent}))
		assert.Equal(t, sent, nodetest.Expect[wire.Tuple](self)[1])
	}
	hand(self.Self())
	o.Ask("keep ! {get, self()}, S = receive {kept, Kept} -> Kept end, S ! #{'$type' => 'shop.Order', item => <<\"milk\">>}, " +
		"S ! #{'$type' => 'shop.Order', count => many}, S ! #{'$type' => 'shop.None', count => 1}, S ! [{x, #{'$type' => <<\"shop.Order\">>, count => 2}}]")
	assert.Equal(t, order{Item: "milk"}, nodetest.Expect[order](self))
	assert.Equal(t, 2, nodetest.Expect[wire.Map](self).Len())
	assert.Equal(t, 2, nodetest.Expect[wire.Map](self).Len())
	assert.Equal(t, wire.List{wire.Tuple{node.Atom("x"), order{Count: 2}}}, nodetest.Expect[wire.List](self))
}
