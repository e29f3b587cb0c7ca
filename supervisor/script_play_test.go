package supervisor_test

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// dialect is a way to play a script: who makes the requests, and what its children are.
type dialect struct {
	name   string
	terms  bool // requests are Erlang's, children are exported behaviours; else by the functions of this package, with a Start
	inInit bool // a start that fails with an error, or is ignored, does so in Init; else in Start
}

// play is one script on a node of its own. One worker runs all its processes, so that things are recorded in the order
// in which they happen.
type play struct {
	dialect
	t     *testing.T
	n     *node.Node
	root  node.PID
	hook  node.PID // gets the ends of all processes
	defs  map[string]*supDef
	kids  []*childDef
	turns map[string]int // number of starts and instances of each name
	count map[string]int

	mu       sync.Mutex // guards what follows
	line     string
	trace    []string
	ends     []string
	names    map[string]node.PID
	runs     map[node.PID]*childRun
	held     map[string]holding
	starting bool
}

// childRun is a process of a script, from its start on.
type childRun struct {
	pid      node.PID
	name     string // "": it has not started
	kind     kind
	started  bool   // of a supervisor: the process that started it knows
	child    string // of a supervisor: the name of its child
	parent   node.PID
	reported bool // its end has been recorded
	gone     bool
	asked    []question // not answered yet
}

type question struct {
	ref  node.Ref
	line string
}

type kind uint8

const (
	root kind = iota
	aScriptedChild
	aSup
)

// holding is a process that waits for a release.
type holding struct {
	who  node.PID
	sups []node.PID // wait for it
}

func newPlay(t *testing.T, d dialect) *play {
	n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1, Coroutines: true, Log: slog.New(slog.DiscardHandler)})
	p := &play{dialect: d, t: t, n: n, defs: make(map[string]*supDef), turns: make(map[string]int), count: make(map[string]int),
		names: make(map[string]node.PID), runs: make(map[node.PID]*childRun), held: make(map[string]holding)}
	var err error
	p.hook, err = n.SpawnOpt(node.Options{Mailbox: ends{p}}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	for arity := 1; arity <= 3; arity++ {
		require.NoError(t, rpc.ExportBehaviour(n, wire.Export{Module: module, Function: "start", Arity: arity},
			func(args []any) (node.Actor, error) {
				return p.start(p.kids[args[0].(int)], args[1:])
			}))
	}
	p.root, err = n.Spawn(node.ProcessFunc(p.runRoot))
	require.NoError(t, err)
	p.runs[p.root] = &childRun{pid: p.root, name: "root", kind: root}
	p.names["root"] = p.root
	return p
}

// play plays a script and returns the recorded text.
func (p *play) play(script []block) string {
	var out []string
	for _, b := range script {
		line, unordered := strings.CutPrefix(b.line, "unordered ")
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "sup" {
			p.define(rest, b.below)
			continue
		}
		p.mu.Lock()
		p.line = line
		p.mu.Unlock()
		p.command(verb, rest, b.below)
		p.settle()
		p.mu.Lock()
		trace, ends := p.trace, p.ends
		p.trace, p.ends = nil, nil
		p.mu.Unlock()
		if unordered {
			slices.Sort(trace)
		}
		slices.Sort(ends)
		out = append(out, b.line)
		for _, e := range append(trace, ends...) {
			out = append(out, "  "+e)
		}
	}
	p.mu.Lock()
	pids := make([]node.PID, 0, len(p.runs))
	for pid := range p.runs {
		pids = append(pids, pid)
	}
	p.mu.Unlock()
	for _, pid := range pids {
		p.n.Exit(pid, node.Kill)
	}
	synctest.Wait()
	return strings.Join(out, "\n")
}

// The messages for processes of a script.
type (
	doStart struct {
		line string
		def  *supDef
	}
	doSignal struct {
		to     node.PID
		reason any
	}
	doExit    struct{ reason any }
	doUnlink  struct{}
	doRelease struct{}
)

