package attack

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/wire"
)

// resources are attacks by way of what the system gives to the process: files, memory, disk, processes, time.
var resources = []row{
	{name: "files: 300 connections where 100 files may be open", own: &raw.Options{Files: 100}, attack: func(a *attempt) {
		var conns []*raw.Conn
		for i := range 300 {
			addr := []string{a.Erlang, a.Native, a.HTTP, a.EPMD}[i%4]
			if c, err := raw.DialFrom(attacker, addr); err == nil {
				conns = append(conns, c)
			}
		}
		a.until(20*time.Second, func() bool { return a.Figures().Files >= 90 }, "the files that it may open are open")
		require.True(a, a.Lives())
		for _, c := range conns {
			_ = c.Close()
		}
	}, want: want{refuses: true, breaks: true}},
	{name: "files: 100 peers where 100 files may be open", own: &raw.Options{Files: 100}, attack: func(a *attempt) {
		var es []*raw.Erlang
		for i := range 120 {
			c, err := raw.DialFrom(attacker, a.Erlang)
			if err != nil {
				continue
			}
			c.Patience = time.Second
			e := raw.NewErlang(c, raw.Self(fmt.Sprint("peer", i, "@127.0.0.1"), 1))
			es = append(es, e)
			if i < 80 || i%10 == 0 {
				_ = e.Handshake(a.Cookie)
			}
		}
		require.True(a, a.Lives())
		for _, e := range es {
			_ = e.Close()
		}
	}, want: want{refuses: true, breaks: true}},
	{name: "processes: more than limits.processes", own: &raw.Options{Config: "limits: {processes: 2000}\n"},
		attack: func(a *attempt) {
			e := a.erlang()
			go func() { _, _ = e.Rest(20 * time.Second) }()
			a.floodErlang(e, 10_000, func(i int) []byte { return e.ControlFrame(spawnRequest(e, i, "echo", 0), wire.List{}) })
			a.someWait()
			_ = e.Close()
		}, want: want{logKiB: 512, unready: true}},
	{name: "log: the file is /dev/full", needs: []need{linux},
		own: &raw.Options{Prepare: logTo(func(testing.TB) string { return "/dev/full" })},
		attack: func(a *attempt) {
			a.badHandshakes(200)
			_, err := raw.DialErlang(a.Erlang, raw.Self("x@127.0.0.1", 1), a.Cookie)
			require.NoError(a, err)
		}},
	{name: "log: the disk is full", needs: []need{root}, own: &raw.Options{Prepare: logTo(func(t testing.TB) string {
		dir := t.TempDir()
		if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", dir).Run(); err != nil {
			t.Skipf("a file system of 16 KiB cannot be mounted: %v", err)
		}
		t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
		return filepath.Join(dir, "log")
	})}, attack: func(a *attempt) {
		a.badHandshakes(500)
		_, err := raw.DialErlang(a.Erlang, raw.Self("x@127.0.0.1", 1), a.Cookie)
		require.NoError(a, err)
	}},
	nobodyReads(row{name: "log: nobody reads standard error any more"}, true),
	nobodyReads(row{name: "log: standard error is a pipe that nobody empties"}, false),
	{name: "memory: half of a cgroup's limit lives, and garbage comes", needs: []need{root, memoryCgroup},
		own: &raw.Options{Prepare: inCgroup(384 << 20)}, attack: attackMemory,
		want: want{peak: 384, served: 10 * time.Second, unready: true}},
	{name: "memory: eight peers fill every table at once, with the default limits and 512 MiB", needs: []need{root, memoryCgroup},
		own: &raw.Options{Prepare: inCgroup(512 << 20)}, attack: attackTables,
		want: want{peak: 600, served: testkit.Limit, unready: true, refuses: true, breaks: true, leaves: true, logKiB: 1024}}, // the program's pages are not the group's
	{name: "memory: half of GOMEMLIMIT lives, and garbage comes", slow: true, own: &raw.Options{
		Env: []string{"GOMEMLIMIT=384MiB"}}, attack: attackMemory,
		want: want{peak: 512, served: 10 * time.Second, unready: true}},
	{name: "memory: it is short, and peers from elsewhere come again and again: an operator gets in",
		needs: []need{elsewhere}, alone: true, own: &raw.Options{Config: "limits: {memory: 160MiB}\n"}, attack: attackOperators, want: want{peak: 512, unready: true, logKiB: 1024}},
	{name: "end: SIGTERM under a flood of messages", own: &raw.Options{}, attack: func(a *attempt) {
		e := a.slowErlang()
		quit := make(chan struct{})
		go func() {
			defer close(quit)
			a.floodErlang(e, 2_000_000, func(int) []byte {
				return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("echo")}, wire.Tuple{e.PID(1), 1})
			})
		}()
		a.someWait()
		begun := time.Now()
		require.NoError(a, a.Signal(syscall.SIGTERM))
		select {
		case <-a.Ended():
		case <-time.After(testkit.Limit):
			require.Fail(a, "it has not ended")
		}
		a.inTime(15*time.Second, begun, "it has ended")
		<-quit
		require.True(a, a.State().Success(), "%v", a.State())
	}, want: want{dies: true}},
	{name: "end: signals that daemons get by mistake", own: &raw.Options{}, attack: func(a *attempt) {
		for _, s := range mistaken {
			for range 20 {
				require.NoError(a, a.Signal(s))
			}
		}
		a.someWait()
	}},
	{name: "clock: the monotonic clock of another time namespace, ten years on", needs: []need{root, timeNamespace},
		own: &raw.Options{Wrap: []string{"unshare", "--time", "--boottime", "315360000", "--monotonic", "315360000"}},
		attack: func(a *attempt) {
			a.servicesWork()
			a.badHandshakes(5)
		}},
	{name: "clock: a wall clock of the year 2001 by libfaketime, if the program heeds it", needs: []need{libfaketime},
		own: &raw.Options{Prepare: func(_ testing.TB, o *raw.Options) {
			o.Env = []string{"LD_PRELOAD=" + faketime(), "FAKETIME=@2001-01-01 00:00:00"}
		}}, attack: func(a *attempt) {
			a.servicesWork()
			stamp := regexp.MustCompile(`time=(\d{4})`).FindStringSubmatch(a.Daemon.Log())
			require.NotNil(a, stamp)
			maps, err := os.ReadFile(fmt.Sprint("/proc/", a.PID, "/maps"))
			require.NoError(a, err)
			a.Logf("libfaketime is loaded: %v; the daemon takes it for the year %s", strings.Contains(string(maps),
				"libfaketime"), stamp[1])
		}},
	{name: "start: configurations that are wrong end it with a text", own: &raw.Options{}, attack: func(a *attempt) {
		for _, text := range []string{"nonsense: 1\n", "limits: {message: -1}\n", "\x00\x01\x02", "a: &a [*a]\n",
			strings.Repeat("[", 10_000), "limits: {message: 999999999999999999999GiB}\n",
			"cookie: \"\"\n", "cookies: {x@h: \"\"}\n", "cookies: {x@h: {in: \"\", out: y}}\n",
			"a: &a [x,x,x,x,x,x,x,x,x]\n" +
				"b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]\n"} {
			d, err := raw.TryStart(a.T, raw.Options{Name: "other@127.0.0.1", Config: text, Bare: true,
				Within: testkit.Limit, Space: 4 << 20})
			require.Error(a, err, "%q", text)
			require.False(a, d.Lives(), "%q", text)
			require.NotContains(a, d.Log(), "panic")
			require.Less(a, len(d.Log()), 4096)
		}
	}},
}

