package application_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// The files in testdata/commands are lists of commands, each with its answer and, indented, the functions of
// applications that are called meanwhile. The expectations are what OTP does, and -update rewrites them; TestCommands
// plays them here.

// app is an application of the commands, here and in OTP.
type app struct {
	name              wire.Atom
	kind              string // library, or what its start does: see oracle.erl
	depends, optional []wire.Atom
	env               map[wire.Atom]any
}

var apps = []app{
	{name: "base", kind: "tree", env: map[wire.Atom]any{"port": 8080, "mode": wire.Atom("fast")}},
	{name: "web", kind: "tree", depends: []wire.Atom{"base"}},
	{name: "shop", kind: "tree", depends: []wire.Atom{"web", "base"}},
	{name: "lib", kind: "library"},
	{name: "uselib", kind: "tree", depends: []wire.Atom{"lib"}},
	{name: "opt", kind: "tree", depends: []wire.Atom{"nowhere"}, optional: []wire.Atom{"nowhere"}},
	{name: "needs", kind: "tree", depends: []wire.Atom{"nowhere"}},
	{name: "bad", kind: "error"},
	{name: "boom", kind: "exit"},
	{name: "calm", kind: "normal"},
	{name: "usebad", kind: "tree", depends: []wire.Atom{"base", "bad"}},
}

// dotApp returns the application in the form that OTP's application:load takes.
func (a app) dotApp() any {
	key := func(name wire.Atom, v any) any { return wire.Tuple{name, v} }
	list := func(names []wire.Atom) (l wire.List) {
		for _, n := range names {
			l = append(l, n)
		}
		return l
	}
	var env wire.List
	for k, v := range a.env {
		env = append(env, key(k, v))
	}
	keys := wire.List{
		key("description", wire.Charlist("The "+a.name)), key("vsn", wire.Charlist("1.0")), key("modules", wire.List{a.name}),
		key("registered", wire.List{a.name + "_top"}), key("applications", list(a.depends)),
		key("optional_applications", list(a.optional)), key("env", env),
	}
	if a.kind != "library" {
		keys = append(keys, key("mod", wire.Tuple{a.name, wire.List{}}))
	}
	return wire.Tuple{wire.Atom("application"), a.name, keys}
}

// spec returns the application as a Spec for here; say gets the calls.
func (a app) spec(say func(string, ...any)) application.Spec {
	s := application.Spec{
		Name: a.name, Description: "The " + string(a.name), Version: "1.0", Modules: []wire.Atom{a.name},
		Registered: []wire.Atom{a.name + "_top"}, Depends: a.depends, Optional: a.optional, Env: a.env,
	}
	if a.kind == "library" {
		return s
	}
	s.Start = func(_ context.Context, p *node.Process) (node.PID, error) {
		say("  %s: start", a.name)
		switch a.kind {
		case "error":
			return node.PID{}, node.ExitWith(wire.Atom("nope"))
		case "exit":
			p.TrapExit(false)
			p.Exit(p.Self(), wire.Atom("boom"))
		case "normal":
			return node.PID{}, node.ErrIgnore
		}
		return p.SpawnOpt(node.Options{Link: true}, node.ActorFunc(func(_ *node.Context, m any) error { return node.ExitWith(m) }))
	}
	s.PrepStop = func() { say("  %s: prep_stop", a.name) }
	s.Stop = func() { say("  %s: stop", a.name) }
	return s
}

// commandFiles returns the command files and the commands in each.
func commandFiles(t *testing.T) map[string][]string {
	files, err := filepath.Glob("testdata/commands/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := make(map[string][]string)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, line := range strings.Split(string(text), "\n") {
			if c, ok := strings.CutPrefix(line, "> "); ok {
				all[f] = append(all[f], c)
			}
		}
	}
	return all
}

// transcript brings the output into the form of a command file: the answer of a command comes after the calls
// meanwhile, and is down if there is none because the node has gone down.
func transcript(said, down string, commands []string) string {
	blocks := strings.Split("\n"+said, "\n> ")[1:]
	var b strings.Builder
	for i, text := range commands {
		command, _ := wire.Parse(text)
		fmt.Fprintf(&b, "> %s\n", wire.Format(command))
		answer := down
		if i < len(blocks) {
			for _, line := range strings.Split(strings.TrimSpace(blocks[i]), "\n")[1:] {
				if strings.HasPrefix(line, "  ") {
					fmt.Fprintln(&b, line)
				} else {
					answer = line
				}
			}
		}
		fmt.Fprintln(&b, answer)
	}
	return b.String()
}

