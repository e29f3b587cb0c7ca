package otp

import (
	"context"
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

const observer = "observer_backend"

// version is the version of runtime_tools that a node reports: the one whose observer_backend it imitates.
const version = "1.19"

// backend are the functions of observer_backend that tools call.
func (t *tools) backend() []function {
	return []function{
		{observer, "vsn", []int{0}, constant(wire.Tuple{wire.AtomOK, wire.Charlist(version)})},
		{observer, "sys_info", []int{0}, plain(func([]any) (any, error) { return t.sysInfo(), nil })},
		{observer, "get_port_list", []int{0}, constant(wire.List{})},
		{observer, "get_socket_list", []int{0}, constant(wire.List{})},
		{observer, "socket_info", []int{0}, constant(sockets)},
		{observer, "get_table_list", []int{2}, plain(t.tableList)},
		{observer, "get_table", []int{3}, t.table},
		{observer, "procs_info", []int{1}, t.asFunction(t.procsInfo)},
		{observer, "etop_collect", []int{1}, t.asFunction(t.etopCollect)},
	}
}

// exportSpawns lets other nodes spawn the functions that observer, etop and dbg spawn here.
func (t *tools) exportSpawns() error {
	for _, s := range []struct {
		module, name wire.Atom
		arity        int
		run          func(p *node.Process, args []any) error
	}{
		{observer, "procs_info", 1, t.procsInfo}, {observer, "etop_collect", 1, t.etopCollect},
		{observer, "fetch_stats", 2, t.fetchStats}, {"dbg", "do_relay", 2, relay},
	} {
		e := wire.Export{Module: s.module, Function: s.name, Arity: s.arity}
		err := rpc.ExportBehaviour(t.n, e, func(args []any) (node.Actor, error) {
			return node.ProcessFunc(func(p *node.Process) error { return s.run(p, args) }), nil
		})
		if err != nil {
			return fmt.Errorf("otp: %w", err)
		}
	}
	return nil
}

// receiver returns the process that a tool wants results sent to; false: arg is not a PID, or whoever had p started may
// not have messages sent to it.
func receiver(p *node.Process, arg any) (wire.PID, bool) {
	pid, ok := arg.(wire.PID)
	return pid, ok && p.Node().Inside(process.Key{}).AskerOf(p.Context()).MayReach(pid)
}

// relay is dbg:do_relay, without which the dbg of another node would not stop waiting. Nothing is traced: dbg gets an
// error when it asks for traces.
func relay(p *node.Process, args []any) error {
	parent, ok := receiver(p, args[0])
	if !ok {
		return node.ExitWith(wire.Atom("badarg"))
	}
	p.TrapExit(true)
	if err := p.Send(parent, wire.Tuple{wire.Atom("started"), p.Self()}); err != nil {
		return err
	}
	node.ReceiveOf[node.Exited](p)
	return nil
}

// asFunction makes a function of run, which runs as a process: the function waits for the process to exit.
func (t *tools) asFunction(run func(*node.Process, []any) error) func(context.Context, []any) (any, error) {
	return func(ctx context.Context, args []any) (any, error) {
		var result error
		by := t.n.Inside(process.Key{}).AskerOf(ctx)
		pid, err := t.n.SpawnOpt(node.Options{For: by.Node()}, node.ProcessFunc(func(p *node.Process) error {
			result = run(p, args)
			return nil
		}))
		if err != nil {
			return nil, err
		}
		if _, err := node.AwaitExit(ctx, t.n, pid); err != nil {
			return nil, err
		}
		return wire.AtomOK, result
	}
}

// sysInfo is the proplist of the system tab, in the order of OTP 25.
func (t *tools) sysInfo() wire.List {
	io := t.io()
	l := wire.List{
		pair("uptime", int(t.cfg.Now().Sub(t.born).Milliseconds())), pair("run_queue", queue()),
		pair("io_input", io[0].(wire.Tuple)[1]), pair("io_output", io[1].(wire.Tuple)[1]),
	}
	for _, k := range []struct{ key, of string }{
		{"logical_processors", ""}, {"logical_processors_online", ""}, {"logical_processors_available", ""}, {"schedulers", ""},
		{"schedulers_online", ""}, {"schedulers_available", "schedulers"}, {"otp_release", ""}, {"version", ""},
		{"system_architecture", ""}, {"kernel_poll", ""}, {"smp_support", ""}, {"threads", ""}, {"thread_pool_size", ""},
		{"wordsize_internal", "wordsize"}, {"wordsize_external", "wordsize"}, {"alloc_info", ""}, {"process_count", ""},
		{"atom_limit", ""}, {"atom_count", ""}, {"process_limit", ""}, {"process_count", ""}, {"port_limit", ""}, {"port_count", ""},
		{"ets_limit", ""}, {"ets_count", ""}, {"dist_buf_busy_limit", ""},
	} {
		if k.key == "alloc_info" {
			l = append(l, pair(k.key, memory().allocators()))
			continue
		}
		if k.of == "" {
			k.of = k.key
		}
		v, _ := t.systemInfo(wire.Atom(k.of))
		l = append(l, pair(k.key, v))
	}
	return append(l, memory().list()...)
}

// sockets is what Erlang's module socket reports without sockets.
var sockets = wire.List{
	pair("iov_max", 1024), pair("num_monitors", 0), pair("num_cnt_bits", 64), pair("num_dinet", 0), pair("num_dinet6", 0),
	pair("num_dlocal", 0), pair("num_pip", 0), pair("num_psctp", 0), pair("num_ptcp", 0), pair("num_pudp", 0),
	pair("num_sockets", 0),
	pair("num_tdgrams", 0), pair("num_tseqpkgs", 0), pair("num_tstreams", 0),
}

// tableList returns the list for observer's tab of tables.
func (t *tools) tableList(args []any) (any, error) {
	switch args[0] {
	case wire.Atom("ets"):
		return wire.List{}, nil
	case wire.Atom("mnesia"):
		return wire.Tuple{wire.AtomError, wire.Charlist("Mnesia is not running on: " + string(t.n.Name()))}, nil
	}
	return nil, rpc.Raise(wire.Atom("function_clause"))
}

// table starts the process that sends a table: an empty one, as there are no tables.
func (t *tools) table(ctx context.Context, args []any) (any, error) {
	parent, ok := args[0].(wire.PID)
	if !ok || !t.n.Inside(process.Key{}).AskerOf(ctx).MayReach(parent) {
		return nil, errBadArg
	}
	by := t.n.Inside(process.Key{}).AskerOf(ctx)
	return t.n.SpawnOpt(node.Options{For: by.Node()}, node.ProcessFunc(func(p *node.Process) error {
		p.Link(parent)
		return p.Send(parent, wire.Tuple{p.Self(), wire.Atom("$end_of_table")})
	}))
}

// chunk is how many processes are in one message.
const chunk = 10_000

// procsInfo sends {procs_info, Self, [#etop_proc_info{}]} to a collector, in
// chunks, the last of which may be empty.
func (t *tools) procsInfo(p *node.Process, args []any) error {
	to, ok := receiver(p, args[0])
	if !ok {
		return node.ExitWith(wire.Atom("badarg"))
	}
	l := wire.List{}
	for pid := range t.n.Inside(process.Key{}).Processes() {
		if r, ok := t.row(p.Self(), pid); ok {
			l = append(l, r)
		}
		if len(l) == chunk {
			if err := p.Send(to, wire.Tuple{wire.Atom("procs_info"), p.Self(), l}); err != nil {
				return err
			}
			l = wire.List{}
		}
	}
	return p.Send(to, wire.Tuple{wire.Atom("procs_info"), p.Self(), l})
}

// row returns the record etop_proc_info of a process: pid, mem, reds, name, runtime, cf, mq. It leaves out the asking
// process, as OTP does.
func (t *tools) row(self, pid wire.PID) (wire.Tuple, bool) {
	i, err := t.n.Info(pid)
	if err != nil || pid == self {
		return nil, false
	}
	p := procview.ProgramOf(&i)
	t.see(p)
	var name any = p.Initial
	if i.Name != "" {
		name = i.Name
	}
	return wire.Tuple{wire.Atom("etop_proc_info"), pid, procview.Bytes(&i), int(i.Handled), name, 0, p.Current, i.Mailbox}, true
}

// etopCollect sends {Self, #etop_info{}}: now, n_procs, wall_clock, runtime,
// run_queue, alloc_areas, memi, procinfo.
func (t *tools) etopCollect(p *node.Process, args []any) error {
	to, ok := receiver(p, args[0])
	if !ok {
		return node.ExitWith(wire.Atom("badarg"))
	}
	rows := wire.List{}
	for pid := range t.n.Inside(process.Key{}).Processes() {
		if r, ok := t.row(p.Self(), pid); ok {
			rows = append(rows, r)
		}
	}
	m := memory()
	memi, _ := m.of(termof.Atoms([]wire.Atom{"total", "processes", "ets", "atom", "code", "binary"}))
	return p.Send(to, wire.Tuple{p.Self(), wire.Tuple{wire.Atom("etop_info"), timestamp(t.cfg.Now()), len(rows), wire.AtomUndefined,
		t.schedulers(), queue(), wire.List{}, memi, rows}})
}

// maxInterval bounds the intervals that others ask for, in ms.
const maxInterval = 1 << 32

// fetchStats sends {stats, 1, Schedulers, IO, Memory} every args[1] ms until any message arrives.
func (t *tools) fetchStats(p *node.Process, args []any) error {
	to, ok1 := receiver(p, args[0])
	ms, ok2 := wire.AsInt(args[1])
	if !ok1 || !ok2 || ms < 0 || ms > maxInterval {
		return node.ExitWith(wire.Atom("badarg"))
	}
	p.TrapExit(true)
	for {
		switch _, err := p.ReceiveWithin(time.Duration(max(ms, 1))*time.Millisecond, nil); err {
		case nil:
			return nil
		case node.ErrTimeout:
		default:
			return err
		}
		if err := p.Send(to, wire.Tuple{wire.Atom("stats"), 1, t.schedulers(), t.io(), memory().list()}); err != nil {
			return err
		}
	}
}

// tables are the functions of ets that tools call; there are no tables.
func (t *tools) tables() []function {
	return []function{
		{"ets", "all", []int{0}, constant(wire.List{})},
		{"ets", "info", []int{1, 2}, constant(wire.AtomUndefined)},
		{"ets", "whereis", []int{1}, constant(wire.AtomUndefined)},
	}
}