// silent gives HTTP a port to a daemon whose log, which reports the port, is not kept.
func silent(t testing.TB, o *raw.Options) {
	o.Bare = true
	o.HTTP = fmt.Sprint("127.0.0.1:", porttest.Reserve(t))
	o.Args = append(o.Args, "--demo", "--http", o.HTTP)
}

// logTo makes a daemon log to a file.
func logTo(file func(testing.TB) string) func(testing.TB, *raw.Options) {
	return func(t testing.TB, o *raw.Options) {
		o.Args = []string{"--log-file", file(t)}
		silent(t, o)
	}
}

// nobodyReads returns a row in which the log goes to a pipe that nobody reads; closed says whether the reading end is
// closed.
func nobodyReads(r row, closed bool) row {
	var end *os.File
	r.own = &raw.Options{Prepare: func(t testing.TB, o *raw.Options) {
		out, in, err := os.Pipe()
		require.NoError(t, err)
		end = out
		t.Cleanup(func() { _ = out.Close() })
		o.Stderr, o.Started = in, func() { _ = in.Close() }
		silent(t, o)
	}}
	r.attack = func(a *attempt) {
		if closed {
			require.NoError(a, end.Close())
		}
		a.badHandshakes(1000)
		e, err := raw.DialErlang(a.Erlang, raw.Self("x@127.0.0.1", 1), a.Cookie)
		require.NoError(a, err)
		require.NoError(a, e.Close())
	}
	return r
}

