package otp_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

func TestServeOnce(t *testing.T) {
	n := alone(t, otp.Config{Output: io.Discard})
	require.ErrorIs(t, otp.Serve(n, otp.Config{}), node.ErrNameTaken)
	require.ErrorContains(t, otp.Serve(n, otp.Config{Messages: -1}), "Messages")
}

// leaves is an Actor that handles no message.
func leaves(*node.Context, any) error { return node.ErrUnhandled }

func TestProcessInfo(t *testing.T) {
	n := alone(t, otp.Config{Output: io.Discard, Messages: 3})
	parent := nodetest.NewProbe(t, n)
	pid, err := parent.SpawnOpt(node.Options{Label: "cart 7", Link: true}, node.ActorFunc(leaves))
	require.NoError(t, err)
	watch := spawn(t, n, node.Options{}, node.ActorFunc(leaves))
	self := nodetest.NewProbe(t, n)
	self.Monitor(pid)
	for i := range 5 {
		require.NoError(t, n.Send(pid, i))
	}
	type row struct{ A, b int }
	leader, _ := n.Whereis("user")
	item := func(pid wire.PID, name any) string { return apply(t, n, "erlang", "process_info", pid, name) }
	for _, c := range []struct {
		item any
		want string
	}{
		{wire.Atom("message_queue_len"), "{message_queue_len,5}"},
		{wire.Atom("messages"), "{messages,[0,1,2]}"},
		{wire.Atom("links"), "{links,[" + parent.Self().String() + "]}"},
		{wire.Atom("monitored_by"), "{monitored_by,[" + self.Self().String() + "]}"},
		{wire.Atom("parent"), "{parent," + parent.Self().String() + "}"},
		{wire.Atom("group_leader"), "{group_leader," + leader.String() + "}"},
		{wire.Atom("initial_call"), "{initial_call,{otp_test,leaves,2}}"},
		{wire.Atom("label"), `{label,<<"cart 7">>}`},
		{wire.Atom("trap_exit"), "{trap_exit,false}"},
		{wire.Tuple{wire.Atom("dictionary"), wire.Atom("$process_label")}, `{{dictionary,'$process_label'},<<"cart 7">>}`},
		{wire.Tuple{wire.Atom("dictionary"), wire.Atom("x")}, `{{dictionary,x},undefined}`},
		{wire.Tuple{wire.Atom("what"), wire.Atom("x")}, `! badarg`},
	} {
		assert.Equal(t, c.want, item(pid, c.item))
	}
	assert.Contains(t, item(pid, wire.Atom("dictionary")), "{'$ancestors',["+parent.Self().String()+"]}")
	assert.Equal(t, "{monitors,[{process,"+pid.String()+"}]}", item(self.Self(), wire.Atom("monitors")))
	require.NoError(t, n.Register("named", watch))
	self.Monitor(node.Atom("named"))
	self.MonitorNode("far@host")
	assert.Equal(t, "{monitors,[{process,"+pid.String()+"},{process,{named,nonode@nohost}}]}", item(self.Self(), wire.Atom("monitors")))
	require.NoError(t, n.Unregister("named"))

	require.NoError(t, n.Send(watch, row{1, 2})) // not a term
	assert.Equal(t, `{messages,[<<"otp_test.row">>]}`, item(watch, wire.Atom("messages")))
	assert.Equal(t, "[]", item(watch, wire.Atom("registered_name")))
	assert.Equal(t, "[{registered_name,[]}]", item(watch, wire.List{wire.Atom("registered_name")}))
	assert.Equal(t, "! badarg", apply(t, n, "erlang", "process_info", wire.NewOrigin(wire.NodeID{Name: "x@y", Creation: 1}).PID(1)))
}

