package otp_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// applied lists calls that return or raise the same here and in OTP.
var applied = []string{
	"{erlang,error,[{no,luck}]}", "{erlang,exit,[enough]}", "{erlang,throw,[ball]}",
	"{erlang,apply,[erlang,throw,[x]]}", "{erlang,apply,[erlang,whereis,[nobody_here]]}",
	"{erlang,apply,[a,b,c]}", "{erlang,apply,[1,b,[]]}", "{erlang,apply,[a,1,[]]}", "{erlang,apply,[no_module,no_function,[]]}",
	"{erlang,apply,[fun erlang:throw/1,[x]]}", "{erlang,apply,[fun erlang:whereis/1,[nobody_here]]}",
	"{erlang,apply,[fun erlang:throw/1,[x,y]]}", "{erlang,apply,[fun erlang:throw/1,x]}",
	"{erlang,send,[nobody_here,x]}", "{erlang,send,[{a,b,c},x]}", "{erlang,send,[{1,2},x]}", "{erlang,send,[7,x]}", "{erlang,send,[user,{x}]}",
	"{erlang,register,[1,x]}", "{erlang,register,[x,y]}", "{erlang,unregister,[1]}", "{erlang,unregister,[nobody_here]}",
	"{erlang,whereis,[nobody_here]}", "{erlang,whereis,[1]}", "{erlang,exit,[1,x]}",
	"{timer,sleep,[0]}", "{timer,sleep,[1]}",
	"{code,ensure_loaded,[no_module]}", "{code,is_loaded,[no_module]}", "{code,which,[no_module]}", "{code,ensure_loaded,[\"x\"]}",
	"{erlang,module_loaded,[no_module]}", "{erlang,module_loaded,[1]}", "{erlang,module_loaded,[erlang]}",
	"{erlang,function_exported,[no_module,f,1]}", "{erlang,function_exported,[a,b,c]}", "{erlang,function_exported,[a,b,-1]}",
	"{no_module,module_info,[]}", "{no_module,module_info,[exports]}", "{erlang,module_info,[module]}", "{erlang,module_info,[nonsense]}",
	"{erlang,nodes,[this]}", "{erlang,nodes,[[this,visible,hidden,connected,known]]}", "{erlang,nodes,[nonsense]}", "{erlang,nodes,[[this,1]]}",
	"{erlang,is_process_alive,[1]}", "{erlang,garbage_collect,[1]}", "{erlang,port_info,[1]}",
	"{erlang,system_flag,[nonsense,true]}", "{erlang,system_flag,[scheduler_wall_time,1]}",
	"{erlang,system_info,[nonsense]}", "{erlang,system_info,[{allocator_sizes,nonsense}]}",
	"{io,format,[\"~w~n\",[]]}", "{io,format,[\"~w\",x]}", "{io,format,[1,[]]}",
}

// basics is the file of OTP's results of applied, line by line.
const basics = "testdata/basic.txt"

// The recorded answers are OTP's: -update writes them anew.
func TestBasicsOTP(t *testing.T) {
	erltest.Need(t)
	file := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(applied, ".\n")+".\n"), 0o600))
	printed := erltest.Main(t, "testdata/basic.erl", file)
	if erltest.Updating() {
		require.NoError(t, os.WriteFile(basics, []byte(printed), 0o644))
	}
	want, err := os.ReadFile(basics)
	require.NoError(t, err)
	require.Equal(t, printed, string(want))
}

// A function that another node calls here returns, exits, throws and fails as in OTP.
func TestBasicsLikeOTP(t *testing.T) {
	text, err := os.ReadFile(basics)
	require.NoError(t, err)
	theirs := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, theirs, len(applied), "%v", theirs)
	n := alone(t, otp.Config{Output: io.Discard})
	for i, text := range applied {
		assert.Equal(t, theirs[i], result(t, n, text), "%s", text)
	}
}

