package match_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/match"
	"github.com/actornode/actornode/node/nodetest"
)

// sums adds the numbers that it gets, as a struct or as the term that the struct stands for.
func sums(said chan<- string) *match.Match {
	return match.New(
		match.On(func(a add) { said <- fmt.Sprint(a.A + a.B) }),
		match.On(func(a addText) { said <- a.A + a.B }),
		match.Reply(func(_ *node.Context, a add) (int, error) { return a.A + a.B, nil }),
		match.On(func(m any) { said <- fmt.Sprintf("%T", m) }),
	)
}

// server takes the same requests in a method.
var server = genserver.Define(
	genserver.OnAnyCall(func(_ struct{}, _ *genserver.Context, a add) (int, error) { return a.A + a.B, nil }),
	genserver.OnAnyCall(func(_ struct{}, _ *genserver.Context, a addText) (string, error) { return a.A + a.B, nil }),
)

// Structs with a tag arrive as terms from other nodes, whichever protocol these speak.
func TestFarTerms(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		near, far := c.Start("near"), c.Start("far")
		said := make(chan string, 1)
		pid, err := far.Spawn(sums(said))
		require.NoError(t, err)
		for _, c := range []struct {
			msg  any
			says string
		}{
			{add{A: 1, B: 2}, "3"}, {tuple("add", 3, 4), "7"}, {addText{A: "x", B: "y"}, "xy"}, {tuple("add", "x", "z"), "xz"},
			{tuple("add", 1, 2, 3), "wire.Tuple"},
		} {
			require.NoError(t, near.Send(pid, c.msg))
			require.Equal(t, c.says, testkit.Receive(t, said), "%T %v", c.msg, c.msg)
		}
		to, err := server.Start(testkit.Context(t), far, struct{}{}, node.Options{})
		require.NoError(t, err)
		for _, pid := range []node.PID{pid, to} {
			for _, req := range []any{add{A: 1, B: 2}, tuple("add", 1, 2)} {
				sum, err := node.Call[int](testkit.Context(t), near, pid, req)
				require.NoError(t, err)
				require.Equal(t, 3, sum)
			}
		}
	})
}

// A node of OTP sends terms.
func TestErlangTerms(t *testing.T) {
	erltest.Need(t)
	cfg := epmdtest.Serve(t, "127.0.0.1")
	n := nodetest.Start(t, node.Config{Name: "go@127.0.0.1",
		Distribution: &node.Distribution{Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: cfg}}})
	said := make(chan string, 1)
	_, err := n.SpawnOpt(node.Options{Name: "sums"}, sums(said))
	require.NoError(t, err)
	_, err = server.Start(testkit.Context(t), n, struct{}{}, node.Options{Name: "server"})
	require.NoError(t, err)
	_, err = n.SpawnOpt(node.Options{Name: "process"}, node.ProcessFunc(func(p *node.Process) error {
		m := match.New(match.On(func(a add) { said <- fmt.Sprint("process ", a.A+a.B) }))
		for {
			if err := match.Receive(p, m); err != nil {
				return err
			}
		}
	}))
	require.NoError(t, err)
	e := erltest.Start(t, erltest.Options{Name: "e@127.0.0.1", EPMD: cfg.Port})
	for _, c := range []struct{ to, term, says string }{
		{"sums", "{add, 1, 2}", "3"}, {"sums", `{add, <<"x">>, "y"}`, "xy"}, {"sums", "{add, 1}", "wire.Tuple"},
		{"process", "{add, 5, 6}", "process 11"},
	} {
		e.Ask("{%s, 'go@127.0.0.1'} ! %s", c.to, c.term)
		require.Equal(t, c.says, testkit.Receive(t, said), c.term)
	}
	call := func(to, body string) string {
		return e.Ask("catch gen_server:call({%s, 'go@127.0.0.1'}, %s)", to, body)
	}
	require.Equal(t, "3", call("sums", "{add, 1, 2}"))
	require.Equal(t, "3", call("server", "{add, 1, 2}"))
	require.Equal(t, `<<"xy">>`, call("server", `{add, <<"x">>, <<"y">>}`))
	require.Contains(t, call("server", "{add, 1, <<>>}"), "unhandled_request")
}