func (p *play) command(verb, rest string, below []string) {
	who, more, _ := strings.Cut(rest, " ")
	switch verb {
	case "start":
		p.mu.Lock()
		p.starting = true
		p.mu.Unlock()
		p.send(p.root, doStart{p.line, p.defs[who]})
	case "start_child":
		p.startChild(who, more)
	case "which":
		p.ask(who, wire.Atom("which_children"), func(s *node.Process, sup node.PID) (any, error) {
			kids, err := supervisor.WhichChildren(context.Background(), s, sup)
			l := wire.List{}
			for _, k := range kids {
				l = append(l, sysmsg.Term(k))
			}
			return l, err
		})
	case "count":
		p.ask(who, wire.Atom("count_children"), func(s *node.Process, sup node.PID) (any, error) {
			c, err := supervisor.CountChildren(context.Background(), s, sup)
			return sysmsg.Term(c), err
		})
	case "check":
		p.check(who, below)
	case "call":
		p.genCall(p.line, p.pid(who), p.term(more))
	case "cast":
		p.send(p.pid(who), wire.Tuple{wire.Atom("$gen_cast"), p.term(more)})
	case "send":
		p.send(p.pid(who), p.term(more))
	case "exit":
		p.send(p.pid(who), doExit{p.term(more)})
	case "signal":
		p.send(p.root, doSignal{p.pid(who), p.term(more)})
	case "stray":
		_, err := p.n.Spawn(node.ProcessFunc(func(s *node.Process) error {
			s.Exit(p.pid(who), p.term(more))
			return nil
		}))
		require.NoError(p.t, err)
	case "unlink":
		p.send(p.pid(who), doUnlink{})
	case "release":
		p.mu.Lock()
		h, ok := p.held[who]
		delete(p.held, who)
		p.mu.Unlock()
		if ok {
			p.send(h.who, doRelease{})
		}
	case "pass":
		ms, err := strconv.Atoi(who)
		require.NoError(p.t, err)
		time.Sleep(time.Duration(ms) * time.Millisecond)
	case "terminate_child", "restart_child", "delete_child", "get_childspec":
		p.askByID(verb, who, more)
	default:
		p.t.Errorf("no such command: %s", verb)
	}
}

func (p *play) askByID(verb, sup, text string) {
	var id any
	if name, ok := strings.CutPrefix(text, "@"); ok {
		id = p.pid(name)
	} else {
		id = p.term(text)
	}
	p.ask(sup, wire.Tuple{wire.Atom(verb), id}, func(s *node.Process, sup node.PID) (any, error) {
		ctx := context.Background()
		switch verb {
		case "terminate_child":
			return wire.AtomOK, supervisor.TerminateChild(ctx, s, sup, id)
		case "restart_child":
			return started(supervisor.RestartChild(ctx, s, sup, id))
		case "delete_child":
			return wire.AtomOK, supervisor.DeleteChild(ctx, s, sup, id)
		}
		k, err := supervisor.ChildSpec(ctx, s, sup, id)
		if err != nil {
			return nil, err
		}
		return wire.Tuple{wire.AtomOK, sysmsg.Term(k)}, nil
	})
}

func (p *play) startChild(sup, text string) {
	if strings.HasPrefix(text, "[") {
		args := p.term(text)
		p.ask(sup, wire.Tuple{wire.Atom("start_child"), args}, func(s *node.Process, sup node.PID) (any, error) {
			l, _ := args.(wire.List)
			return started(supervisor.StartDynamic(context.Background(), s, sup, l...))
		})
		return
	}
	spec := p.child(text)
	p.ask(sup, wire.Tuple{wire.Atom("start_child"), spec}, func(s *node.Process, sup node.PID) (any, error) {
		k, err := supervisor.ParseChild(spec)
		if err != nil {
			return nil, err
		}
		return started(supervisor.StartChild(context.Background(), s, sup, p.inGo(k)))
	})
}

func started(pid node.PID, err error) (any, error) {
	if pid.IsZero() {
		return wire.Tuple{wire.AtomOK, wire.AtomUndefined}, err
	}
	return wire.Tuple{wire.AtomOK, pid}, err
}

