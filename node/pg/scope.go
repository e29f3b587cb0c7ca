package pg

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

var errNoWatcher = errors.New("pg: only a process can monitor groups")

// Errors that callers branch on. errors.Is finds them.
var (
	ErrNotLocal  = errors.New("pg: only processes of the scope's own node can join or leave groups")
	ErrNotJoined = errors.New("pg: none of the processes is a member of the group")
)

// Config of a scope. The zero value works.
type Config struct {
	// Name of the scope, under which its process is registered. Scopes of the same
	// name on different nodes make one. Default: pg, as OTP's default scope.
	Name node.Atom
	// Seek is how long the scope waits before it looks again for its process on connected nodes where it has not found
	// it. A process that starts there after the connection is found after at most twice that; see the package's
	// documentation. Default: 2 s.
	Seek time.Duration
	// Link links the scope's process to the one that calls Start.
	Link bool
	// Keep makes the node keep the scope's process up, and protects it. A restarted process begins as [Scope.Actor]
	// says: processes of this node must join again, monitors are over, and the members on other nodes are there as soon
	// as these have answered. Not together with Link.
	Keep bool

	// Members is how many memberships of processes of other nodes the scope keeps, all nodes together; one node may
	// have half of them. A monitor by a process of another node counts as one. Default: 2,000,000, which take some 100
	// MB.
	Members int
	// Groups is how many groups these are in; one node may be in half as many. A name of more than 1 KiB counts as one
	// more group for each KiB, and may have 64 KiB. Default: 200,000.
	//
	// What exceeds Members or Groups is refused, appears in [Scope.Limits], and is logged once for each node: of the
	// members of a join, or of an element of a sync, the first ones are taken, up to the limit; a request is answered
	// with the error system_limit. The same numbers bound how many processes of this node may join by requests of other
	// nodes. Go code of this program is not bounded.
	Groups int
}

const (
	defaultName node.Atom = "pg"
	defaultSeek           = 2 * time.Second
)

// Scope is a set of groups, as this node sees it. Any number of goroutines may call its methods. Those that read look
// at a table and cost next to nothing; those that change something call the scope's process.
//
// A group is named by a term of package wire; two names are one if [wire.Equal] says so. Members are listed in no
// particular order, and as often as they have joined. If a scope's process does not run, all its groups are empty.
type Scope struct {
	cfg    Config
	limits limits
	table  atomic.Pointer[table] // of the process that runs; never nil
}

// New makes a scope whose process does not run yet; see [Scope.Actor].
func New(cfg Config) (*Scope, error) {
	if cfg.Name == "" {
		cfg.Name = defaultName
	}
	if cfg.Seek == 0 {
		cfg.Seek = defaultSeek
	}
	if cfg.Keep && cfg.Link {
		return nil, errors.New("pg: Config.Keep and Config.Link cannot be combined")
	}
	if cfg.Seek < 0 {
		return nil, fmt.Errorf("pg: Config.Seek %v: want 0 for the default, or more", cfg.Seek)
	}
	if err := cfg.fillLimits(); err != nil {
		return nil, err
	}
	s := &Scope{cfg: cfg}
	s.limits.set(cfg.Members, cfg.Groups)
	s.table.Store(new(table))
	return s, nil
}

