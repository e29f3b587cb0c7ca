package port

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

func TestReadConfig(t *testing.T) {
	for term, want := range map[string]Config{
		`#{command => "x"}`:       {Command: "x"},
		`[{command, <<"x">>}]`:    {Command: "x"},
		`#{<<"command">> => 'x'}`: {Command: "x"},
		`#{command => "x", args => ["a", <<"b">>, c, 8080], env => #{<<"A">> => "1", b => 2}, dir => "/", codec => etf, init => {1},
			ready => 20, stall => infinity, grace => "1m30s", frame => 1, queue => 2, open => 3, log_rate => 4}`: {
			Command: "x", Args: []string{"a", "b", "c", "8080"}, Env: map[string]string{"A": "1", "b": "2"}, Dir: "/", Codec: ETF,
			Init:  wire.Tuple{1},
			Ready: 20 * time.Millisecond, Stall: node.Infinity, Grace: 90 * time.Second, Frame: 1, Queue: 2, Open: 3, LogRate: 4},
	} {
		v, err := wire.Parse(term)
		require.NoError(t, err)
		cfg, err := readConfig(v)
		require.NoError(t, err, term)
		require.Equal(t, want, cfg, term)
	}
	for term, want := range map[string]string{
		`7`:                             "7; want a map",
		`[a]`:                           "a in a list of pairs; want {Key, Value}",
		`[{7,8}]`:                       "the key 7; want text",
		`#{}`:                           "Command is missing",
		`#{command => 7}`:               "command: 7; want text",
		`#{command => x, args => y}`:    "args: y; want a list of text",
		`#{command => x, args => [{}]}`: "args: {}; want text",
		`#{command => x, env => [a]}`:   "env: a in a list of pairs",
		`#{command => x, codec => ""}`:  "codec: []; want msgpack, plain or etf",
		`#{command => x, grace => "1"}`: `grace: "1"; want a time above 0`,
		`#{command => x, grace => 0}`:   "grace: 0; want a time above 0",
		`#{command => x, queue => -1}`:  "queue: -1; want an integer from 1 to 2147483647",
		`#{comand => x}`:                "comand: unknown field; want command,",
	} {
		v, err := wire.Parse(term)
		require.NoError(t, err)
		_, err = readConfig(v)
		require.ErrorIs(t, err, ErrConfig, term)
		require.ErrorContains(t, err, want, term)
	}
}

// The fields of a file take effect, and nothing beyond them.
func TestMake(t *testing.T) {
	_, err := Make(nil)
	require.ErrorIs(t, err, ErrConfig)
	_, err = Make([]any{wire.NewMap("command", 7)})
	require.ErrorIs(t, err, ErrConfig)
	start, err := Make([]any{wire.NewMap("command", "/bin/cat")})
	require.NoError(t, err)
	a, err := start()
	require.NoError(t, err)
	require.Equal(t, &port{cfg: Config{Command: "/bin/cat"}}, a)
	_, err = start(wire.NewMap("command", "/bin/sh"))
	require.ErrorContains(t, err, "bad_config")
}