// check is check_childspecs.
func (p *play) check(key string, below []string) {
	auto := supervisor.AnySignificant // as strict as OTP's default
	switch key {
	case "auto_shutdown=never":
		auto = supervisor.Never
	case "auto_shutdown=all_significant":
		auto = supervisor.AllSignificant
	case "auto_shutdown=sometimes":
		auto = "sometimes"
	}
	var kids []supervisor.Child
	for _, b := range below {
		k, err := supervisor.ParseChild(p.child(b))
		if err != nil {
			p.replied(p.line, errorTerm(err))
			return
		}
		kids = append(kids, p.inGo(k))
	}
	if err := supervisor.CheckSpecs(kids, auto); err != nil {
		p.replied(p.line, errorTerm(err))
		return
	}
	p.replied(p.line, wire.AtomOK)
}

// ask makes a request to a supervisor, in Erlang or by f.
func (p *play) ask(sup string, request any, f func(s *node.Process, sup node.PID) (any, error)) {
	line, pid := p.line, p.pid(sup)
	if p.terms {
		p.genCall(line, pid, request)
		return
	}
	_, err := p.n.Spawn(node.ProcessFunc(func(s *node.Process) error {
		result, err := f(s, pid)
		if err != nil {
			result = errorTerm(err)
		}
		p.replied(line, result)
		return nil
	}))
	require.NoError(p.t, err)
}

// genCall is gen_server:call without a timeout; its result is recorded when the reply comes or the process ends.
func (p *play) genCall(line string, to node.PID, request any) {
	p.mu.Lock()
	l := p.runs[to]
	if l.gone {
		p.mu.Unlock()
		p.replied(line, wire.Tuple{wire.Atom("EXIT"), node.NoProc})
		return
	}
	ref := p.n.MakeRef()
	l.asked = append(l.asked, question{ref, line})
	p.mu.Unlock()
	p.send(to, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{p.hook, ref}, request})
}

// answered records the reply to a genCall.
func (p *play) answered(ref node.Ref, reply any) {
	p.mu.Lock()
	var line string
	for _, l := range p.runs {
		if i := slices.IndexFunc(l.asked, func(q question) bool { return q.ref == ref }); i >= 0 {
			line = l.asked[i].line
			l.asked = slices.Delete(l.asked, i, i+1)
		}
	}
	p.mu.Unlock()
	p.replied(line, reply)
}

// errorTerm is what OTP's supervisor module returns in place of err.
func errorTerm(err error) any {
	word := func(w wire.Atom) any { return wire.Tuple{wire.AtomError, w} }
	switch err {
	case supervisor.ErrNotFound:
		return word("not_found")
	case supervisor.ErrRunning:
		return word("running")
	case supervisor.ErrRestarting:
		return word("restarting")
	case supervisor.ErrAlreadyPresent:
		return word("already_present")
	case supervisor.ErrSimple:
		return word("simple_one_for_one")
	}
	switch e := err.(type) {
	case *node.ExitError:
		return wire.Tuple{wire.Atom("EXIT"), e.Reason}
	case *supervisor.StartError:
		return wire.Tuple{wire.AtomError, e.Reason}
	}
	return wire.Tuple{wire.AtomError, values.ErrorTerm(err)}
}

// runRoot is the process that starts supervisors.
func (p *play) runRoot(s *node.Process) error {
	s.TrapExit(true)
	for {
		switch m := s.Receive().(type) {
		case doStart:
			var result any
			pid, err := node.SpawnWait(context.Background(), s, node.Options{Link: true}, &observed{p: p, def: m.def})
			switch e := err.(type) {
			case nil:
				result = wire.Tuple{wire.AtomOK, pid}
			case *node.ExitError:
				result = wire.Tuple{wire.AtomError, e.Reason}
			default:
				require.ErrorIs(p.t, err, node.ErrIgnore)
				result = wire.Atom("ignore")
			}
			p.mu.Lock()
			p.starting = false
			p.mu.Unlock()
			p.replied(m.line, result)
		case doSignal:
			s.Exit(m.to, m.reason)
		}
	}
}

