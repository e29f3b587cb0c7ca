package epmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where nodes listen and look for their port mapper.
var (
	inet  = []string{"-kernel", "inet_dist_use_interface", "{127,0,0,1}"}
	inet6 = []string{"-kernel", "inet_dist_use_interface", "{0,0,0,0,0,0,0,1}", "-proto_dist", "inet6_tcp"}
)

// erlNode runs code in a distributed node called name, which asks for port
// mappers at port and starts none.
func erlNode(t *testing.T, ctx context.Context, port int, name, code string, family []string) *exec.Cmd {
	erl, err := exec.LookPath("erl")
	if err != nil {
		t.Skip("no erl on PATH to talk to")
	}
	cmd := exec.CommandContext(ctx, erl, append([]string{"-start_epmd", "false", "-sname", name, "-setcookie", "epmdtest",
		"-noinput", "-eval", code}, family...)...)
	cmd.Env = environ("ERL_EPMD_PORT="+strconv.Itoa(port), "HOME="+t.TempDir())
	return cmd
}

// stays starts a node that stays until the test ends.
func stays(t *testing.T, port int, name string, family []string) {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := erlNode(t, ctx, port, name, "ok.", family)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
}

// erlSays runs code in a node and returns what it prints.
func erlSays(t *testing.T, port int, name, code string) string {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := erlNode(t, ctx, port, name, code+", halt().", inet).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// Real nodes register at our server, find each other through it, and come back
// to it after it has been away.
func TestErlNodesMeetThroughOurServer(t *testing.T) {
	if _, err := exec.LookPath("erl"); err != nil {
		t.Skip("no erl on PATH to talk to")
	}
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
	require.Equal(t, Registration{Name: a, Port: r.Port, Type: Visible, Highest: 6, Lowest: 5}, r)
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
		return errors.Is(err, ErrNotFound)
	})

	// A node's creation is the one that we gave it.
	out := erlSays(t, port, b, `io:format("~p", [erlang:system_info(creation)])`)
	s.mu.Lock()
	last := s.registry.last
	s.mu.Unlock()
	require.Equal(t, fmt.Sprint(last), out)

	// A node of this name lives already: OTP says so and gives up.
	ctx2, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	refusal, err := erlNode(t, ctx2, port, a, "ok.", inet).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(refusal), "seems to be in use")

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
