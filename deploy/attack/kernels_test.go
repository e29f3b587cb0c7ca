package attack

import (
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// kernels attack the processes that the node itself runs, with the cookie.
var kernels = []row{
	{name: "services: exit signals to their pids", attack: func(a *attempt) {
		for _, reason := range []wire.Atom{"normal", "shutdown", "crash", "kill"} {
			e := a.erlang()
			for _, pid := range a.servicePIDs() {
				require.NoError(a, e.Control(wire.Tuple{26, e.PID(1), pid}, reason))
				require.NoError(a, e.Control(wire.Tuple{8, e.PID(1), pid, reason}))
			}
			a.goesOn(e)
			a.servicesWork()
		}
	}},
	{name: "services: names and ids with escapes, on the operator's terminal", own: &raw.Options{}, attack: func(a *attempt) {
		e := a.erlang()
		defer func() { _ = e.Close() }()
		names := escapes("")
		for i, pid := range a.spawnEcho(len(names)) {
			v, err := e.Call("actornode", wire.Tuple{wire.Atom("register"), wire.Atom(names[i]), pid})
			require.NoError(a, err)
			require.Equal(a, wire.AtomOK, v.(wire.Tuple)[0], "%v", v)
		}
		for _, name := range names { // children of the demo's supervisor
			child := wire.Tuple{wire.Atom(name), wire.Tuple{wire.Atom("demo"), wire.Atom("echo"), wire.List{}}, wire.Atom("temporary"), 5000,
				wire.Atom("worker"), wire.List{}}
			_, err := e.Call("demo", wire.Tuple{wire.Atom("start_child"), child})
			require.NoError(a, err)
		}
		for _, line := range []string{"ps", "ps --sort name", "ps --json", "tree", "tree --json", "top --once", "status", "nodes",
			"info nobody", "rpc erlang registered"} {
			said := a.onTerminal(line)
			for _, name := range names {
				require.NotContains(a, said, name, line)
			}
			require.NotRegexp(a, "[\a\b\\x7f\u0080-\u009f\u202e\u200b\u2028]|\x1b[^\\[]|\x1b\\[[^m]*[^m0-9;:]", said, line)
			if line == "ps" || line == "tree" {
				require.Contains(a, said, "x{1B}", line)
			}
		}
	}},
	{name: "services: exit signals by link", attack: func(a *attempt) {
		e := a.erlang()
		for _, pid := range a.servicePIDs() {
			require.NoError(a, e.Control(wire.Tuple{1, e.PID(5), pid}))
			require.NoError(a, e.Control(wire.Tuple{24, e.PID(5), pid}, wire.Atom("crash")))
			require.NoError(a, e.Control(wire.Tuple{1, e.PID(6), pid}))
			require.NoError(a, e.Control(wire.Tuple{24, e.PID(6), pid}, wire.Atom("kill")))
		}
		a.goesOn(e)
		a.servicesWork()
	}},
	{name: "services: links to all of them, and the connection ends", attack: func(a *attempt) {
		for range 5 {
			e := a.erlang()
			for _, pid := range a.servicePIDs() {
				require.NoError(a, e.Control(wire.Tuple{1, e.PID(5), pid}))
			}
			a.goesOn(e)
			e.Reset()
		}
		a.servicesWork()
	}},
	{name: "services: exit signals to their names, with priority", attack: func(a *attempt) {
		for _, reason := range []wire.Atom{"crash", "kill"} {
			e, n := a.erlang(), a.native()
			for _, name := range services {
				require.NoError(a, e.Control(wire.Tuple{37, 1 | 8 | 16, e.PID(1), name}, reason))
				require.NoError(a, n.Signal(byte(dist.OpSignal), n.PID(1), name, reason))
			}
			a.goesOn(e)
			a.nativeGoesOn(n)
		}
		a.servicesWork()
	}},
	{name: "services: exit signals to pids that are counted, but for those of the demo", attack: func(a *attempt) {
		e := a.erlang()
		var keep []wire.PID // killing these stops the node's own work
		for _, name := range []wire.Atom{"demo", "counter", "echo"} {
			pid, err := rpc(e, "erlang", "whereis", name)
			require.NoError(a, err)
			keep = append(keep, pid.(wire.PID))
		}
		for i := range uint64(2000) {
			pid := wire.NewOrigin(e.Peer).PID(i)
			if slices.Contains(keep, pid) || i+1 == keep[0].Number() { // the demo's application master is below its top
				continue
			}
			require.NoError(a, e.Control(wire.Tuple{26, e.PID(1), pid}, wire.Atom("kill")))
		}
		a.goesOn(e)
		a.servicesWork()
	}},
	{name: "services: names are taken away by rpc", attack: func(a *attempt) {
		e := a.erlang()
		for _, name := range services {
			_, _ = rpc(e, "erlang", "unregister", name)
			_, _ = rpc(e, "erlang", "register", name, e.PID(1))
		}
		_ = e.Close()
		a.servicesWork()
	}},
	{name: "services: names are taken away by actornode", attack: func(a *attempt) {
		e := a.erlang()
		for _, name := range restarted {
			_, _ = e.Call("actornode", wire.Tuple{wire.Atom("unregister"), name})
			a.servicesWork() // by default a node with the cookie is an operator: what it breaks is repaired
		}
	}},
	{name: "services: an operator takes the name of application_controller away", own: &raw.Options{},
		attack: func(a *attempt) {
			e := a.erlang()
			_, _ = e.Call("actornode", wire.Tuple{wire.Atom("unregister"), wire.Atom("application_controller")})
			_ = e.Close()
			a.until(20*time.Second, func() bool { // repaired, or the node reports that it is not ready, or ends as OTP's would
				ready, err := raw.Get(a.HTTP, "/readyz")
				return a.askServices() == nil || err == nil && !strings.HasPrefix(ready, "HTTP/1.1 200") || !a.Lives()
			}, "the node says that it is ready, without its application_controller")
		}, want: want{dies: true}},
	{name: "services: exits by rpc and actornode", attack: func(a *attempt) {
		e := a.erlang()
		e.Patience = 3 * time.Second
		for _, pid := range a.servicePIDs() {
			_, _ = rpc(e, "erlang", "exit", pid, wire.Atom("kill"))
		}
		_ = e.Close()
		a.servicesWork()
		e = a.erlang()
		e.Patience = 3 * time.Second
		for _, name := range restarted { // the end of application_controller ends the node, as in OTP
			_, _ = e.Call("actornode", wire.Tuple{wire.Atom("exit"), name, wire.Atom("kill")})
			a.servicesWork()
		}
	}},
	{name: "services: system messages suspend, end and replace them", attack: func(a *attempt) {
		e := a.erlang()
		me := e.PID(1)
		for _, name := range services {
			for i, m := range []any{
				wire.Atom("suspend"), wire.Tuple{wire.Atom("terminate"), wire.Atom("kill")},
				wire.Tuple{wire.Atom("terminate"), wire.Atom("normal")},
				wire.Tuple{wire.Atom("debug"), wire.Tuple{wire.Atom("trace"), true}}, wire.Tuple{wire.Atom("change_code"),
					name, wire.Atom("undefined"), wire.List{}},
				wire.Tuple{wire.Atom("replace_state"), wire.Export{Module: "demo", Function: "double", Arity: 1}},
				wire.Atom("get_state"), wire.Atom("get_status"),
			} {
				require.NoError(a, e.SendReg(me, name, wire.Tuple{wire.Atom("system"), wire.Tuple{me, e.Ref(uint32(i))}, m}))
			}
		}
		a.goesOn(e)
		a.servicesWork()
	}},
	{name: "services: messages that look like the system's own", attack: func(a *attempt) {
		e := a.erlang()
		me := e.PID(1)
		for _, name := range services {
			for _, m := range []any{
				wire.Tuple{wire.Atom("EXIT"), me, wire.Atom("kill")}, wire.Tuple{wire.Atom("DOWN"), e.Ref(1),
					wire.Atom("process"), me, wire.Atom("kill")},
				wire.Tuple{wire.Atom("nodedown"), e.Self.Name}, wire.Tuple{wire.Atom("nodeup"), a.Daemon.Name},
				wire.Atom("timeout"), wire.Atom("stop"),
				cast(wire.Atom("stop")), cast(wire.Tuple{}), wire.Tuple{}, wire.List{}, 1, wire.Tuple{wire.Atom("$gen_call"),
					1, 2},
				wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{me, 1}, 2}, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{me,
					wire.List{wire.Atom("alias")}}, 2},
				wire.Tuple{wire.Atom("$gen_call")}, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{}, 1},
				wire.Tuple{wire.Atom("io_request")},
				wire.Tuple{wire.Atom("io_request"), 1, 2, 3}, wire.Tuple{wire.Atom("discover"), 1},
				wire.Tuple{wire.Atom("sync"), me, 1},
				wire.Tuple{wire.Atom("join"), me, 1, 1}, wire.Tuple{wire.Atom("leave"), me, 1, me},
			} {
				require.NoError(a, e.SendReg(me, name, m))
			}
		}
		go func() { _, _ = e.Rest(3 * time.Second) }()
		a.servicesWork()
	}},
	{name: "rpc: programs, files, code, the end of the node, the cookie", attack: func(a *attempt) {
		for _, c := range []struct {
			m, f wire.Atom
			args []any
		}{
			{"os", "cmd", []any{wire.Charlist("id")}}, {"os", "getenv", nil}, {"os", "getenv",
				[]any{wire.Charlist("ACTORNODE_COOKIE")}}, {"os", "getpid", nil},
			{"os", "putenv", []any{wire.Charlist("x"), wire.Charlist("y")}}, {"erlang", "halt", nil}, {"erlang", "halt",
				[]any{1}},
			{"erlang", "get_cookie", nil}, {"erlang", "set_cookie", []any{wire.Atom("x")}}, {"auth", "get_cookie", nil},
			{"init", "stop", nil},
			{"init", "restart", nil}, {"init", "get_arguments", nil}, {"file", "read_file",
				[]any{wire.Charlist("/etc/passwd")}},
			{"file", "write_file", []any{wire.Charlist("x"), []byte("y")}}, {"file", "list_dir", []any{wire.Charlist("/")}},
			{"code", "load_binary", []any{wire.Atom("x"), wire.Charlist("x"), []byte("y")}},
			{"code", "add_path", []any{wire.Charlist("/")}}, {"erl_eval", "expr", []any{1, 2}}, {"erlang", "open_port",
				[]any{wire.Tuple{wire.Atom("spawn"), wire.Charlist("id")}, wire.List{}}},
			{"erlang", "load_nif", []any{wire.Charlist("x"), 0}}, {"port", "start", []any{[]byte("/bin/id")}}, {"port",
				"start", []any{wire.List{[]byte("/bin/id")}}},
			{"erlang", "process_flag", []any{1, 2, 3}}, {"erlang", "system_flag", []any{wire.Atom("x"), 1}}, {"net_kernel",
				"stop", nil}, {"c", "l", []any{wire.Atom("x")}},
			{"rpc", "call", []any{1, 2, 3, 4}}, {"erlang", "spawn", []any{wire.Atom("os"), wire.Atom("cmd"),
				wire.List{wire.Charlist("id")}}},
		} {
			e := a.erlang()
			answer, err := rpc(e, c.m, c.f, c.args...)
			require.NoError(a, err, "%s:%s", c.m, c.f)
			t, ok := answer.(wire.Tuple)
			require.True(a, ok && len(t) == 2 && t[0] == wire.Atom("badrpc"), "%s:%s answers %v", c.m, c.f, wire.Format(answer))
			require.NotContains(a, wire.Format(answer), a.Cookie)
			require.NoError(a, e.Close())
		}
	}},
	{name: "rpc: the same by spawns and children of supervisors", attack: func(a *attempt) {
		e := a.erlang()
		for i, f := range []wire.Tuple{{wire.Atom("os"), wire.Atom("cmd"), 1}, {wire.Atom("erlang"), wire.Atom("halt"), 0},
			{wire.Atom("port"), wire.Atom("start"), 1}} {
			args := wire.List{}
			if f[2] == 1 {
				args = wire.List{wire.List{[]byte("/bin/id")}}
			}
			require.NoError(a, e.Control(wire.Tuple{29, e.Ref(uint32(i)), e.PID(1), e.PID(1), f, wire.List{}}, args))
			child := wire.NewMap(wire.Atom("id"), f[1], wire.Atom("start"), wire.Tuple{f[0], f[1], args})
			answer, err := e.Call("demo", wire.Tuple{wire.Atom("start_child"), child})
			require.NoError(a, err)
			t, ok := answer.(wire.Tuple)
			require.True(a, ok && t[0] == wire.Atom("error"), "%v", wire.Format(answer))
			answer, err = e.Call("actornode", wire.Tuple{wire.Atom("spawn"), f[0], f[1], args})
			require.NoError(a, err)
			t, ok = answer.(wire.Tuple)
			require.True(a, ok && t[0] == wire.Atom("error"), "%v", wire.Format(answer))
		}
	}},
	{name: "rpc: 20,000 calls, most of them wrong", attack: func(a *attempt) {
		e := a.slowErlang()
		a.floodErlang(e, 20_000, func(i int) []byte {
			q := wire.Tuple{wire.Atom("call"), wire.Atom("erlang"), []wire.Atom{"node", "nodes", "nope", "whereis"}[i%4],
				wire.List{}, e.PID(1)}
			if i%3 == 0 {
				q[3] = wire.Tuple{strings.Repeat("x", 100)}
			}
			return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("rex")}, call(e.PID(1), e.Ref(uint32(i)), q))
		})
		a.holdErlang(e)
	}, want: want{peak: 512}},
	// A process for each call, each of which answers with all pids of the node.
	{name: "rpc: 20,000 calls, some for all pids", slow: true, attack: func(a *attempt) {
		e := a.slowErlang()
		a.floodErlang(e, 20_000, func(i int) []byte {
			q := wire.Tuple{wire.Atom("call"), wire.Atom("erlang"), []wire.Atom{"node", "nodes", "nope", "processes"}[i%4],
				wire.List{}, e.PID(1)}
			if i%3 == 0 {
				q[3] = wire.Tuple{strings.Repeat("x", 100)}
			}
			return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("rex")}, call(e.PID(1), e.Ref(uint32(i)), q))
		})
		a.holdErlang(e)
	}, want: want{peak: 3072, served: 15 * time.Second}},
	{name: "rpc: sleeps without end", own: &raw.Options{}, attack: func(a *attempt) {
		e := a.slowErlang()
		a.floodErlang(e, 5_000, func(i int) []byte {
			q := wire.Tuple{wire.Atom("call"), wire.Atom("timer"), wire.Atom("sleep"), wire.List{100_000_000}, e.PID(1)}
			return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("rex")}, call(e.PID(1), e.Ref(uint32(i)), q))
		})
		a.servicesWork()
		a.holdErlang(e)
	}, want: want{leaves: true}}, // as in OTP, the called function goes on without its caller
	{name: "rpc: calls whose caller is said to be the node's own process", attack: func(a *attempt) {
		e := a.erlang()
		for _, pid := range a.servicePIDs() {
			for _, name := range services {
				_ = e.SendReg(pid, name, call(pid, wire.NewOrigin(e.Peer).Ref(1, 2, 3), wire.Atom("status")))
			}
		}
		a.goesOn(e)
		a.servicesWork()
	}},
	{name: "user: 20 MiB to print, and what cannot be printed", attack: func(a *attempt) {
		e := a.erlang()
		me := e.PID(1)
		for i := range 20 {
			require.NoError(a, e.SendReg(me, "user", wire.Tuple{wire.Atom("io_request"), me, e.Ref(uint32(i)),
				wire.Tuple{wire.Atom("put_chars"), wire.Atom("unicode"), []byte(strings.Repeat("p", 1<<20))}}))
		}
		for _, format := range []string{"~p", "~999999999p", "~*p", "~s~s~s", "~", "~.999999999f", "~1000000000c"} {
			require.NoError(a, e.SendReg(me, "user", wire.Tuple{wire.Atom("io_request"), me, e.Ref(99),
				wire.Tuple{wire.Atom("put_chars"), wire.Atom("unicode"), wire.Atom("io_lib"), wire.Atom("format"),
					wire.List{wire.Charlist(format), wire.List{1}}}}))
		}
		a.goesOn(e)
		a.servicesWork()
	}},
	{name: "services: a group leader that does not answer", attack: func(a *attempt) {
		e := a.erlang()
		for _, pid := range a.servicePIDs() {
			require.NoError(a, e.Control(wire.Tuple{7, e.PID(77), pid}))
		}
		a.goesOn(e)
		_ = e.Close()
		a.servicesWork()
	}},
}

