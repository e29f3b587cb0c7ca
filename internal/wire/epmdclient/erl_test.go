package epmdclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/wire/epmd"
)

// The addresses where nodes listen and look for their port mapper.
var (
	inet  = []string{"-kernel", "inet_dist_use_interface", "{127,0,0,1}"}
	inet6 = []string{"-kernel", "inet_dist_use_interface", "{0,0,0,0,0,0,0,1}", "-proto_dist", "inet6_tcp"}
)

// named returns the options of a node with a short name that asks for port mappers at port.
func named(port int, name string, args ...string) erltest.Options {
	return erltest.Options{Name: name, Short: true, EPMD: port, Args: args}
}

// stays starts a node that runs until the test ends.
func stays(t *testing.T, port int, name string, family []string) {
	cmd := erltest.Command(context.Background(), t, named(port, name, family...))
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// erlSays runs code in a node and returns what it prints.
func erlSays(t *testing.T, port int, name, code string) string {
	out, err := erltest.Run(t, named(port, name, append([]string{"-eval", code + ", halt()."}, inet...)...))
	require.NoError(t, err, out)
	return strings.TrimSpace(out)
}

// Real nodes register at our server, find each other through it, and come back to it after it has been away.
func TestErlNodesMeetThroughOurServer(t *testing.T) {
	erltest.Need(t)
	port, s := startOurs(t, quiet())
	c := newClient(t, atPort(port))
	ctx := t.Context()
	id := strconv.Itoa(os.Getpid())
	a, b := "epmda"+id, "epmdb"+id

	stays(t, port, a, inet)
	eventually(t, "the first node is registered", func() bool {
		_, err := c.Lookup(ctx, "", a)
		return err == nil
	})
	r, err := c.Lookup(ctx, "", a)
	require.NoError(t, err)
	require.Equal(t, Registration{Name: a, Port: r.Port, Highest: 6, Lowest: 5}, r)
	conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", r.Port))
	require.NoError(t, err, "the node listens where it says")
	require.NoError(t, conn.Close())

	const meet = `[_, H] = string:split(atom_to_list(node()), "@"),
		A = list_to_atom(%q ++ "@" ++ H),
		Pong = net_adm:ping(A),
		{ok, Names} = net_adm:names(),
		io:format("~%s ~p ~p", [Pong, lists:sort([N || {N, _} <- Names]),
			rpc:call(A, erlang, system_info, [creation]) =/= erlang:system_info(creation)])`
	code := strings.Replace(fmt.Sprintf(meet, a, "p"), "\n", " ", -1)
	require.Equal(t, fmt.Sprintf(`pong [%q,%q] true`, a, b), erlSays(t, port, b, code))
	eventually(t, "the second node is gone", func() bool {
		_, err := c.Lookup(ctx, "", b)
		return errors.Is(err, epmd.ErrNotFound)
	})

	// A node's creation is the one that we gave it.
	out := erlSays(t, port, b, `io:format("~p", [erlang:system_info(creation)])`)
	require.Equal(t, fmt.Sprint(s.Stats().Creation), out)

	// A live node already has this name: OTP reports that and gives up.
	refusal, err := erltest.Run(t, named(port, a, inet...))
	require.Error(t, err)
	require.Contains(t, refusal, "seems to be in use")

	// Our server dies; another takes its port, and the node comes to it.
	s.Stop()
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	require.NoError(t, err)
	_, stop := serve(t, quiet(), l)
	defer stop()
	eventually(t, "the first node is registered again", func() bool {
		_, err := c.Lookup(ctx, "", a)
		return err == nil
	})
	require.Equal(t, fmt.Sprintf(`pong [%q,%q] true`, a, b), erlSays(t, port, b, code))
}

// Nodes of IPv6 look for their port mapper at ::1.
func TestErlNodeOverIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 on this host")
	}
	_, stop := serve(t, quiet(), l)
	defer stop()
	port := l.Addr().(*net.TCPAddr).Port
	name := "epmdc" + strconv.Itoa(os.Getpid())
	stays(t, port, name, inet6)
	c := newClient(t, atPort(port))
	eventually(t, "the node is registered", func() bool {
		_, err := c.Lookup(t.Context(), "", name)
		return err == nil
	})
	names, err := c.Names(t.Context(), "::1")
	require.NoError(t, err)
	require.Len(t, names, 1)
}