func TestBehaviours(t *testing.T) {
	n := alone(t, otp.Config{Output: io.Discard})
	pid := spawn(t, n, node.Options{Name: "server"}, servers.New(&server{}))
	assert.Equal(t, "{'otp_test.server',init,1}", apply(t, n, "proc_lib", "translate_initial_call", pid))
	assert.Equal(t, "{proc_lib,init_p,5}", apply(t, n, "proc_lib", "translate_initial_call", wire.Atom("x")))
	assert.Equal(t, "[{vsn,[0]},{behaviour,[gen_server]}]", apply(t, n, "otp_test.server", "module_info", wire.Atom("attributes")))
	assert.Equal(t, "{module,'otp_test.server'}", apply(t, n, "code", "ensure_loaded", wire.Atom("otp_test.server")))
	assert.Equal(t, "hello", apply(t, n, "gen_server", "call", wire.Atom("server"), wire.Atom("hello")))
	assert.Equal(t, "hello", apply(t, n, "gen_server", "call", wire.Tuple{wire.Atom("server"), n.Name()}, wire.Atom("hello"), wire.Atom("infinity")))
	assert.Equal(t, "! badarg", apply(t, n, "gen_server", "call", 7, 8))
	assert.Equal(t, "! badarg", apply(t, n, "gen_server", "call", pid, 8, wire.Atom("soon")))
	assert.Equal(t, "! {noproc,{gen_server,call,[{nobody,nonode@nohost},x]}}", apply(t, n, "gen_server", "call", wire.Tuple{wire.Atom("nobody"), n.Name()}, wire.Atom("x")))
	assert.Equal(t, "! {noconnection,{gen_server,call,[{a,b@c},x]}}", apply(t, n, "gen_server", "call", wire.Tuple{wire.Atom("a"), wire.Atom("b@c")}, wire.Atom("x")))
	assert.Contains(t, apply(t, n, "sys", "get_status", pid), "{status,"+pid.String()+",{module,gen_server},[[{'$initial_call',")
	silent := spawn(t, n, node.Options{}, node.ProcessFunc(idle))
	assert.Equal(t, "! {timeout,{sys,get_status,["+silent.String()+",1]}}", apply(t, n, "sys", "get_status", silent, 1))

	require.NoError(t, func() error {
		_, err := event.Start(t.Context(), n, event.Config{}, node.Options{Name: "events"})
		return err
	}())
	assert.Equal(t, "[]", apply(t, n, "gen_event", "which_handlers", wire.Atom("events")))
	assert.Equal(t, "! noproc", apply(t, n, "gen_event", "which_handlers", wire.Atom("error_logger")))
}

// An application tree without OTP, of processes that were started in other ways.
func TestTreeOfLinks(t *testing.T) {
	n := alone(t, otp.Config{Output: io.Discard})
	self := nodetest.NewProbe(t, n)
	master := make(chan wire.PID, 1)
	top, err := self.SpawnOpt(node.Options{Name: "top"}, node.ProcessFunc(func(p *node.Process) error {
		p.TrapExit(true)
		a, err := p.SpawnOpt(node.Options{Name: "a", Link: true}, node.ProcessFunc(idle))
		if err != nil {
			return err
		}
		_, err = p.SpawnOpt(node.Options{Name: "b", Link: true}, node.ProcessFunc(func(p *node.Process) error {
			p.Link(a) // not in the tree
			master <- p.Self()
			return idle(p)
		}))
		if err != nil {
			return err
		}
		return idle(p)
	}))
	require.NoError(t, err)
	defer n.Exit(top, node.Kill)
	<-master
	require.NoError(t, rpc.Export(n, wire.Export{Module: "application_controller", Function: "get_master", Arity: 1},
		func(context.Context, []any) (any, error) { return top, nil }))
	v, err := rpc.Apply(t.Context(), n, "appmon_info", "start_link2", []any{self.Self(), self.Self(), wire.List{}})
	require.NoError(t, err)
	pid := v.(wire.Tuple)[1].(wire.PID)
	cast := func(kind string, about any, on wire.Atom, opts ...any) {
		require.NoError(t, self.Send(pid, wire.Tuple{wire.Atom("$gen_cast"), wire.Tuple{self.Self(), wire.Atom(kind), about, on, wire.List(opts)}}))
	}
	delivery := func() wire.Tuple {
		m, err := self.ReceiveWithin(testkit.Limit, func(m any) bool { t, ok := m.(wire.Tuple); return ok && t[0] == wire.Atom("delivery") })
		require.NoError(t, err)
		return m.(wire.Tuple)
	}
	cast("app", wire.Atom("x"), wire.AtomTrue)
	tree := delivery()[4].(wire.Tuple)
	assert.Equal(t, `"top"`, wire.Format(tree[0]))
	assert.Equal(t, `[{"top","a"},{"top","b"}]`, wire.Format(tree[2]))
	assert.Equal(t, `[{"a","b"}]`, wire.Format(tree[3]))
	assert.Len(t, tree[1], 3)

	cast("app_ctrl", n.Name(), wire.AtomTrue)
	assert.Equal(t, "[]", wire.Format(delivery()[4]))
	for range 3 { // one report, for nothing changes; a new request gets a new one
		cast("app_ctrl", n.Name(), wire.AtomTrue, wire.Tuple{wire.Atom("timeout"), 1})
		assert.Equal(t, "[]", wire.Format(delivery()[4]))
	}
	cast("app_ctrl", n.Name(), wire.AtomFalse)
	require.NoError(t, self.Send(pid, wire.Atom("nonsense")))
	require.NoError(t, self.Send(pid, wire.Tuple{wire.Atom("$gen_cast"), wire.Atom("nonsense")}))
	ok, err := node.Call[any](t.Context(), self, pid, wire.Atom("anything"))
	require.NoError(t, err)
	assert.Equal(t, wire.AtomOK, ok)

	ref := self.Monitor(pid)
	self.TrapExit(true)
	self.Exit(pid, wire.Atom("enough")) // sent by the process that has started it
	m, err := self.ReceiveWithin(testkit.Limit, func(m any) bool { d, ok := m.(node.Down); return ok && d.Ref == ref })
	require.NoError(t, err)
	assert.Equal(t, wire.Atom("enough"), m.(node.Down).Reason)
}

