package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/certtest"
)

func TestCheck(t *testing.T) {
	env, out, errs := newEnvironment(t, map[string]string{"ACTORNODE_LOG_LEVEL": "debug"})
	file := filepath.Join(t.TempDir(), "a.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("name: go@127.0.0.1\ncookie: TOPSECRET\nsupervisor: {children: [{name: a, start: \"demo:echo\"}]}\n")
	require.Equal(t, exitOK, run(t.Context(), []string{"check", file}, env), errs.String())
	assert.Equal(t, file+": ok\n", out.String())
	require.Equal(t, exitOK, run(t.Context(), []string{"check", file, "--print"}, env), errs.String())
	assert.Contains(t, out.String(), "level: debug # ACTORNODE_LOG_LEVEL\n")
	assert.Contains(t, out.String(), "name: go@127.0.0.1 # "+file+":1:7\n")
	assert.Contains(t, out.String(), "# and the tree in "+file)
	assert.NotContains(t, out.String(), "SECRET")
	assert.Empty(t, errs.String())

	write("nmae: go@127.0.0.1\ncookie: \"TOPSECRET\\n\"\nsupervisor: {children: [{name: a, start: \"demo:ecko\"}]}\n")
	require.Equal(t, exitFailed, run(t.Context(), []string{"check", file}, env))
	assert.Equal(t, file+":1:1: nmae: unknown field; did you mean name? allowed: name, cookie, cookie_file, cookies, old_cookies, "+
		"cookie_overlap, hidden, global, listen, tls, protocols, operators, allow, rights, discovery, limits, tick_time, "+
		"connect_timeout, awake, grace, …\n"+
		file+":2:9: cookie: want 1 to 255 printable ASCII characters\n"+
		file+":3:42: supervisor.children[0].start: demo:ecko is not exported; did you mean demo:echo/0? allowed: demo:counter/0, "+
		"demo:echo/0, demo:exit/1, demo:tasks/0\n",
		errs.String())
}

// The program accepts the sample that the documentation names.
func TestCheckSample(t *testing.T) {
	env, _, errs := newEnvironment(t, nil)
	for _, file := range []string{"actornode.yaml", "port/actornode.yaml"} {
		assert.Equal(t, exitOK, run(t.Context(), []string{"check", "../../../deploy/samples/" + file, "--elsewhere"}, env), errs.String())
	}
}

// check finds whatever start refuses, and reports it in the same words.
func TestCheckFindsWhatStartRefuses(t *testing.T) {
	dir := t.TempDir()
	ca := certtest.New(t, "ca")
	old := certtest.Host("127.0.0.1")
	old.From, old.Until = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	good, expired := ca.Write(t.TempDir(), certtest.Host("127.0.0.1")), ca.Write(t.TempDir(), old)
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.NoError(t, os.Chmod(file, mode))
		return file
	}
	open, empty := write("open", "secret", 0o644), write("empty", "\n", 0o400)
	none := filepath.Join(dir, "none")
	port := reserve(t)
	tls := func(cert, key, ca string) string {
		return fmt.Sprintf("tls: {cert: %q, key: %q, ca: %q}", cert, key, ca)
	}
	for what, c := range map[string]struct {
		text string
		vars map[string]string
		says string
	}{
		"no name":                   {text: "demo: true", says: "the name of the node is missing"},
		"a name that is none":       {text: "name: go", says: "want name@host"},
		"a name with a blank":       {text: "name: my node@127.0.0.1", says: "without spaces"},
		"a name with an escape":     {text: `name: "go\e[2J@127.0.0.1"`, says: "what does not print"},
		"a host that is none":       {text: "name: go@nohost.invalid", says: "nohost.invalid"},
		"a host of another machine": {text: "name: go@192.0.2.1", says: "192.0.2.1"},
		"no certificate":            {text: tls(none, good.Key, good.CA), says: none},
		"no key":                    {text: tls(good.Cert, none, good.CA), says: none},
		"no authority":              {text: tls(good.Cert, good.Key, none), says: none},
		"an expired certificate":    {text: tls(expired.Cert, expired.Key, expired.CA), says: "expired"},
		"no PEM":                    {text: tls(open, good.Key, good.CA), says: open},
		"no cookie file":            {text: "cookie_file: " + none, says: none},
		"a cookie that all read":    {text: "cookie_file: " + open, says: "0644"},
		"an empty cookie file":      {text: "cookie_file: " + empty, says: "empty"},
		"a log without a folder":    {text: "log: {file: " + none + "/x.log}", says: none},
		"a log that is a folder":    {text: "log: {file: " + dir + "}", says: dir},
		"one port for two protocols": {text: fmt.Sprintf("listen: {erlang: '127.0.0.1:%[1]s', native: '127.0.0.1:%[1]s'}", port),
			says: "the same address as"},
		"one port for a protocol and for HTTP": {text: fmt.Sprintf("listen: {erlang: ':%[1]s'}\nhttp: {listen: %[1]s}", port), says: "the same address as"},
		"one port for HTTP and gossip": {text: fmt.Sprintf("http: {listen: '0.0.0.0:%[1]s'}\ndiscovery: {gossip: {bind: '127.0.0.1:%[1]s'}}", port),
			says: "the same address as"},
		"HTTP on another machine": {text: "http: {listen: '192.0.2.1:80'}", says: "192.0.2.1"},
		"a slip of a variable": {vars: map[string]string{"ACTORNODE_LOGLEVEL": "debug"},
			says: "ACTORNODE_LOGLEVEL: unknown variable; did you mean ACTORNODE_LOG_LEVEL?"},
		"a wrong variable of EPMD": {vars: map[string]string{"ERL_EPMD_PORT": "x"}, says: "ERL_EPMD_PORT"},
	} {
		t.Run(what, func(t *testing.T) {
			text := c.text
			if what != "no name" && !strings.Contains(text, "name: ") {
				text = "name: go@127.0.0.1\n" + text
			}
			if !strings.Contains(text, "discovery:") && c.vars["ERL_EPMD_PORT"] == "" {
				text += "\ndiscovery: {epmd: false, peers: {b@127.0.0.1: '127.0.0.1:1'}}"
			}
			if !strings.Contains(text, "cookie_file") {
				text += "\ncookie: secret"
			}
			file := write("a.yaml", text+"\n", 0o600)
			env, out, errs := newEnvironment(t, c.vars)
			require.Equal(t, exitFailed, run(t.Context(), []string{"check", file}, env), out.String())
			require.Contains(t, errs.String(), c.says)
			require.NotContains(t, errs.String(), "secret")
			if what == "a slip of a variable" { // start only warns of this
				return
			}
			env, _, errs = newEnvironment(t, c.vars)
			require.NotEqual(t, exitOK, run(testkit.Context(t), []string{"start", "--config", file}, env), "start takes what check refuses")
			require.Contains(t, errs.String(), c.says)
		})
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left, "check has left files")
}

// check checks variables without a file, names unknown ones, and ignores those of Kubernetes.
func TestCheckVariables(t *testing.T) {
	env, out, errs := newEnvironment(t, map[string]string{"ACTORNODE_NAME": "go@127.0.0.1", "ACTORNODE_COOKIE": "secret",
		"ACTORNODE_SERVICE_HOST": "10.0.0.1", "ACTORNODE_PORT_9100_TCP_ADDR": "10.0.0.1", "ACTORNODE_PORT": "tcp://10.0.0.1:9100",
		"ACTORNODE_ZZZZZZZZZZZZZZZZ": "x"})
	require.Equal(t, exitOK, run(t.Context(), []string{"check"}, env), errs.String())
	assert.Equal(t, "the variables: ok\n", out.String())
	assert.Equal(t, "warning: ACTORNODE_ZZZZZZZZZZZZZZZZ: unknown variable\n", errs.String())
	env, _, errs = newEnvironment(t, map[string]string{"ACTORNODE_NAME": "go@127.0.0.1", "ACTORNODE_TICK_TIME": "soon"})
	require.Equal(t, exitFailed, run(t.Context(), []string{"check"}, env))
	assert.Contains(t, errs.String(), "ACTORNODE_TICK_TIME")
}
