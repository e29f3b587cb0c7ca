package command

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/testkit/porttest"
)

// newEnvironment returns an environment with variables and a home directory.
func newEnvironment(t *testing.T, vars map[string]string) (environment, *logtest.Text, *logtest.Text) {
	var out, errs logtest.Text
	home := t.TempDir()
	return environment{&out, &errs, nil, func(k string) (string, bool) { v, ok := vars[k]; return v, ok },
		func() (string, error) { return home, nil }, Program{}, func() (all []string) {
			for k, v := range vars {
				all = append(all, k+"="+v)
			}
			return all
		}}, &out, &errs
}

func TestCommandLines(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"help", exitOK, ""},
		{"start --help", exitOK, ""},
		{"nonsense", exitUsage, `unknown command "nonsense"`},
		{"start", exitUsage, "the name of the node is missing: want --name NAME@HOST, ACTORNODE_NAME"},
		{"start --name go@127.0.0.1 --wrong", exitUsage, "unknown flag: --wrong"},
		{"start --name go@127.0.0.1 more", exitUsage, "takes no argument"},
		{"start --name go@127.0.0.1 --hidden --published", exitUsage, "hidden published"},
		{"start --name go@127.0.0.1 --tick-time soon", exitUsage, "invalid argument"},
		{"start --name go --cookie c", exitFailed, "want name@host"},
		{"start --name go@127.0.0.1 --cookie-file none", exitFailed, "no cookie: --cookie-file: the file none does not exist"},
		{"start --name go@127.0.0.1 --pg=perhaps", exitUsage, "want true or false"},
		{"start --name go@127.0.0.1 --log-level loud", exitUsage, "want debug, info, warn or error"},
		{"start --config none.yaml", exitFailed, "cannot read the configuration: open none.yaml"},
		{"check", exitFailed, "the name of the node is missing"},
		{"check a b", exitUsage, "accepts at most 1 arg(s)"},
		{"check none.yaml", exitFailed, "none.yaml: no such file"},
		{"probe", exitUsage, "the address is missing: want --http"},
		{"probe --http nowhere", exitFailed, "--http nowhere: want PORT"},
		{"probe --http 127.0.0.1:1", exitFailed, "the daemon did not answer"},
	} {
		env, _, errs := newEnvironment(t, nil)
		status := run(t.Context(), strings.Fields(c.args), env)
		assert.Equal(t, c.status, status, c.args)
		assert.Contains(t, errs.String(), c.says, c.args)
	}
}

func TestCookies(t *testing.T) {
	env, _, _ := newEnvironment(t, map[string]string{})
	_, err := options{}.findCookie(env)
	require.ErrorContains(t, err, ".erlang.cookie")
	home, _ := env.home()
	file := filepath.Join(home, ".erlang.cookie")
	require.NoError(t, os.WriteFile(file, []byte("\n"), 0o400))
	_, err = options{}.findCookie(env)
	require.ErrorContains(t, err, "empty")
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.WriteFile(file, []byte("FROMFILE\n"), 0o400))
	c, err := options{}.findCookie(env)
	require.NoError(t, err)
	assert.Equal(t, "FROMFILE", c)
	env.lookup = func(k string) (string, bool) { return "fromenv", k == "ACTORNODE_COOKIE" }
	c, _ = options{}.findCookie(env)
	assert.Equal(t, "fromenv", c)
	c, _ = options{cookie: "flag"}.findCookie(env)
	assert.Equal(t, "flag", c)
	env.home = func() (string, error) { return "", errors.New("homeless") }
	env.lookup = func(string) (string, bool) { return "", false }
	_, err = options{}.findCookie(env)
	require.ErrorContains(t, err, "homeless")
}

// reserve returns a port at which no process listens, and none will.
func reserve(t testing.TB) string { return strconv.Itoa(porttest.Reserve(t)) }

// TestErlangSession starts the demo and runs the guide's session on a real Erlang node.
func TestErlangSession(t *testing.T) {
	t.Parallel()
	erltest.Need(t)
	port := reserve(t)
	r, w := io.Pipe()
	env, _, errs := newEnvironment(t, map[string]string{"ERL_EPMD_PORT": port})
	env.stdout = w
	daemon, stop := context.WithCancel(t.Context())
	defer stop()
	status := make(chan int, 1)
	go func() {
		status <- run(daemon, strings.Fields("start --name go@127.0.0.1 --cookie secret --demo"), env)
		w.Close()
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err, errs.String())
	require.Contains(t, line, "go@127.0.0.1 is up")

	guide, err := os.ReadFile("../../../docs/guides/erlang-and-elixir.md")
	require.NoError(t, err)
	_, session, ok := strings.Cut(string(guide), "```erlang\n")
	require.True(t, ok, "the guide has no Erlang session")
	session, _, _ = strings.Cut(session, "```")
	commands := regexp.MustCompile(`(?m)^\d+> (.*)\.$`).FindAllStringSubmatch(session, -1)
	require.Len(t, commands, 5)
	var eval, want []string
	for i, c := range commands {
		eval = append(eval, `io:format("== ~p~n", [begin `+c[1]+` end])`)
		_, after, _ := strings.Cut(session, c[0]+"\n")
		answer, _, _ := strings.Cut(after, "\n"+strconv.Itoa(i+2)+"> ")
		want = append(want, answer)
	}
	epmd, err := strconv.Atoi(port)
	require.NoError(t, err)
	out, err := erltest.Run(t, erltest.Options{Name: "erl@127.0.0.1", EPMD: epmd,
		Args: []string{"-eval", strings.Join(eval, ", ") + ", halt()."}})
	require.NoError(t, err, out)
	got := strings.Split(out, "== ")[1:]
	require.Len(t, got, 5, out)
	plain := func(s string) string { // pids, and perhaps the layout, differ from run to run
		s = regexp.MustCompile(`<\d+\.\d+\.\d+>`).ReplaceAllString(s, "PID")
		return strings.Join(strings.Fields(s), "")
	}
	for i := range commands {
		assert.Equal(t, plain(want[i]), plain(got[i]), commands[i][1])
	}
	stop()
	assert.Equal(t, exitOK, <-status, errs.String())
}

// Negative numbers are terms, wherever an argument may be, and the value of a flag stays its value.
func TestNegativeNumbers(t *testing.T) {
	env, _, _ := newEnvironment(t, nil)
	root := commands(env, new(exit))
	for line, want := range map[string]string{
		"call echo -1":                 "call|echo| -1",
		"call echo -1.5e3 --json":      "call|echo| -1.5e3|--json",
		"call --json -1 -2":            "call|--json| -1| -2",
		"ps --limit -1":                "ps|--limit|-1",
		"ps -l -1":                     "ps|-l|-1",
		"rpc --node a@b lists abs -1":  "rpc|--node|a@b|lists|abs| -1",
		"call echo -- -1":              "call|echo|--|-1",
		"call echo -x":                 "call|echo|-x",
		"nonsense -1":                  "nonsense|-1",
		"send counter -1 --timeout 5s": "send|counter| -1|--timeout|5s",
	} {
		require.Equal(t, want, strings.Join(negatives(root, strings.Fields(line)), "|"))
	}
	for line, says := range map[string]string{
		"ping go@h": "ping takes no argument, and got \"go@h\"; the node to talk to is given as --node go@h",
		"cluster 3": "--names one,two,three", "start x.yaml": "--config x.yaml", "version 1": "takes no argument",
	} {
		env, _, errs := newEnvironment(t, nil)
		require.Equal(t, exitUsage, run(t.Context(), strings.Fields(line), env))
		require.Contains(t, errs.String(), says)
	}
}