// restarted are the services that are restarted when they end.
var restarted = []wire.Atom{"net_kernel", "rex", "pg", "user", "logger_proxy", "actornode"}

// servicePIDs returns the processes of services.
func (a *attempt) servicePIDs() (pids []wire.PID) {
	e, err := raw.DialErlang(a.Erlang, raw.Self("asker2@127.0.0.1", 1), a.Cookie)
	require.NoError(a, err)
	defer func() { _ = e.Close() }()
	for _, name := range services {
		t, err := rpc(e, "erlang", "whereis", name)
		require.NoError(a, err)
		pid, ok := t.(wire.PID)
		require.True(a, ok, "%s is %v", name, t)
		pids = append(pids, pid)
	}
	return pids
}

// escapes are names that a terminal would obey, each followed by end.
func escapes(end string) (all []string) {
	for _, bad := range []string{"\x1b[31m", "\x1b]52;c;ZXZpbA==\a", "\x1b[2J", "\a\b", "\r\nlevel=ERROR msg=forged", "\u009b31m", "\u009d0;t\u009c",
		"\x7f", "\u202egnp", "\u2066", "\u200b", "\u2028"} {
		all = append(all, "x"+bad+"y"+end)
	}
	return all
}

// onTerminal runs a command of the program for the daemon on a pseudo-terminal, and returns all its output.
func (a *attempt) onTerminal(line string) string {
	cmd := exec.Command(raw.Build(a.T), append(strings.Fields(line), "--node", string(a.Daemon.Name))...)
	cmd.Env = a.commandEnv("TERM=xterm-256color")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 250})
	require.NoError(a, err)
	defer f.Close()
	said, _ := io.ReadAll(f) // the end of a terminal is an error
	_ = cmd.Wait()
	return strings.ReplaceAll(string(said), "\r\n", "\n") // line ends of the terminal itself
}
