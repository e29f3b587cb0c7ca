package genserver_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// oracle is the server of testdata/oracle.erl.
type oracle struct{ state any }

func (o *oracle) State() any           { return o.state }
func (o *oracle) SetState(t any) error { o.state = t; return nil }
func (o *oracle) CodeChange(_ node.Atom, old, _ any) error {
	if old == a("bad") {
		return node.ExitWith(wire.Tuple{wire.AtomError, a("bad")}) // what Erlang's returned
	}
	return nil
}

var oracles = genserver.Define(
	genserver.OnAnyCall(func(o *oracle, c *genserver.Context, q any) (any, error) {
		old := o.state
		switch t, _ := q.(wire.Tuple); {
		case q == a("later"):
			//actornode:ignore noreply OTP's server in the same test does not answer either
			return nil, genserver.ErrReplyLater
		case q == a("cont"):
			c.Continue(func(*genserver.Context) error { return nil })
			return q, nil
		case len(t) == 2 && t[0] == a("set"):
			o.state = t[1]
		}
		return old, nil
	}),
	genserver.OnCast(func(_ *oracle, c *genserver.Context, m any) error {
		if m == a("cont") {
			c.Continue(func(*genserver.Context) error { return nil })
		}
		return nil
	}),
	genserver.OnInfo(func(*oracle, *genserver.Context, any) error { return nil }),
)

// The requests to a server, and the answers of a server of OTP, line by line.
const (
	questions = "testdata/oracle.txt"
	answers   = "testdata/oracle.answers.txt"
)

// The recorded answers are OTP's: -update writes them anew.
func TestOracleOTP(t *testing.T) {
	printed := erltest.Main(t, "testdata/oracle.erl", questions)
	if erltest.Updating() {
		require.NoError(t, os.WriteFile(answers, []byte(printed), 0o644))
	}
	want, err := os.ReadFile(answers)
	require.NoError(t, err)
	require.Equal(t, printed, string(want))
}

// A server here gets the same requests.
func TestOracle(t *testing.T) {
	linesOf := func(file string) []string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	lines, want := linesOf(questions), linesOf(answers)
	require.Len(t, want, len(lines))

	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	h.TrapExit(true)
	servers := map[any]node.PID{}
	var err error
	servers[a("linked")], err = oracles.Start(t.Context(), h, &oracle{a("s0")}, node.Options{Name: "oracle", Link: true})
	require.NoError(t, err)
	servers[a("alone")], err = oracles.Start(t.Context(), h, &oracle{a("s0")}, node.Options{})
	require.NoError(t, err)
	for i, line := range lines {
		term, err := wire.Parse(line)
		require.NoError(t, err, line)
		cmd := term.(wire.Tuple)
		pid := servers[cmd[0]]
		got := wire.Format(plain(pid, play(t, h.Process, pid, cmd[1].(wire.Tuple))))
		wanted, err := wire.Parse(want[i])
		require.NoError(t, err, want[i])
		assert.Equal(t, wire.Format(wanted), got, line)
	}
}

func play(t *testing.T, h *node.Process, pid node.PID, what wire.Tuple) any {
	req := func(label string, q any) any {
		tag := aliasTag(h.AliasOnce())
		h.Send(pid, wire.Tuple{a(label), wire.Tuple{h.Self(), tag}, q})
		m, err := h.ReceiveWithin(testkit.Limit, func(m any) bool { r, ok := m.(wire.Tuple); return ok && wire.Equal(r[0], tag) })
		require.NoError(t, err)
		return m.(wire.Tuple)[1]
	}
	switch {
	case what[0] == a("system"):
		return req("system", what[1])
	case what[0] == a("call") && what[1] == a("later"):
		h.Send(pid, wire.Tuple{a("$gen_call"), wire.Tuple{h.Self(), aliasTag(h.AliasOnce())}, what[1]})
		state, err := sys.GetState(t.Context(), h, pid)
		require.NoError(t, err)
		return state
	case what[0] == a("call"):
		return req("$gen_call", what[1])
	case what[0] == a("cast"):
		genserver.Cast(h, pid, what[1])
	default:
		h.Send(pid, what[1])
	}
	return wire.AtomOK
}

// plain does what plain/2 of oracle.erl does.
func plain(self node.PID, term any) any {
	all := func(l []any) []any {
		r := make([]any, len(l))
		for i, e := range l {
			r[i] = plain(self, e)
		}
		return r
	}
	switch v := term.(type) {
	case node.PID:
		if v == self {
			return a("pid")
		}
		return a("other")
	case node.Ref:
		return a("ref")
	case wire.List:
		return wire.List(all(v))
	case wire.Charlist:
		return v
	case wire.ImproperList:
		return wire.ImproperList{Head: all(v.Head), Tail: plain(self, v.Tail)}
	case wire.Tuple:
		if len(v) == 0 {
			return v
		}
		if text, ok := wire.AsText(v[0]); ok && text == "Status" && len(v) == 2 {
			return wire.Tuple{a("status_is"), plain(self, v[1])}
		}
		switch word, _ := v[0].(wire.Atom); word {
		case "$initial_call", "start_time", "current_time", "reductions", "continue":
			return word
		case "statistics":
			s := v[1].(wire.Tuple)
			return wire.Tuple{word, s[2], s[3]}
		case "log":
			if l, ok := v[1].(wire.List); ok {
				return wire.Tuple{word, len(l)}
			}
		case "status":
			parts := v[3].(wire.List)
			dict := wire.List(all(parts[0].(wire.List)))
			slices.SortFunc(dict, wire.Compare)
			return wire.Tuple{word, plain(self, v[1]), v[2], append(wire.List{dict}, all(parts[1:])...)}
		case "$gen_call":
			return wire.Tuple{word, plain(self, v[2])}
		case "out":
			return wire.Tuple{word, plain(self, v[1]), plain(self, v[3])}
		case "header":
			text, _ := wire.AsText(v[1])
			return wire.Tuple{word, wire.Charlist(text[:26])}
		}
		return wire.Tuple(all(v))
	}
	return term
}
