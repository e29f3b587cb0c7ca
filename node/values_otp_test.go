package node_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
)

// forgedError is a registered error that is asked to read itself, and fails.
type forgedError struct{ How string }

func (e *forgedError) Error() string { return e.How }

func (e *forgedError) SetTerm(any) error {
	if e == nil || e.How == "" {
		panic("this cannot be read")
	}
	return errors.New("nor this")
}

func init() { node.RegisterTypes(node.TypeOf[forgedError]("forged.Error")) }

// A term from an OTP node that is nested too deep is lost, and nothing else. A caller that sends one gets an error.
func TestDeepByOTP(t *testing.T) {
	host := newOTPHost(t)
	erl := host.erl("one", erltest.Cookie)
	n := host.start(host.config("a"))
	pid, err := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		return msg.(node.Request[node.Atom]).Reply(node.Atom("here"))
	}))
	require.NoError(t, err)
	require.NoError(t, n.Register("alive", pid))
	lost := n.DeadLetters(10)
	t.Cleanup(lost.Close)
	require.Equal(t, "here", erl.Ask(fmt.Sprintf("gen_server:call({alive, '%s'}, x, 20000)", n.Name())))
	const deep = "lists:foldl(fun(_, E) -> {E} end, x, lists:seq(1, 200000))"
	got := erl.Ask(fmt.Sprintf("erlang:monitor_node('%s', true), {error, E} = gen_server:call({alive, '%[1]s'}, %s, 20000), E", n.Name(),
		deep))
	require.Contains(t, got, "terms nested deeper than 100000 levels")
	erl.Ask(fmt.Sprintf("{alive, '%s'} ! %s, ok", n.Name(), deep))
	letter := testkit.Receive(t, lost.C)
	require.Equal(t, deadletter.Unreadable, letter.Cause)
	require.ErrorContains(t, letter.Message.(error), "terms nested deeper than 100000 levels")
	require.Equal(t, "here", erl.Ask(fmt.Sprintf("gen_server:call({alive, '%s'}, x, 20000)", n.Name())))
	require.Equal(t, "up", erl.Ask("receive {nodedown, _} -> down after 0 -> up end"))
}

// Whatever an OTP node sends in the forms of errors and Go values, the process gets a value or the term, and the
// connection goes on.
func TestForgedByOTP(t *testing.T) {
	host := newOTPHost(t)
	erl := host.erl("one", erltest.Cookie)
	n := host.start(host.config("a"))
	pid, err := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		r := msg.(node.Request[node.Atom])
		return r.Reply(r.Body)
	}))
	require.NoError(t, err)
	require.NoError(t, n.Register("alive", pid))
	kinds, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		r, _ := n.AsRequest(msg)
		text := fmt.Sprintf("%T", r.Body)
		if err, ok := r.Body.(error); ok {
			text = fmt.Sprintf("error of %d bytes", len(err.Error()))
		}
		return r.Reply(node.Atom(text))
	}))
	require.NoError(t, err)
	require.NoError(t, n.Register("kinds", kinds))
	for _, c := range []struct{ body, want string }{
		{"{'$error', 1, []}", "wire.Tuple"},
		{"{'$error', <<\"x\">>, no_list}", "wire.Tuple"},
		{"{'$error', <<\"x\">>, [a | b]}", "wire.Tuple"},
		{"{'$error', <<\"x\">>, [nobody, 1, {}, #{}, {'$error', 1, 2}]}", "error of 1 bytes"},
		{"{'$error', binary:copy(<<\"x\">>, 1 bsl 20), []}", "error of 16383 bytes"},
		{"lists:foldl(fun(_, E) -> {'$error', <<\"x\">>, [E]} end, 'EOF', lists:seq(1, 20000))", "error of 1 bytes"},
		{"{'$error', <<\"x\">>, lists:duplicate(100000, 'EOF')}", "error of 1 bytes"},
		{"{{'$panic', 1, 2}, []}", "wire.Tuple"},
		{"{{'$panic', <<\"T\">>, <<\"x\">>}, [{m, f, 0, [{line, x}]}]}", "wire.Tuple"},
		{"{'$go', <<1,2,3>>}", "wire.Tuple"},
		{"{'$go', 7}", "wire.Tuple"},
		{"#{'$type' => 7}", "wire.Map"},
		{"#{'$type' => 'near.Nobody'}", "wire.Map"},
		{"#{'$type' => 'near.Order', count => <<\"many\">>}", "wire.Map"},
		{"#{'$type' => 'forged.Error'}", "wire.Map"},
		{"#{'$type' => '*forged.Error', how => <<\"x\">>}", "wire.Map"},
		{"#{'$type' => 'near.Job', for => {7, [alias|7]}}", "wire.Map"},
		{"#{'$type' => 'near.Job', for => 7}", "wire.Map"},
		{"#{'$type' => 'node.Future'}", "wire.Map"},
		{"#{'$type' => 'node.Future', value => <<\"int\">>, ref => 7}", "wire.Map"},
		{"#{'$type' => 'node.Future', value => <<\"near.Nobody\">>, ref => make_ref()}", "wire.Map"},
		{"#{'$type' => 'node.Future', value => 7, ref => make_ref()}", "wire.Map"},
		{"#{'$type' => 'node.Future', value => <<\"int\">>, ref => make_ref(), more => 1}", "wire.Map"},
		{"#{'$type' => 'node.Future', value => <<\"int\">>, ref => make_ref()}", "*node.Future[int]"},
		{"#{'$type' => 'near.Promise', none => #{'$type' => 'node.Future', value => <<\"string\">>, ref => make_ref()}}", "wire.Map"},
		{"#{'$type' => 'near.Promise', none => 7}", "wire.Map"},
		{"#{'$type' => 'near.Promise', none => undefined}", "node_test.nearPromise"},
		{"lists:foldl(fun(_, E) -> #{'$type' => 'near.Tree', left => E} end, undefined, lists:seq(1, 60))", "node_test.nearTree"},
		{"lists:foldl(fun(_, E) -> #{'$type' => 'near.Tree', left => E} end, undefined, lists:seq(1, 20000))", "wire.Map"},
	} {
		got := erl.Ask(fmt.Sprintf("gen_server:call({kinds, '%s'}, %s, 20000)", n.Name(), c.body))
		require.Contains(t, []string{c.want, "'" + c.want + "'"}, got, c.body)
		require.Equal(t, "x", erl.Ask(fmt.Sprintf("gen_server:call({alive, '%s'}, x, 20000)", n.Name())))
	}
	require.Len(t, n.AllNodes(), 1, "it is the connection that there was")
}