// Start starts a scope on the caller's node: pg:start, or with Config.Link
// pg:start_link. Errors: what is wrong with the Config, [node.ErrNameTaken] (the
// scope runs already: see [Find]), and those of [node.SpawnWait].
func Start(ctx context.Context, from node.Caller, cfg Config) (*Scope, error) {
	s, err := New(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Keep {
		err = s.keep(ctx, from)
	} else {
		_, err = node.SpawnWait(ctx, from, node.Options{Name: s.cfg.Name, Link: cfg.Link, ShowPeer: true}, s.Actor())
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// keep starts the scope's process as a service of the node.
func (s *Scope) keep(ctx context.Context, from node.Caller) error {
	n := from.Inside(process.Key{}).Node()
	_, err := n.Inside(process.Key{}).Keep(ctx, process.Kept[node.Actor]{
		Name: s.cfg.Name, ShowPeer: true, New: func() node.Actor { return s.Actor() }, System: true,
		Ask: func(ctx context.Context, pid node.PID) error {
			_, err := genserver.Call(ctx, n, pid, find{})
			return err
		},
	})
	return err
}

// Find returns the scope that runs on the caller's node under a name. Errors:
// those of [node.Call], [node.ErrNoName] in particular.
func Find(ctx context.Context, from node.Caller, name node.Atom) (*Scope, error) {
	return genserver.Call(ctx, from, name, find{})
}

// Actor makes the scope's process, which registers itself. It is for supervisors;
// each may be spawned once, and one at a time may run. A new one begins with no
// members of its own node.
func (s *Scope) Actor() node.Actor { return kind.New(&scopeProcess{scope: s}) }

// Name returns the name of the scope.
func (s *Scope) Name() node.Atom { return s.cfg.Name }

// Join puts processes of this node into a group: pg:join. A process that joins
// several times is there several times. It leaves when it exits. Errors:
// [ErrNotLocal] and [node.ErrArgument], after which no process has joined; those of
// [node.Call].
func (s *Scope) Join(ctx context.Context, from node.Caller, group any, pids ...node.PID) error {
	_, err := genserver.Call(ctx, from, s.cfg.Name, joining{group: group, pids: slices.Clone(pids)})
	return err
}

// Leave takes processes of this node out of a group, once each: pg:leave. Processes
// that are not in it are ignored. Errors: [ErrNotJoined] if none was,
// [ErrNotLocal]; those of [node.Call].
func (s *Scope) Leave(ctx context.Context, from node.Caller, group any, pids ...node.PID) error {
	_, err := genserver.Call(ctx, from, s.cfg.Name, leaving{group: group, pids: slices.Clone(pids)})
	return err
}

// LeaveAll takes all processes of this node out of all groups, as many times as they have joined, and returns how many
// memberships have ended. Call it before the node stops, so that others send its members nothing more. A process that
// joins afterwards is a member again. Errors: those of [node.Call].
func (s *Scope) LeaveAll(ctx context.Context, from node.Caller) (int, error) {
	return genserver.Call(ctx, from, s.cfg.Name, leavingAll{})
}

// Members returns the members of a group, on all nodes: pg:get_members.
func (s *Scope) Members(group any) []node.PID { return slices.Clone(s.table.Load().look(group).all) }

// LocalMembers returns the members of a group on this node: pg:get_local_members.
func (s *Scope) LocalMembers(group any) []node.PID {
	return slices.Clone(s.table.Load().look(group).local)
}

// Each yields the members of a group when the loop begins. It copies nothing.
func (s *Scope) Each(group any) iter.Seq[node.PID] {
	pids := s.table.Load().look(group).all
	return func(yield func(node.PID) bool) {
		for _, p := range pids {
			if !yield(p) {
				return
			}
		}
	}
}

// Groups returns the names of all groups that have members: pg:which_groups.
// Binaries are strings.
func (s *Scope) Groups() []any {
	var all []any
	for g := range s.table.Load().groups() {
		all = append(all, g.term)
	}
	return all
}

// LocalGroups returns the names of all groups that have members of this node:
// pg:which_local_groups.
func (s *Scope) LocalGroups() []any {
	var all []any
	for g := range s.table.Load().groups() {
		if g.locals.Load() > 0 {
			all = append(all, g.term)
		}
	}
	return all
}

// Change tells a process that monitors a group that processes have joined or left it. Its slice is shared with others,
// and must not be changed.
type Change struct {
	Ref   node.Ref // of the monitor
	Join  bool     // else they have left
	Group any
	PIDs  []node.PID // as often as they have joined or left
}

// term is {Ref, join|leave, Group, Pids}: what a monitor on another node gets.
func (c Change) term() any {
	verb := leave
	if c.Join {
		verb = join
	}
	return wire.Tuple{c.Ref, verb, c.Group, pidList(c.PIDs)}
}

// Members are the members of a group.
type Members struct {
	Group any
	PIDs  []node.PID
}

// Monitor returns the members of a group, and sends each change from then on as a
// [Change] to the caller, which must be a process: pg:monitor.
// It ends with the caller, the scope's process, or Demonitor.
func (s *Scope) Monitor(ctx context.Context, from node.Caller, group any) (node.Ref, []node.PID, error) {
	w, err := genserver.Call(ctx, from, s.cfg.Name, watching{group: group})
	if err != nil {
		return node.Ref{}, nil, err
	}
	return w.ref, slices.Clone(w.pids), nil
}

// MonitorScope is Monitor for all groups, including those to come: pg:monitor_scope.
func (s *Scope) MonitorScope(ctx context.Context, from node.Caller) (node.Ref, []Members, error) {
	w, err := genserver.Call(ctx, from, s.cfg.Name, watching{all: true})
	if err != nil {
		return node.Ref{}, nil, err
	}
	for i := range w.members {
		w.members[i].PIDs = slices.Clone(w.members[i].PIDs)
	}
	return w.ref, w.members, nil
}

// Demonitor ends a monitor: pg:demonitor. It reports whether there was one. If
// from is a [*node.Process], changes that wait in its mailbox are removed; an Actor
// may still get those that came before.
func (s *Scope) Demonitor(ctx context.Context, from node.Caller, ref node.Ref) (bool, error) {
	was, err := genserver.Call(ctx, from, s.cfg.Name, unwatching{ref: ref})
	if self, ok := from.(*node.Process); ok && was {
		for err == nil {
			_, err = self.ReceiveWithin(0, func(m any) bool { c, ok := m.(Change); return ok && c.Ref == ref })
		}
		if errors.Is(err, node.ErrTimeout) {
			err = nil
		}
	}
	return was, err
}

// checkGroup checks whether a group can be sent to other nodes.
func checkGroup(group any) error {
	if _, err := etf.Append(nil, group); err != nil {
		return fmt.Errorf("%w: pg: the name of a group must be an Erlang term: %w", node.ErrArgument, err)
	}
	return nil
}

func init() {
	termof.Enter(Change.term)
	values.Enter(ErrNotJoined, ErrNotLocal)
	node.Know(process.Key{}, node.TypeOf[Change]("$pg.Change"))
}
