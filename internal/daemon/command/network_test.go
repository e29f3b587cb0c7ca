package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/dist"
)

func TestNetworkCommandLines(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"--listen nowhere", "--listen nowhere: want HOST:PORT"},
		{"--listen 127.0.0.1:http", `"http" is not a port`},
		{"--no-epmd", "--no-epmd: without EPMD the addresses of nodes must be given"},
		{"--no-epmd --listen 127.0.0.1:0", "--no-epmd: without EPMD the addresses of nodes must be given"},
		{"--peer there:1", "want NAME@HOST=HOST:PORT"},
		{"--peer there=127.0.0.1:1", "want NAME@HOST=HOST:PORT"},
		{"--peer e@there=127.0.0.1", "missing port in address"},
		{"--peer e@there=127.0.0.1:0", `"0" is not a port`},
		{"--tls-cert c.pem", "--tls-cert: TLS needs --tls-key (ACTORNODE_TLS_KEY, tls.key), --tls-ca (ACTORNODE_TLS_CA, tls.ca) too"},
		{"--tls-any-host", "needs --tls-cert"},
		{"--tls-cert c.pem --tls-key k.pem --tls-ca a.pem", "c.pem: no such file"},
	} {
		env, _, errs := newEnvironment(t, nil)
		status := run(t.Context(), strings.Fields("start --name go@127.0.0.1 --cookie c "+c.args), env)
		assert.Equal(t, exitFailed, status, c.args)
		assert.Contains(t, errs.String(), c.says, c.args)
	}
	env, _, errs := newEnvironment(t, map[string]string{"ERL_DIST_PORT": "x"})
	assert.Equal(t, exitFailed, run(t.Context(), strings.Fields("start --name go@127.0.0.1 --cookie c"), env))
	assert.Contains(t, errs.String(), `ERL_DIST_PORT="x" is not a port`)
	env, _, errs = newEnvironment(t, map[string]string{"ACTORNODE_TLS_KEY": "key.pem"})
	assert.Equal(t, exitFailed, run(t.Context(), strings.Fields("start --name go@127.0.0.1 --cookie c"), env))
	assert.Contains(t, errs.String(), "ACTORNODE_TLS_KEY: TLS needs --tls-cert (ACTORNODE_TLS_CERT, tls.cert)")
}

func TestNetwork(t *testing.T) {
	mapper := &discovery.EPMD{}
	two := []string{"a@one=:4370", "b@two=[::1]:1", "a@one=native://:9"}
	nodes := map[node.Atom][]discovery.Endpoint{"a@one": {{Addr: ":4370"}, {Protocol: "native", Addr: ":9"}},
		"b@two": {{Addr: "[::1]:1"}}}
	none := map[node.Atom][]discovery.Endpoint{}
	for _, c := range []struct {
		o      options
		env    string
		finder discovery.Finder
		listen string
	}{
		{options{}, "", mapper, ""},
		{options{listen: ":5"}, "", mapper, ":5"},
		{options{peers: two}, "", &discovery.Static{Nodes: nodes, Next: mapper}, ""},
		{options{listen: ":5", peers: two}, "", &discovery.Static{Nodes: nodes, Next: mapper}, ":5"},
		{options{listen: "h:5", noEPMD: true}, "", &discovery.Static{Nodes: none, Port: 5}, "h:5"},
		{options{listen: "-", noEPMD: true, peers: two}, "", &discovery.Static{Nodes: nodes}, "-"},
		{options{noEPMD: true, peers: two}, "", &discovery.Static{Nodes: nodes}, ""},
		{options{}, "7", &discovery.Static{Nodes: none, Port: 7}, "[::1]:7"},
		{options{listen: ":5"}, "7", &discovery.Static{Nodes: none, Port: 5}, ":5"},
	} {
		env, _, _ := newEnvironment(t, map[string]string{"ERL_DIST_PORT": c.env})
		c.o.name = "go@::1"
		f, listen, err := c.o.network(env, mapper)
		require.NoError(t, err)
		assert.Equal(t, c.finder, f, "%+v", c)
		assert.Equal(t, c.listen, listen, "%+v", c)
	}
	env, _, _ := newEnvironment(t, nil)
	tr, err := options{}.transport(env, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	assert.Equal(t, dist.TCP{}, tr)
}

// TestDaemonTLS lets a real Erlang node talk to the daemon over TLS, without EPMD.
func TestDaemonTLS(t *testing.T) {
	t.Parallel()
	erltest.NeedTLS(t)
	ca := certtest.New(t, "ca")
	ours, dir := ca.Write(t.TempDir(), certtest.Host("127.0.0.1")), t.TempDir()
	theirs := ca.Write(dir, certtest.Host("127.0.0.1"))
	role := fmt.Sprintf("[{certfile, %q}, {keyfile, %q}, {cacertfile, %q}, {verify, verify_peer}, {versions, ['tlsv1.3']}]",
		theirs.Cert, theirs.Key, theirs.CA)
	require.NoError(t, os.WriteFile(dir+"/dist.conf", []byte("[{client, "+role+"}, {server, "+role+"}]."), 0o600))

	port := reserve(t)
	r, w := io.Pipe()
	env, _, errs := newEnvironment(t, map[string]string{"ACTORNODE_TLS_KEY": ours.Key})
	env.stdout = w // the daemon owns errs until it has ended
	daemon, stop := context.WithCancel(t.Context())
	defer stop()
	status := make(chan int, 1)
	go func() { // ended by stop
		status <- run(daemon, strings.Fields("start --name go@127.0.0.1 --cookie secret --demo --no-epmd --listen 127.0.0.1:"+port+
			" --tls-cert "+ours.Cert+" --tls-ca "+ours.CA), env)
		w.Close()
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "go@127.0.0.1 is up")
	out, err := erltest.Run(t, erltest.Options{Name: "erl@127.0.0.1", Args: []string{
		"-erl_epmd_port", port, "-dist_listen", "false", "-proto_dist", "inet_tls", "-ssl_dist_optfile", dir + "/dist.conf",
		"-eval", "io:format(\"~p\", [gen_server:call({counter, 'go@127.0.0.1'}, {add, 5}, infinity)]), halt().",
	}})
	require.NoError(t, err, out)
	assert.Equal(t, "5", out)
	stop()
	code := <-status
	assert.Equal(t, exitOK, code, errs.String())
}