// result runs a line here.
func result(t *testing.T, n *node.Node, text string) string {
	t.Helper()
	line, err := wire.Parse(text)
	require.NoError(t, err, text)
	call := line.(wire.Tuple)
	args, _ := wire.AsList(call[2])
	v, err := rpc.Call[any](testkit.Context(t), n, n.Name(), call[0].(wire.Atom), call[1].(wire.Atom), args...)
	var raised *rpc.Error
	switch {
	case errors.As(err, &raised):
		return wire.Format(wire.Tuple{raised.Class, raised.Reason})
	case err != nil:
		return wire.Format(wire.Tuple{wire.Atom("!"), err.Error()})
	}
	return wire.Format(wire.Tuple{wire.Atom("value"), v})
}

// Here a call can name what an OTP node that is alone does not have: processes by PID and name, this node's modules,
// the text that io prints.
func TestBasics(t *testing.T) {
	out := &logtest.Text{}
	n := alone(t, otp.Config{Output: out})
	h := nodetest.NewProbe(t, n)
	me := h.Self()
	require.Equal(t, "x", apply(t, n, "erlang", "send", me, wire.Atom("x")))
	require.Equal(t, wire.Atom("x"), nodetest.Expect[wire.Atom](h))
	require.Equal(t, "true", apply(t, n, "erlang", "register", wire.Atom("me"), me))
	require.Equal(t, "! badarg", apply(t, n, "erlang", "register", wire.Atom("me"), me))
	require.Equal(t, me.String(), apply(t, n, "erlang", "whereis", wire.Atom("me")))
	require.Equal(t, "y", apply(t, n, "erlang", "send", wire.Atom("me"), wire.Atom("y")))
	require.Equal(t, "z", apply(t, n, "erlang", "send", wire.Tuple{wire.Atom("me"), n.Name()}, wire.Atom("z")))
	require.Equal(t, "w", apply(t, n, "erlang", "send", h.AliasOnce(), wire.Atom("w")))
	for _, want := range []wire.Atom{"y", "z", "w"} {
		require.Equal(t, want, nodetest.Expect[wire.Atom](h))
	}
	require.Equal(t, "true", apply(t, n, "erlang", "unregister", wire.Atom("me")))
	require.Equal(t, "undefined", apply(t, n, "erlang", "whereis", wire.Atom("me")))
	first, second := apply(t, n, "erlang", "unique_integer"), apply(t, n, "erlang", "unique_integer")
	require.NotEqual(t, first, second)

	user, ok := n.Whereis("user")
	require.True(t, ok)
	require.Equal(t, "! badarg", apply(t, n, "erlang", "exit", wire.Atom("me"), wire.Atom("x")))
	require.True(t, n.Inside(process.Key{}).AskerOf(nil).Protected(user), "or the next lines would end it")
	require.NotEqual(t, "true", apply(t, n, "erlang", "exit", user, node.Kill))
	require.NotEqual(t, "true", apply(t, n, "erlang", "unregister", wire.Atom("user")))
	require.True(t, n.IsAlive(user))
	gone := spawn(t, n, node.Options{}, node.ProcessFunc(idle))
	require.Equal(t, "true", apply(t, n, "erlang", "is_process_alive", gone))
	require.Equal(t, "true", apply(t, n, "erlang", "garbage_collect", gone))
	require.Equal(t, "true", apply(t, n, "erlang", "exit", gone, node.Kill))
	require.Equal(t, "false", apply(t, n, "erlang", "is_process_alive", gone))
	require.Equal(t, "false", apply(t, n, "erlang", "garbage_collect", gone))

	require.Equal(t, "{value,ok}", result(t, n, `{io,format,["~w and ~s~n",[{a,1},"text"]]}`))
	require.Equal(t, "{value,ok}", result(t, n, `{io,format,['an atom~n']}`))
	require.Equal(t, "{value,ok}", result(t, n, `{io,put_chars,["as it is ~n"]}`))
	require.Equal(t, "{value,ok}", result(t, n, `{io,nl,[]}`))
	require.Equal(t, "{error,badarg}", result(t, n, `{io,put_chars,[7]}`))
	require.Equal(t, "{a,1} and text\nan atom\nas it is ~n\n", out.Take())

	require.Equal(t, "{module,erlang}", apply(t, n, "code", "ensure_loaded", wire.Atom("erlang")))
	require.Equal(t, "{file,preloaded}", apply(t, n, "code", "is_loaded", wire.Atom("erlang")))
	require.Equal(t, "preloaded", apply(t, n, "code", "which", wire.Atom("erlang")))
	require.Contains(t, apply(t, n, "code", "all_loaded"), "{erlang,preloaded}")
	require.Equal(t, "true", apply(t, n, "erlang", "function_exported", wire.Atom("erlang"), wire.Atom("whereis"), 1))
	info := apply(t, n, "timer", "module_info")
	require.Contains(t, info, "{exports,[{sleep,1},{module_info,0},{module_info,1}]}")
	require.Contains(t, info, "{compile,[]}")

	server := spawn(t, n, node.Options{Label: "cart 7"}, servers.New(&server{}))
	require.Equal(t, "{'otp_test.server',init,['Argument__1']}", apply(t, n, "proc_lib", "initial_call", server))
	require.Equal(t, "false", apply(t, n, "proc_lib", "initial_call", me))
	require.Equal(t, `<<"cart 7">>`, apply(t, n, "proc_lib", "get_label", server))
	require.Equal(t, "undefined", apply(t, n, "proc_lib", "get_label", me))
	require.Equal(t, "! badarg", apply(t, n, "proc_lib", "get_label", 1))

	require.Equal(t, "[]", apply(t, n, "erlang", "system_info", wire.Tuple{wire.Atom("allocator_sizes"), wire.List{wire.Atom("none")}}))
}