// badHandshakes gives the daemon something to log.
func (a *attempt) badHandshakes(n int) {
	several(n, 8, func(i int) { a.pour(a.Erlang, []byte("\x00\x05hello")) })
	_ = a.Until(200*time.Millisecond, func() bool { return false })
	require.True(a, a.Lives(), "the daemon has ended: %v", a.State())
}

// attackMemory keeps a third of 384 MiB live in mailboxes, and makes much more garbage.
func attackMemory(a *attempt) {
	victim := a.spawnEcho(1)[0]
	e := a.erlang()
	e.Patience = 30 * time.Second
	me := e.PID(1)
	require.NoError(a, e.SendPID(me, victim, wire.Tuple{wire.Atom("system"), wire.Tuple{me, e.Ref(1)}, wire.Atom("suspend")}))
	block := make([]byte, 4<<20)
	for range 35 { // 140 MiB stay live
		require.NoError(a, e.SendPID(me, victim, block))
	}
	for range 150 { // 600 MiB and their copies are garbage
		_, err := e.Call("echo", block)
		require.NoError(a, err)
	}
	_ = e.Close()
}

// attackOperators sends commands while memory is short, more at a time than there are places for in a second, while
// peers with the cookie connect from another machine's address all the time.
func attackOperators(a *attempt) {
	e := a.erlang()
	defer func() { _ = e.Close() }()
	e.Patience = testkit.Limit
	me, victim := e.PID(1), a.spawnEchoBy(e, 1)[0]
	require.NoError(a, e.SendPID(me, victim, wire.Tuple{wire.Atom("system"), wire.Tuple{me, e.Ref(1)}, wire.Atom("suspend")}))
	block := make([]byte, 4<<20)
	for range 45 { // 180 MiB
		require.NoError(a, e.SendPID(me, victim, block))
	}
	a.until(testkit.Limit, func() bool { return strings.Contains(a.log(), "memory is short") }, "memory is short")
	quit := make(chan struct{})
	var refused atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for turn := 0; ; turn++ {
				select {
				case <-quit:
					return
				default:
				}
				c, err := raw.DialFrom(otherAddress(), a.Erlang)
				if err != nil {
					continue
				}
				x := raw.NewErlang(c, raw.Self(fmt.Sprintf("x%d.%d@127.0.0.1", i, turn%4), uint32(turn+1)))
				if x.Handshake(a.Cookie) != nil {
					refused.Add(1)
				}
				_ = x.Close()
			}
		})
	}
	defer all.Wait()
	defer close(quit)
	a.until(testkit.Limit, func() bool { return refused.Load() > 100 }, "peers are refused")
	several(24, 24, func(int) {
		said, err := a.command("status --timeout 5m --node " + string(a.Daemon.Name))
		assert.NoError(a, err, said)
	})
	for _, who := range []string{"counter", fmt.Sprint(uint32(victim.Number()))} { // and acts, by name and by PID
		said, err := a.command("kill --timeout 5m --node " + string(a.Daemon.Name) + " " + who)
		require.NoError(a, err, "%s: %s", who, said)
	}
	a.until(testkit.Limit, func() bool { return strings.Contains(a.log(), "memory is no longer short") }, "the operator has mended it")
}

// elsewhere needs an address of this machine that looks like another machine's.
var elsewhere = need{"an address that is not of the loopback", func() bool { return otherAddress() != "" }}

func otherAddress() string {
	addrs, _ := net.InterfaceAddrs()
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return ip.IP.String()
		}
	}
	return ""
}

