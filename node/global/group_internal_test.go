package global

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/wire"
)

type (
	tuple = wire.Tuple
	atom  = wire.Atom
)

var (
	origin = wire.NewOrigin(wire.NodeID{Name: "b@h", Creation: 7})
	pid    = origin.PID(5)
	other  = origin.PID(6)
)

// names holds one name, and its owner.
type names struct{}

func (names) Whois(name any) (wire.PID, bool) { return other, name == atom("known") }

func (names) Names() []any { return []any{atom("known")} }

func TestGroupCast(t *testing.T) {
	for _, c := range []struct {
		body tuple
		want any // nil: no answer
	}{
		{tuple{atom("find_name"), pid, atom("known")}, tuple{atom("find_name_res"), other}},
		{tuple{atom("find_name"), pid, "unknown"}, tuple{atom("find_name_res"), atom("undefined")}},
		{tuple{atom("registered_names"), pid}, tuple{atom("registered_names_res"), wire.List{atom("known")}}},
		{tuple{atom("conf_check"), 3, atom("b@h"), tuple{pid, 1}, atom("sync"), atom("g"), atom("normal"), wire.List{}},
			tuple{atom("config_error"), 3, tuple{pid, 1}, atom("a@h")}},
		{tuple{atom("conf_check"), 2, atom("b@h"), pid, atom("sync"), atom("g"), wire.List{}}, nil},
		{tuple{atom("find_name"), pid}, nil},
		{tuple{atom("what"), pid, 1}, nil},
	} {
		a := groupCast(c.body, "a@h", names{})
		if c.want == nil {
			assert.Zero(t, a, c.body)
		} else {
			assert.Equal(t, groupAnswer{To: pid, Msg: c.want}, a)
		}
	}
}

func TestGroupCall(t *testing.T) {
	for _, c := range []struct{ body, want any }{
		{atom("global_groups"), atom("undefined")},
		{atom("own_nodes"), wire.List{atom("a@h"), atom("b@h")}},
		{atom("sync"), atom("ok")},
		{tuple{atom("ng_add_check"), atom("b@h"), atom("normal"), wire.List{}}, atom("not_agreed")},
		{tuple{atom("whereis_name"), atom("known")}, other},
		{tuple{atom("whereis_name"), 1}, atom("undefined")},
		{wire.List{1}, tuple{atom("illegal_message"), wire.List{1}}},
	} {
		assert.Equal(t, c.want, groupCall(c.body, "a@h", []atom{"b@h"}, names{}), c.body)
	}
}

// No term makes these functions panic.
func TestGroupAnyTerm(t *testing.T) {
	r := testkit.Rand(t)
	words := []any{1, "x", atom("find_name"), atom("registered_names"), atom("conf_check"), atom("whereis_name"), atom("ng_add_check"),
		atom("own_nodes"), pid, nil, wire.List{}, tuple{}}
	for range 20000 {
		msg := termtest.Of(r, words, 3)
		groupCast(msg, "a@h", names{})
		groupCall(msg, "a@h", nil, names{})
	}
}