// sleep waits until the process that called it ends.
func TestSleepForEver(t *testing.T) {
	n := alone(t, otp.Config{Output: io.Discard})
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := rpc.Apply(ctx, n, "timer", "sleep", []any{wire.Atom("infinity")})
		ended <- err
	}()
	enough := errors.New("enough")
	cancel(enough)
	require.ErrorIs(t, testkit.Receive(t, ended), enough)
	for _, bad := range []any{-1, wire.Atom("soon"), int64(1 << 40)} {
		require.Equal(t, "! badarg", apply(t, n, "timer", "sleep", bad))
	}
}

// The results and effects of nodes/2, net_kernel:nodes_info and gen_server:cast.
func TestNodesAndCasts(t *testing.T) {
	c := clustertest.NewCluster(t)
	a, b := c.Start("a"), c.Start("b")
	require.NoError(t, otp.Serve(a, otp.Config{Output: io.Discard}))
	c.Connect(a, b)
	both := wire.NewMap(wire.Atom("connection_id"), wire.Atom("true"), wire.Atom("node_type"), wire.Atom("true"))
	assert.Equal(t, "[{'a@127.0.0.1',#{connection_id => undefined,node_type => this}}]", apply(t, a, "erlang", "nodes", wire.Atom("this"), both))
	assert.Regexp(t, `^\[{'b@127.0.0.1',#{connection_id => \d+,node_type => hidden}}\]$`, apply(t, a, "erlang", "nodes", wire.Atom("connected"), both))
	assert.Equal(t, "[{'b@127.0.0.1',#{}}]", apply(t, a, "erlang", "nodes", wire.List{wire.Atom("hidden")}, wire.NewMap()))
	for _, args := range [][]any{{wire.Atom("visible"), 1}, {wire.Atom("foo"), wire.NewMap()}, {wire.Atom("visible"), wire.NewMap(1, 2)}} {
		assert.Contains(t, apply(t, a, "erlang", "nodes", args...), "badarg")
	}
	assert.Regexp(t, `^{ok,\[{'b@127.0.0.1',\[{owner,undefined},{state,up},{address,<<".*">>},{type,hidden},{in,\d+},{out,\d+}\]}\]}$`,
		apply(t, a, "net_kernel", "nodes_info"))

	h := nodetest.NewProbe(t, a)
	require.NoError(t, a.Register("here", h.Self()))
	for _, to := range []any{h.Self(), wire.Atom("here"), wire.Tuple{wire.Atom("here"), a.Name()}} {
		assert.Equal(t, "ok", apply(t, a, "gen_server", "cast", to, 7))
		assert.Equal(t, wire.Tuple{wire.Atom("$gen_cast"), 7}, nodetest.Expect[wire.Tuple](h))
	}
	assert.Equal(t, "ok", apply(t, a, "gen_server", "cast", wire.Atom("nobody"), 7))
	assert.Contains(t, apply(t, a, "gen_server", "cast", 7, 7), "badarg")
}