// The terms that an OTP node gets for Go values, and the values that a Go node gets for its terms.
func TestFormsOfOTP(t *testing.T) {
	host := newOTPHost(t)
	erl := host.erl("one", erltest.Cookie)
	n := host.start(host.config("a"))
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := n.AsRequest(msg); ok {
			return r.Reply(node.Atom(reflect.TypeOf(msg).Field(0).Type.String()))
		}
		return node.ErrUnhandled
	}))
	require.NoError(t, err)
	require.NoError(t, n.Register("kinds", pid))
	ask := func(body string) string {
		return erl.Ask(fmt.Sprintf("gen_server:call({kinds, '%s'}, %s, 20000)", n.Name(), body))
	}
	at := time.Date(2024, 2, 29, 12, 30, 0, 0, time.UTC)
	for body, want := range map[string]string{
		"true": "bool", "false": "bool", "undefined": "wire.Atom", "7": "int", "<<1>>": "[]uint8", "{true}": "wire.Tuple",
		"#{'$type' => 'near.Line', text => <<\"a\">>}":                             "node_test.nearLine",
		"#{'$type' => '*near.Line', text => <<\"a\">>}":                            "*node_test.nearLine",
		"#{'$type' => 'near.Knock'}":                                               "node_test.nearKnock",
		"#{'$type' => 'time.Time', time => <<\"2024-02-29T12:30:00Z\">>}":          "time.Time",
		"#{'$type' => 'time.Time', time => <<\"2024-02-29\">>}":                    "wire.Map",
		"#{'$type' => 'time.Time', time => <<\"2024-02-29T12:30:00Z\">>, at => 1}": "wire.Map",
		"#{'$type' => 'near.Line', text => 7}":                                     "wire.Map",
		"#{'$type' => '**near.Line', text => <<\"a\">>}":                           "wire.Map",
		"#{'$type' => 'near.Nobody', text => <<\"a\">>}":                           "wire.Map",
		"#{'$type' => <<\"near.Line\">>, text => <<\"a\">>}":                       "node_test.nearLine",
	} {
		if want != "bool" && want != "int" {
			want = "'" + want + "'"
		}
		require.Equal(t, want, ask(body), body)
	}
	require.Equal(t, "true", erl.Ask("register(show, spawn(fun F() -> receive {'$gen_call', From, X} -> "+
		"gen_server:reply(From, iolist_to_binary(io_lib:format(\"~0tp\", [X]))), F() end end))"))
	for _, c := range []struct {
		v    any
		want string
	}{
		{at, "#{time => <<\"2024-02-29T12:30:00Z\">>,'$type' => 'time.Time'}"},
		{nearLine{"a"}, "#{text => <<\"a\">>,'$type' => 'near.Line'}"},
		{&nearLine{"a"}, "#{text => <<\"a\">>,'$type' => '*near.Line'}"},
		{nearKnock{}, "#{'$type' => 'near.Knock'}"},
		{true, "true"},
	} {
		s, err := node.Call[string](testkit.Context(t), n, node.At{Name: "show", Node: erl.name}, c.v)
		require.NoError(t, err)
		require.Equal(t, sorted(c.want), sorted(s))
	}
}

// sorted returns the characters of a term in order, as the order of a map's keys is not defined.
func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}
