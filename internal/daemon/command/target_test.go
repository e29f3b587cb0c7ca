package command

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

func TestWho(t *testing.T) {
	life := func(n wire.Atom, creation uint32, number uint64) wire.PID {
		return wire.NewOrigin(wire.NodeID{Name: n, Creation: creation}).PID(number)
	}
	for _, c := range []struct {
		text string
		want processRef
	}{
		{"counter", processRef{node: "go@host", name: "counter"}},
		{"'a name'", processRef{node: "go@host", name: "a name"}},
		{"Elixir.Shop.Cart", processRef{node: "go@host", name: "Elixir.Shop.Cart"}},
		{"{counter, 'a@b.c'}", processRef{node: "a@b.c", name: "counter"}},
		{"{counter, 'go6@::1'}", processRef{node: "go6@::1", name: "counter"}},
		{"{'a:b', 'go@127.0.0.1'}", processRef{node: "go@127.0.0.1", name: "a:b"}},
		{"'a@b:c'", processRef{node: "go@host", name: "a@b:c"}},
		{"42", processRef{node: "go@host", pid: life("go@host", 0, 42), now: true}},
		{"42.7", processRef{node: "go@host", pid: life("go@host", 0, 7<<32|42), now: true}},
		{"<0.42.7>", processRef{node: "go@host", pid: life("go@host", 0, 7<<32|42), now: true}},
		{"<a@b.c.42.7>", processRef{node: "a@b.c", pid: life("a@b.c", 0, 7<<32|42), now: true}},
		{"a@b.c:42", processRef{node: "a@b.c", pid: life("a@b.c", 0, 42), now: true}},
		{"42.0.1z141z3", processRef{node: "go@host", pid: life("go@host", 1<<32-1, 42)}},
		{"a@::1:42.7.z", processRef{node: "a@::1", pid: life("a@::1", 35, 7<<32|42)}},
	} {
		c.want.text = c.text
		got, err := parseProcessRef(c.text, "go@host")
		require.NoError(t, err, c.text)
		assert.Equal(t, c.want, got)
	}
	for _, text := range []string{"", "a b", "{a, b, c}", "{a, 1}", "{a", "<0.1>", "<0.1.2", "<0.1.2.3>", "1.2.3.4", "4294967296",
		"1.x", "a@b.c:x", "[1]", "'x"} {
		_, err := parseProcessRef(text, "go@host")
		assert.Equal(t, exitUsage, codeOf(err), "%q: %v", text, err)
	}
	pid := life("a@b.c", 36, 42)
	assert.Equal(t, "42.0.10", shownAt(pid, "a@b.c"))
	assert.Equal(t, "a@b.c:42.0.10", shownAt(pid, "go@host"))
	for _, at := range []wire.Atom{"a@b.c", "go@host"} {
		w, err := parseProcessRef(shownAt(pid, at), at)
		require.NoError(t, err)
		assert.Equal(t, pid, w.pid)
	}
}

func TestHosts(t *testing.T) {
	assert.Equal(t, []node.Atom{"a@b"}, hostsFor("a@b"))
	all := hostsFor("go")
	assert.Equal(t, node.Atom("go@127.0.0.1"), all[0])
	assert.Contains(t, all, node.Atom("go@localhost"))
	for _, host := range []string{"127.0.0.1", "127.1.2.3", "::1", "localhost"} {
		assert.Equal(t, host, ownHost(node.Atom("go@"+host)))
	}
	for _, at := range []node.Atom{"go@elsewhere", "go@elsewhere.example.org", "go@192.0.2.1"} {
		_, host, _ := cutName(at)
		assert.Equal(t, isLong(host), isLong(ownHost(at)), "%s: both have long names, or both short ones", at)
	}
}
