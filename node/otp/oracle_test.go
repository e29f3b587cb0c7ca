package otp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/demo"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// The answers to some 300 calls have the same shapes as OTP's own.
func TestShapesOTP(t *testing.T) {
	n, _, e := startBoth(t)
	parent := nodetest.NewProbe(t, n)
	var subjects wire.List
	for _, k := range []struct {
		o node.Options
		b node.Actor
	}{{node.Options{Name: "server"}, servers.New(&server{})}, {node.Options{}, node.ProcessFunc(idle)}, {node.Options{}, node.ProcessFunc(idle)}} {
		pid, err := parent.SpawnOpt(k.o, k.b)
		require.NoError(t, err)
		subjects = append(subjects, pid)
	}
	n.Exit(subjects[2].(wire.PID), node.Kill)
	require.NoError(t, rpc.Export(n, wire.Export{Module: "test", Function: "subjects"}, func(context.Context, []any) (any, error) { return subjects, nil }))
	got := e.Ask("[io:format(\"~0p~n\", [X]) || X <- tools:shapes('go@127.0.0.1', rpc:call('go@127.0.0.1', test, subjects, []))]")
	assert.Equal(t, "[]", got, "%s", e.Log.Take())
}

// startDemo runs the application demo.
func startDemo(t *testing.T, n *node.Node) {
	apps, err := application.Start(t.Context(), n)
	require.NoError(t, err)
	require.NoError(t, demo.Export(n))
	require.NoError(t, apps.Load(demo.Application()))
	require.NoError(t, apps.StartAll(t.Context()))
}

// OTP's own observer, without the windows.
func TestObserverOTP(t *testing.T) {
	n, _, e := startBoth(t)
	if !observed(t, e) {
		t.Skip("OTP's observer cannot be compiled here (Debian: erlang-src, erlang-runtime-tools)")
	}
	startDemo(t, n)
	got := term(t, e.Ask("tools:observer('go@127.0.0.1')")).(wire.Map)
	of := func(key string) string {
		v, _ := got.Get(wire.Atom(key))
		return wire.Format(v)
	}
	for key, want := range map[string]string{
		"missing": `[]`, "plain": `[]`, "ports": `[]`, "sockets": `[]`, "dirty": `0`, "fetcher": `normal`,
		"overview": `[{"Initial Call",{proc_lib,init_p,5}},{"Current Function",{gen_server,loop,7}},{"Registered Name",counter},{"Status",waiting},{"Priority",normal}]`,
		"alloc":    `[total,go_heap,go_stack,go_runtime]`,
		"perf":     `[{runq,true},{io,true},{memory,true}]`,
		"sasl":     `"Error: sasl application did not start."`,
		"log":      `"Error: log_mf_h handler not used in sasl."`,
		"rb":       `"Error: rb module load error - nofile"`,
	} {
		assert.Equal(t, want, of(key), key)
	}
	for _, row := range []string{"{counter,0}", "{demo,0}", "{user,0}", "{rex,0}"} {
		assert.Contains(t, of("rows"), row)
	}
	assert.Contains(t, of("state"), `{"Behaviour",gen_server},{header,"Status for generic server counter"},{"Status",running}`)
	assert.Contains(t, of("state"), `{"State",0}`)
}

// term reads what erl has printed, with PIDs replaced.
func term(t *testing.T, s string) any {
	t.Helper()
	for {
		i := strings.Index(s, "<")
		if i < 0 || i+1 == len(s) || s[i+1] < '0' || s[i+1] > '9' {
			break
		}
		s = s[:i] + "pid" + s[i+strings.Index(s[i:], ">")+1:]
	}
	v, err := wire.Parse(s)
	require.NoError(t, err, s)
	return v
}

func TestApplicationTreeOTP(t *testing.T) {
	n, _, e := startBoth(t)
	startDemo(t, n)
	assert.Equal(t, `#{ctrl=>[{true,demo,{demo,"The demo tree","1.0"}}],load=>ok,none=>{[],[],[],[]},pinfo=>ok,`+
		`sup=>{4,true,["counter","demo","echo"],[{root,"demo"},{"demo","counter"},{"demo","echo"}],[]},`+
		`tree=>{4,true,["counter","demo","echo"],[{root,"demo"},{"demo","counter"},{"demo","echo"}],[]}}`,
		strings.ReplaceAll(e.Ask("tools:appmon('go@127.0.0.1')"), " => ", "=>"))
}

// etop of OTP, as text.
func TestEtopOTP(t *testing.T) {
	n, _, e := startBoth(t)
	if !observed(t, e) {
		t.Skip("OTP's etop cannot be compiled here (Debian: erlang-src)")
	}
	spawn(t, n, node.Options{Name: "server"}, servers.New(&server{}))
	assert.Contains(t, e.Ask("tools:etop('go@127.0.0.1', [\"'go@127.0.0.1'\", \"server \", \"gen_server:loop/7\"])"), "{ok,")
}

func TestDbgOTP(t *testing.T) {
	_, _, e := startBoth(t)
	assert.Equal(t, "{{ok,'go@127.0.0.1'},[0],ok}", e.Ask("tools:dbg('go@127.0.0.1')"))
}

// What does not exist fails at once.
func TestProbesOTP(t *testing.T) {
	_, _, e := startBoth(t)
	for _, name := range []string{"code_server", "init", "logger", "file_server_2", "auth", "mnesia_monitor", "global_name_server"} {
		assert.Equal(t, "undefined", e.Ask("rpc:call('go@127.0.0.1', erlang, whereis, [%s])", name))
		assert.Contains(t, e.Ask("gen_server:call({%s, 'go@127.0.0.1'}, x)", name), "{exit,{noproc,")
	}
	for _, f := range []string{"logger, get_config", "logger, i", "init, get_status", "init, stop", "code, get_path", "erlang, halt",
		"erlang, get_cookie", "mnesia, info", "shell, start", "net_kernel, get_net_ticktime", "os, getpid"} {
		assert.Contains(t, e.Ask("rpc:call('go@127.0.0.1', %s, [])", f), "{badrpc,{'EXIT',{undef,[{")
	}
	assert.Contains(t, e.Ask("erpc:call('go@127.0.0.1', fun() -> ok end)"), "{error,{exception,undef,")
	assert.Equal(t, "{['go@127.0.0.1'],[]}", e.Ask("rpc:sbcast(['go@127.0.0.1'], rex, x)"))
	assert.Equal(t, "{[],['go@127.0.0.1']}", e.Ask("rpc:sbcast(['go@127.0.0.1'], nobody, x)"))
	assert.Equal(t, "'go@127.0.0.1'", e.Ask("rpc:block_call('go@127.0.0.1', erlang, node, [])"))
	assert.Contains(t, e.Ask("rpc:block_call('go@127.0.0.1', erlang, process_info, [x])"), "{badrpc,{'EXIT',{badarg,[{erlang,process_info,[x],[]}")
}