func TestCommands(t *testing.T) {
	for file, commands := range commandFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if erltest.Updating() {
				t.Skip("TestCommandsOTP rewrites the file")
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				said, down := play(t, commands)
				require.Equal(t, string(want), transcript(said, down, commands))
			})
		})
	}
}

// play plays commands here, in a bubble. down is the reason for which the controller has ended.
func play(t *testing.T, commands []string) (said, down string) {
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Stop()) }()
	c, err := application.Start(t.Context(), n)
	require.NoError(t, err)
	var mu sync.Mutex
	var b strings.Builder
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&b, format+"\n", args...)
	}
	for _, a := range apps {
		require.NoError(t, c.Load(a.spec(say)))
	}
	for _, text := range commands {
		command, err := wire.Parse(text)
		require.NoError(t, err, text)
		say("> %s", wire.Format(command))
		v, err := do(t, n, command)
		synctest.Wait()
		select {
		case <-c.Done():
			var ended *application.Error
			require.ErrorAs(t, c.Err(), &ended)
			if err == nil && !isEnd(command) {
				say("%s", wire.Format(v))
			}
			return b.String(), "down: " + wire.Format(sysmsg.Term(ended))
		default:
		}
		require.NoError(t, err, text)
		say("%s", wire.Format(v))
	}
	return b.String(), ""
}

// downReason finds the reason in what erl prints when it goes down.
var downReason = regexp.MustCompile(`\(application_controller\) \("?(.*?)"?\)\s`)

func isEnd(command any) bool {
	t, ok := command.(wire.Tuple)
	return ok && t[0] == wire.Atom("ends")
}

// do runs a command as a call from Erlang would.
func do(t *testing.T, n *node.Node, command any) (any, error) {
	args := []any{}
	name := command
	if tuple, ok := command.(wire.Tuple); ok {
		name, args = tuple[0], tuple[1:]
	}
	switch name {
	case wire.Atom("ends"):
		pid, err := rpc.Apply(t.Context(), n, "application_controller", "get_master", args[:1])
		require.NoError(t, err)
		top, err := rpc.Apply(t.Context(), n, "application_master", "get_child", []any{pid})
		require.NoError(t, err)
		require.NoError(t, n.Send(top.(wire.Tuple)[0].(node.PID), args[1]))
		synctest.Wait()
		return wire.AtomOK, nil
	case wire.Atom("is_running"):
		return rpc.Apply(t.Context(), n, "application_controller", "is_running", args)
	}
	return rpc.Apply(t.Context(), n, "application", name.(wire.Atom), args)
}

// TestCommandsOTP plays the commands on a real Erlang node: the files must expect what Erlang does.
func TestCommandsOTP(t *testing.T) {
	dir := t.TempDir()
	sources := []string{"testdata/oracle.erl"}
	var dotApps wire.List
	for _, a := range apps {
		dotApps = append(dotApps, a.dotApp())
		if a.kind == "library" {
			continue
		}
		source := filepath.Join(dir, string(a.name)+".erl")
		text := fmt.Sprintf("-module(%[1]s).\n-export([start/2, prep_stop/1, stop/1]).\nstart(_, []) -> oracle:start(%[1]s, %[2]s).\n"+
			"prep_stop(S) -> oracle:prep_stop(S).\nstop(S) -> oracle:stop(S).\n", a.name, a.kind)
		require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
		sources = append(sources, source)
	}
	for file, commands := range commandFiles(t) {
		script := filepath.Join(dir, filepath.Base(file))
		text := fmt.Sprintf("{%s, [%s]}.\n", wire.Formatter{Plain: true}.Format(dotApps), strings.Join(commands, ",\n"))
		require.NoError(t, os.WriteFile(script, []byte(text), 0o600))
		o := erltest.MainOptions("testdata/oracle.erl", script, script+".out")
		o.Sources = sources
		message, failed := erltest.Run(t, o) // fails when the node goes down
		said, err := os.ReadFile(script + ".out")
		require.NoError(t, err, message)
		down := ""
		if failed != nil {
			m := downReason.FindStringSubmatch(message)
			require.NotNil(t, m, "%s: %s", file, message)
			down = "down: " + m[1]
		}
		got := transcript(string(said), down, commands)
		if erltest.Updating() {
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), got, file)
	}
}
