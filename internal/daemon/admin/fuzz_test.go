package admin_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Every request is answered by {ok, _} or {error, {Code, Text}}, which can be encoded.
func FuzzRequest(f *testing.F) {
	n := startNode(f, nil, "fuzz")
	require.NoError(f, admin.Start(testkit.Context(f), n, admin.Config{ReadOnly: true, Level: new(slog.LevelVar)}))
	q := wire.NewMap(wire.Atom("sort"), wire.Atom("mailbox"), wire.Atom("limit"), 2, wire.Atom("text"), "a", wire.Atom("state"),
		wire.Atom("idle"))
	s := wire.NewMap(wire.Atom("targets"), wire.List{admin.Name, "<0.1.0>", "actornode"}, wire.Atom("window"),
		wire.Atom("infinity"), wire.Atom("max"), 1)
	for _, v := range []any{
		wire.Atom("status"), wire.Atom("ps"), wire.Tuple{wire.Atom("ps"), q},
		wire.Tuple{wire.Atom("tree"), wire.NewMap(wire.Atom("limit"), 3)},
		wire.Tuple{wire.Atom("info"), admin.Name}, wire.Tuple{wire.Atom("info"), "<0.1.0>"}, wire.Tuple{wire.Atom("trace"), s},
		wire.Tuple{wire.Atom("deadletters"), s}, wire.Tuple{wire.Atom("exit"), admin.Name, wire.Atom("kill")},
		wire.Atom("log_level"), wire.Tuple{wire.Atom("log_levels"), s},
	} {
		b, err := etf.Append(nil, v)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, _, err := etf.Decode(b)
		if err != nil {
			return
		}
		if m, ok := v.(wire.Tuple); ok && len(m) == 2 && m[0] == wire.Atom("ps") {
			if q, ok := m[1].(wire.Map); ok {
				q.Delete(wire.Atom("window")) // it takes its time
				if sort, _ := q.Get(wire.Atom("sort")); sort == "rate" {
					return
				}
			}
		}
		a, err := actortest.CallWithin[any](testkit.Limit, n, admin.Name, v)
		if err != nil {
			t.Fatalf("%s: %v", wire.Format(v), err)
		}
		answer, ok := a.(wire.Tuple)
		if !ok || len(answer) != 2 || answer[0] != wire.AtomOK && answer[0] != wire.AtomError {
			t.Fatalf("%s: %s", wire.Format(v), wire.Format(a))
		}
		if _, err := etf.Append(nil, answer); err != nil {
			t.Fatalf("%s: %v", wire.Format(a), err)
		}
	})
}
