package application

import (
	"container/list"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

// The requests to the controller's process. Most replies are errors.
type (
	startOne struct {
		genserver.Returns[struct{}]
		name wire.Atom
		typ  RestartType
	}
	stopOne struct {
		genserver.Returns[struct{}]
		name wire.Atom
	}
	stopAll struct{ genserver.Returns[struct{}] }
	unload  struct {
		genserver.Returns[struct{}]
		name wire.Atom
	}
	which struct{ genserver.Returns[[]Info] }
	isUp  struct { // whether an application runs
		genserver.Returns[bool]
		name wire.Atom
	}
	master struct { // the master of an application
		genserver.Returns[node.PID]
		name wire.Atom
	}
	child struct { // the top process of a master
		genserver.Returns[node.PID]
		master node.PID
	}
)

// controllerServer is the state of the controller's process, which alone changes it.
type controllerServer struct {
	*Controller
	starting map[wire.Atom]*instance
	running  list.List                   // of *instance, the last started first
	places   map[wire.Atom]*list.Element // in running
	masters  map[node.PID]*instance      // of starting and running instances
	started  map[wire.Atom]RestartType   // started and not stopped; may have ended
}

// instance is one instance of an application.
type instance struct {
	spec *Spec
	typ  RestartType
	pid  node.PID // the master, or zero for a library
	top  node.PID
	from []node.From // the callers that wait for the start
}

var controllerServers = genserver.Define(
	genserver.OnCall((*controllerServer).start),
	genserver.OnCall((*controllerServer).stop),
	genserver.OnCall((*controllerServer).stopAll),
	genserver.OnCall((*controllerServer).unload),
	genserver.OnCall((*controllerServer).which),
	genserver.OnCall((*controllerServer).isUp),
	genserver.OnCall((*controllerServer).master),
	genserver.OnCall((*controllerServer).child),
	genserver.OnInfo((*controllerServer).settled),
	genserver.OnInfo((*controllerServer).exited),
)

// Init implements genserver.Initializer.
func (k *controllerServer) Init(c *genserver.Context) error {
	c.TrapExit(true)
	return nil
}

func (k *controllerServer) start(c *genserver.Context, q startOne) (struct{}, error) {
	none := struct{}{}
	if r := k.starting[q.name]; r != nil {
		r.from = append(r.from, c.From())
		return none, genserver.ErrReplyLater
	}
	s := k.spec(q.name)
	typ, ok := q.typ.known()
	switch {
	case !ok:
		return none, bad("invalid_restart_type", wire.Atom(q.typ))
	case s == nil:
		return none, wrongState("not_loaded", q.name)
	case k.find(q.name) != nil:
		return none, wrongState("already_started", q.name)
	}
	for _, d := range s.Depends {
		if _, ok := k.started[d]; !ok && !s.isOptional(d) {
			return none, wrongState("not_started", d)
		}
	}
	r := &instance{spec: s, typ: typ}
	if s.isLibrary() {
		k.up(r)
		return none, nil
	}
	for _, d := range s.Depends {
		if k.find(d) == nil && !s.isOptional(d) {
			err := wrongState("not_running", d)
			k.failed(c, r, err)
			return none, err
		}
	}
	r.from = []node.From{c.From()}
	self := c.Self()
	var err error
	r.pid, err = c.SpawnOpt(node.Options{Link: true, Label: "application " + string(s.Name)},
		node.ProcessFunc(func(p *node.Process) error { return r.serve(p, self) }))
	if err != nil {
		return none, err
	}
	k.starting[q.name], k.masters[r.pid] = r, r
	return none, genserver.ErrReplyLater
}

// settled handles a master's report that the start has ended.
func (k *controllerServer) settled(c *genserver.Context, m startSettled) error {
	if k.starting[m.run.spec.Name] != m.run {
		return nil
	}
	delete(k.starting, m.run.spec.Name)
	if m.err != nil {
		reason := sysmsg.Reason(m.err)
		k.refuse(c, m.run, &Error{Code: startFailed, Name: m.run.spec.Name, Reason: reason, exited: reason == node.Normal})
		return nil
	}
	m.run.top = m.top
	k.up(m.run)
	for _, f := range m.run.from {
		f.Reply(struct{}{})
	}
	m.run.from = nil
	return nil
}

// up records that r is running.
func (k *controllerServer) up(r *instance) {
	k.places[r.spec.Name] = k.running.PushFront(r)
	k.started[r.spec.Name] = r.typ
	k.n.Log().Info("application started", "application", r.spec.Name)
}

// refuse answers the callers that wait for r with err: it has not started.
func (k *controllerServer) refuse(c *genserver.Context, r *instance, err error) {
	for _, f := range r.from {
		f.Fail(err)
	}
	k.failed(c, r, err)
}

// failed handles a failed start.
func (k *controllerServer) failed(c *genserver.Context, r *instance, err error) {
	k.n.Log().Error("application did not start", "application", r.spec.Name, "type", string(r.typ), "error", err)
	if r.typ == Permanent || r.typ == Transient && !exitedNormally(err) {
		c.Stop(&Error{Code: startFailure, Name: r.spec.Name, Reason: values.ErrorTerm(err), typ: r.typ})
	}
}

func exitedNormally(err error) bool {
	e, ok := err.(*Error)
	return ok && e.Code == startFailed && e.Reason == node.Normal
}

// exited handles the exit of a master, or of an unknown process. Without a sender the signal is that of Node.Stop.
func (k *controllerServer) exited(c *genserver.Context, m node.Exited) error {
	if m.From.IsZero() {
		c.Stop(m.Reason)
		return nil
	}
	r := k.masters[m.From]
	if r == nil {
		return nil
	}
	if name := r.spec.Name; k.starting[name] == r {
		delete(k.starting, name)
		delete(k.masters, m.From)
		k.refuse(c, r, &Error{Code: startFailed, Name: name, Reason: m.Reason, exited: true})
		return nil
	}
	k.down(r)
	k.n.Log().Warn("application ended", "application", r.spec.Name, "type", string(r.typ), "reason", sysmsg.Words(m.Reason))
	if r.typ == Permanent || r.typ == Transient && m.Reason != node.Normal {
		c.Stop(&Error{Code: terminated, Name: r.spec.Name, Reason: m.Reason, typ: r.typ})
	}
	return nil
}

func (k *controllerServer) stop(c *genserver.Context, q stopOne) (none struct{}, err error) {
	if _, ok := k.started[q.name]; !ok {
		return none, wrongState("not_started", q.name)
	}
	if r := k.find(q.name); r != nil {
		k.halt(c, r, halt{node.Normal})
	}
	delete(k.started, q.name)
	return none, nil
}

func (k *controllerServer) stopAll(c *genserver.Context, _ stopAll) (none struct{}, err error) {
	for r := k.last(); r != nil; r = k.last() {
		k.halt(c, r, halt{node.Normal})
	}
	clear(k.started)
	return none, nil
}

// halt stops r and waits for it; after its timeout it kills r.
func (k *controllerServer) halt(c *genserver.Context, r *instance, how halt) {
	k.down(r)
	k.n.Log().Info("application stopped", "application", r.spec.Name, "type", string(r.typ))
	if r.pid.IsZero() {
		return
	}
	c.Unlink(r.pid)
	c.Send(r.pid, how)
	ctx := context.Background()
	if d := r.spec.StopTimeout; d != node.Infinity {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	began := time.Now()
	if _, err := node.AwaitExit(ctx, c, r.pid); err != nil {
		k.n.Log().Error("killed an application that did not stop in time", "application", r.spec.Name, "after", time.Since(began))
		c.Exit(r.top, node.Kill)
		c.Exit(r.pid, node.Kill)
	}
}

// Terminate implements genserver.Terminator: it stops everything that is running.
func (k *controllerServer) Terminate(c *genserver.Context, reason any) {
	k.ends(reason)
	for _, r := range k.starting {
		c.Unlink(r.pid)
		c.Exit(r.pid, node.Kill)
	}
	for r := k.last(); r != nil; r = k.last() {
		k.halt(c, r, halt{node.Shutdown})
	}
}

func (k *controllerServer) unload(_ *genserver.Context, q unload) (none struct{}, err error) {
	if k.find(q.name) != nil {
		return none, wrongState("running", q.name)
	}
	return none, k.forget(q.name)
}

func (k *controllerServer) which(*genserver.Context, which) ([]Info, error) {
	all := make([]Info, 0, k.running.Len())
	for r := range k.runs() {
		all = append(all, r.spec.info())
	}
	return all, nil
}

func (k *controllerServer) isUp(_ *genserver.Context, q isUp) (bool, error) {
	return k.find(q.name) != nil, nil
}

func (k *controllerServer) master(_ *genserver.Context, q master) (pid node.PID, err error) {
	if r := k.find(q.name); r != nil {
		pid = r.pid
	}
	return pid, nil
}

func (k *controllerServer) child(_ *genserver.Context, q child) (pid node.PID, err error) {
	if r := k.masters[q.master]; r != nil {
		pid = r.top
	}
	return pid, nil
}

// find returns the instance of a running application.
func (k *controllerServer) find(name wire.Atom) *instance {
	if e := k.places[name]; e != nil {
		return e.Value.(*instance)
	}
	return nil
}

// last returns the instance that was started last, or nil.
func (k *controllerServer) last() *instance {
	if e := k.running.Front(); e != nil {
		return e.Value.(*instance)
	}
	return nil
}

// runs yields the running instances, the last started first.
func (k *controllerServer) runs() iter.Seq[*instance] {
	return func(yield func(*instance) bool) {
		for e := k.running.Front(); e != nil && yield(e.Value.(*instance)); e = e.Next() {
		}
	}
}

// down records that r is no longer running.
func (k *controllerServer) down(r *instance) {
	if e := k.places[r.spec.Name]; e != nil && e.Value == r {
		k.running.Remove(e)
		delete(k.places, r.spec.Name)
	}
	delete(k.masters, r.pid)
}

// State returns the state that sys:get_state and application:info show.
func (k *controllerServer) State() any {
	started, running, starting := wire.List{}, wire.List{}, wire.List{}
	for _, name := range slices.Sorted(maps.Keys(k.started)) {
		started = append(started, wire.Tuple{name, wire.Atom(k.started[name])})
	}
	for r := range k.runs() {
		var pid any = r.pid
		if r.pid.IsZero() {
			pid = wire.AtomUndefined
		}
		running = append(running, wire.Tuple{r.spec.Name, pid})
	}
	for _, name := range slices.Sorted(maps.Keys(k.starting)) {
		starting = append(starting, wire.Tuple{name, wire.Atom(k.starting[name].typ), node.Normal, wire.AtomUndefined})
	}
	part := func(name wire.Atom, l wire.List) any { return wire.Tuple{name, l} }
	return wire.List{part("loaded", terms(k.Loaded())), part("loading", nil), part("started", started),
		part("start_p_false", nil), part("running", running), part("starting", starting)}
}

func terms(all []Info) wire.List {
	l := make(wire.List, len(all))
	for i, a := range all {
		l[i] = sysmsg.Term(a)
	}
	return l
}
