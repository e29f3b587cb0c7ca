package node_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/erltest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
)

// What Go values are to a node of OTP, and what its values are here.
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

// sorted has the characters of a term in order: the order of a map's keys is not said.
func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}
