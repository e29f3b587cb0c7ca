package command

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
)

// TestTalkToErlang talks to a real Erlang node.
func TestTalkToErlang(t *testing.T) {
	t.Parallel()
	erltest.Need(t)
	s := newCLITest(t)
	s.daemon(t, "--name", "go@127.0.0.1", "--demo") // this is the port mapper
	port, _ := s.lookup("ERL_EPMD_PORT")
	mapper, err := strconv.Atoi(port)
	require.NoError(t, err)
	erl := erltest.Start(t, erltest.Options{Name: "erl@127.0.0.1", EPMD: mapper})
	erl.Ask(`register(doubler, spawn(fun F() -> receive ` +
		`{'$gen_call', {_, [alias|R] = T}, N} when is_integer(N) -> R ! {T, 2 * N}, F(); ` +
		`{'$gen_call', {P, T}, N} when is_integer(N) -> P ! {T, 2 * N}, F(); ` +
		`{put, X} -> register(X, spawn(fun() -> receive stop -> ok end end)), F() end end))`)
	golden(t, "testdata/erlang.txt", s.play(t, fileText(t, "testdata/erlang.txt")))
}

func fileText(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// TestTalkOverTLS works without a port mapper, too.
func TestTalkOverTLS(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	ca := certtest.New(t, "ca")
	files := ca.Write(t.TempDir(), certtest.Host("127.0.0.1"))
	strangers := certtest.New(t, "other").Write(t.TempDir(), certtest.Host("127.0.0.1"))
	port := reserve(t)
	tls := []string{"--no-epmd", "--tls-cert", files.Cert, "--tls-key", files.Key, "--tls-ca", files.CA}
	s.daemon(t, append(tls, "--name", "go@127.0.0.1", "--demo", "--listen", "127.0.0.1:"+port)...)
	at := " --peer go@127.0.0.1=127.0.0.1:" + port
	assert.Equal(t, "5\n", s.shell(t, "actornode call counter '{add, 5}' "+strings.Join(tls, " ")+at))
	s.env = append(s.env, "ACTORNODE_TLS_CERT="+files.Cert, "ACTORNODE_TLS_KEY="+files.Key, "ACTORNODE_TLS_CA="+files.CA)
	assert.Equal(t, "5\n", s.shell(t, "actornode call counter get --no-epmd"+at))
	assert.Equal(t, "5\n", s.shell(t, "ERL_DIST_PORT="+port+" actornode call counter get"))
	assert.Contains(t, s.shell(t, "actornode call counter get --no-epmd"+at+" --tls-cert "+strangers.Cert+" --tls-key "+strangers.Key), "[exit 3]")
	assert.Contains(t, s.shell(t, "ACTORNODE_TLS_CERT= ACTORNODE_TLS_KEY= ACTORNODE_TLS_CA= actornode ping --timeout 2s --no-epmd"+at), "[exit 3]")
}