// settle waits until nothing is under way: until each supervisor that is not held up has answered.
func (p *play) settle() {
	for changed := true; changed; {
		synctest.Wait()
		before := p.changes()
		ctx, cancel := context.WithCancel(context.Background())
		var mu sync.Mutex
		answered := make(map[node.PID]bool)
		for _, pid := range p.supervisors() {
			go func() {
				_, _ = supervisor.CountChildren(ctx, p.n, pid)
				mu.Lock()
				defer mu.Unlock()
				answered[pid] = true
			}()
		}
		for waited := 0; ; waited++ {
			synctest.Wait()
			mu.Lock()
			ready := true
			for _, pid := range p.supervisors() {
				ready = ready && answered[pid]
			}
			mu.Unlock()
			if ready {
				break
			}
			if waited == 30_000 {
				p.t.Errorf("no answer: %s", p.line)
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
		synctest.Wait()
		changed = p.changes() != before
	}
}

func (p *play) changes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.trace) + len(p.ends)
}

// supervisors returns those that are alive and not held up.
func (p *play) supervisors() (pids []node.PID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	blocked := make(map[node.PID]bool)
	for _, h := range p.held {
		for _, sup := range h.sups {
			blocked[sup] = true
		}
	}
	for pid, l := range p.runs {
		if l.kind == aSup && !l.gone && !blocked[pid] {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *play) send(to node.PID, m any) { require.NoError(p.t, p.n.Send(to, m)) }

func (p *play) replied(line string, result any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.repliedLocked(line, result)
}

func (p *play) repliedLocked(line string, result any) {
	text := "-> " + p.show(result)
	if line != p.line {
		text = line + " " + text
	}
	p.trace = append(p.trace, text)
}

func (p *play) record(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trace = append(p.trace, text)
}

func (p *play) pid(name string) node.PID {
	p.mu.Lock()
	defer p.mu.Unlock()
	pid, ok := p.names[name]
	if !ok {
		p.t.Errorf("no process is called %q", name)
	}
	return pid
}

func (p *play) term(text string) any {
	term, err := wire.Parse(text)
	if err != nil {
		p.t.Errorf("%q: %v", text, err)
	}
	return term
}

// watched is a request that is never answered: it ends with the process.
type watched struct{}

// watch arranges that the end of the present process is recorded.
func (p *play) watch(c *node.Context, k kind) *childRun {
	l := &childRun{pid: c.Self(), kind: k, parent: c.Parent()}
	p.mu.Lock()
	p.runs[l.pid] = l
	p.mu.Unlock()
	node.Async[any](c, c.Self(), watched{}).SendTo(p.hook, l)
	return l
}

// registerName gives a process its name.
func (p *play) registerName(l *childRun, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count[name]++
	if n := p.count[name]; n > 1 {
		name += strconv.Itoa(n)
	}
	l.name = name
	p.names[name] = l.pid
}

// ended records the end of a process.
func (p *play) ended(l *childRun, reason any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.gone = true
	for name, h := range p.held {
		if h.who == l.pid {
			delete(p.held, name)
		}
	}
	for _, q := range l.asked {
		p.repliedLocked(q.line, wire.Tuple{wire.Atom("EXIT"), reason})
	}
	switch {
	case l.name == "" || l.reported:
	case l.kind == aSup:
		p.ends = append(p.ends, "ended "+l.name+" "+p.show(reason))
	default:
		p.trace = append(p.trace, "down "+l.name+" "+p.show(reason))
	}
}

// hold notes that a process waits for a release.
func (p *play) hold(name string, who, sup node.PID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := holding{who: who}
	for l := p.runs[sup]; l != nil && l.kind == aSup; l = p.runs[l.parent] {
		h.sups = append(h.sups, l.pid)
	}
	p.held[name] = h
	p.trace = append(p.trace, "holding "+name)
}

// ends is the mailbox of the process that gets the ends of all others and the replies to requests of Erlang: each
// message is recorded at once, in the place where it happens.
type ends struct{ p *play }

func (e ends) Push(m any) mailbox.Result {
	switch m := m.(type) {
	case node.Result:
		e.p.ended(m.Tag.(*childRun), m.Err.(*node.ExitError).Reason)
	case wire.Tuple:
		e.p.answered(m[0].(node.Ref), m[1])
	}
	return mailbox.Queued
}

func (ends) Pop() (any, bool) { return nil, false }
func (ends) Done()            {}
func (ends) Len() int         { return 0 }
func (ends) Close()           {}