// attackTables makes eight peers do, all at the same time, everything that makes a node keep something for a peer:
// monitors, links, processes, process groups, messages in fragments, and refusals, which they do not read. Each goes on
// until it is refused or held up. The node survives, and serves others afterwards.
func attackTables(a *attempt) {
	victim := a.spawnEcho(1)[0]
	const each = 300_000 // more than limits.monitors and limits.links
	fill := map[string]func(e *raw.Erlang, i int) []byte{
		"monitors": func(e *raw.Erlang, i int) []byte {
			return e.ControlFrame(wire.Tuple{19, e.PID(1), victim, e.Ref(uint32(i), 1, 1)})
		},
		"links":     func(e *raw.Erlang, i int) []byte { return e.ControlFrame(wire.Tuple{1, e.PID(uint64(i + 1)), victim}) },
		"processes": func(e *raw.Erlang, i int) []byte { return e.ControlFrame(spawnRequest(e, i, "echo", 0), wire.List{}) },
	}
	join := func(e *raw.Erlang, i int) []byte {
		return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("pg")},
			wire.Tuple{wire.Atom("join"), e.PID(1), i, e.PID(1)})
	}
	var all sync.WaitGroup
	for range 8 {
		for _, frame := range fill {
			e := a.erlang()
			e.Patience = 5 * time.Second
			all.Go(func() { _ = a.sendErlang(e, each, func(i int) []byte { return frame(e, i) }) })
		}
		joiner := a.erlang()
		joiner.Patience = 5 * time.Second
		all.Go(func() { // it waits for pg: the mailbox is not bounded, and in no table
			for at := 0; at < each; at += 4096 {
				if a.sendErlang(joiner, 4096, func(i int) []byte { return join(joiner, at+i) }) != nil {
					return
				}
				if _, err := joiner.Call("pg", wire.Tuple{wire.Atom("demonitor"), joiner.Ref(9)}); err != nil {
					return
				}
			}
		})
		e := a.headed()
		e.Patience = 5 * time.Second
		all.Go(func() {
			for i := range 64 { // messages whose last fragment never comes
				if e.SendFrame(raw.Fragment(true, uint64(i), 1000, append(fragmentHead(e), make([]byte, 1<<20)...))) != nil {
					return
				}
			}
		})
	}
	all.Wait()
	require.True(a, a.Lives(), "it has been killed")
	a.servicesWork()
}

// memoryCgroup needs a hierarchy of control groups that can limit memory.
var memoryCgroup = need{"a control group that limits memory", func() bool { return cgroupRoot() != "" }}

// cgroupRoot returns where groups that limit memory can be made; "": nowhere.
func cgroupRoot() string {
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/memory"} {
		probe := filepath.Join(dir, fmt.Sprint("actornode-probe-", os.Getpid()))
		if os.Mkdir(probe, 0o755) != nil {
			continue
		}
		_, v2 := os.Stat(filepath.Join(probe, "memory.max"))
		_, v1 := os.Stat(filepath.Join(probe, "memory.limit_in_bytes"))
		_ = os.Remove(probe)
		if v1 == nil || v2 == nil {
			return dir
		}
	}
	return ""
}

// inCgroup makes a daemon start in a control group of its own with this memory limit.
func inCgroup(limit int) func(testing.TB, *raw.Options) {
	return func(t testing.TB, o *raw.Options) {
		dir := must(os.MkdirTemp(cgroupRoot(), "actornode-attack-"))
		t.Cleanup(func() { _ = os.Remove(dir) })
		file := filepath.Join(dir, "memory.max")
		if _, err := os.Stat(file); err != nil {
			file = filepath.Join(dir, "memory.limit_in_bytes")
		}
		require.NoError(t, os.WriteFile(file, fmt.Append(nil, limit), 0o644))
		o.Wrap = []string{"/bin/sh", "-c", `echo $$ >` + dir + `/cgroup.procs && exec "$0" "$@"`}
	}
}

// timeNamespace is what unshare --time needs from the kernel.
var timeNamespace = need{"a kernel with time namespaces, and unshare", func() bool {
	return exec.Command("unshare", "--time", "--boottime", "1000", "true").Run() == nil
}}

// libfaketime is a library that changes the time that libc returns. A Go program asks the kernel, past libc.
var libfaketime = need{"libfaketime (Debian: faketime)", func() bool { return faketime() != "" }}

func faketime() string {
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(found) == 0 {
		return ""
	}
	return found[0]
}