// procs_info comes in chunks.
func TestProcsInfoInChunks(t *testing.T) {
	n := alone(t, otp.Config{Output: io.Discard})
	const many = 20_100
	for range many {
		spawn(t, n, node.Options{}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	}
	self := nodetest.NewProbe(t, n)
	b, err := rpc.NewActor(n, "observer_backend", "procs_info", []any{self.Self()})
	require.NoError(t, err)
	pid, err := self.SpawnOpt(node.Options{Link: true}, b)
	require.NoError(t, err)
	self.TrapExit(true)
	var sizes []int
	rows := 0
	for rows < many {
		m := node.ReceiveOf[wire.Tuple](self.Process)
		assert.Equal(t, pid, m[1])
		sizes = append(sizes, len(m[2].(wire.List)))
		rows += sizes[len(sizes)-1]
	}
	assert.Equal(t, []int{10_000, 10_000, many + 3 - 20_000}, sizes, "user, logger_proxy and this, but not the process that asks")
	v, err := rpc.Apply(t.Context(), n, "observer_backend", "procs_info", []any{self.Self()})
	require.NoError(t, err)
	assert.Equal(t, wire.AtomOK, v)
	assert.Equal(t, "! badarg", apply(t, n, "observer_backend", "procs_info", 7))
}

func TestClocks(t *testing.T) {
	now := time.Date(2001, 2, 3, 4, 5, 6, 7_008_009, time.UTC)
	n := alone(t, otp.Config{Output: io.Discard, Now: func() time.Time { return now }})
	now = now.Add(90 * time.Second)
	for _, c := range []struct {
		f    string
		args []any
		want string
	}{
		{"timestamp", nil, "{981,173196,7008}"},
		{"universaltime", nil, "{{2001,2,3},{4,6,36}}"},
		{"system_time", nil, "981173196007008009"},
		{"system_time", []any{wire.Atom("second")}, "981173196"},
		{"system_time", []any{1000}, "981173196007"},
		{"system_time", []any{0}, "! badarg"},
		{"monotonic_time", []any{wire.Atom("millisecond")}, "90000"},
		{"monotonic_time", nil, "90000000000"},
		{"statistics", []any{wire.Atom("wall_clock")}, "{90000,90000}"},
		{"statistics", []any{wire.Atom("wall_clock")}, "{90000,0}"},
	} {
		assert.Equal(t, c.want, apply(t, n, "erlang", c.f, c.args...))
	}
}

// Every exported name is in the documentation's table.
func TestDocumented(t *testing.T) {
	n := alone(t, otp.Config{Output: io.Discard})
	doc := documentation(t)
	_, table, ok := strings.Cut(doc, "# What is answered")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n# ")
	var missing []string
	for _, e := range n.Inside(process.Key{}).Exports() {
		if !strings.Contains(table, string(e.Function)) {
			missing = append(missing, e.String())
		}
	}
	slices.Sort(missing)
	assert.Empty(t, missing)
}
