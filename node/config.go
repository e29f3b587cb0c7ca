package node

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/wire"
)

// Config of a node. The zero value works.
type Config struct {
	// Name is the node's name, name@host. Default: nonode@nohost, the name that
	// Erlang gives a node which is not distributed.
	Name wire.Atom
	// Creation tells this run of the node from others under the same name. Default: a random number that is not 0.
	Creation uint32

	// Workers is how many goroutines run actors at the same time. Default:
	// GOMAXPROCS.
	Workers int
	// Stages is the number of stages, the groups that actors live in; see package sched. Default: 8 per worker; at most
	// 65,534.
	Stages int
	// Spread chooses the stage, from 0 to stages-1, of a process that parent (zero: from outside) spawns without a
	// Place. Another number fails the spawn. The process stays there. Spread is not asked about what an actor on a
	// stage of package stage spawns. Default: as [Place] says.
	Spread func(parent PID, stages int) int
	// Budget is how many messages an actor handles before the others of its stage have their turn. An actor with a long
	// queue handles half of the queue, unless Budget is 1, which means one message. Default: 256.
	Budget int
	// Blocked is how long a handler may run before it is logged and counted as blocking its stage. Default: 10 ms. At
	// most one a second is logged; all are counted. Such a handler loses a stage with other work sooner: as soon as a
	// worker has nothing to do, and at once where handlers have been taking long. Then more than Workers may run at the
	// same time, 256 at most. A node that has little to do may miss a handler that takes up to 66 ms longer.
	Blocked time.Duration

	// Coroutines runs every Process as a coroutine on the stages, as
	// [Options].Coroutine does for one. Default: on a goroutine of its own.
	Coroutines bool

	// DetectCycles is for tests and development: it finds cycles of processes of this node that wait for each other in
	// a [Call], an [Await] of a future of this node (active.Await, too), an [AwaitExit], a [SpawnWait] or a
	// supervisor's start of a child, or a send that waits for space in a mailbox with Options.Bounds. The wait that
	// closes one fails at once with [ErrCycle]. It counts as a wait for the process asked, even if that has handed the
	// request on. Each such wait takes a lock of the node. Default: such processes wait until a context ends;
	// [Node.Info] shows for whom.
	DetectCycles bool

	// Interceptors are called for what all Actors of the node handle. Default: none.
	Interceptors []Interceptor
	// SendInterceptors are called before what all processes of the node send, and its plain goroutines. Default: none.
	SendInterceptors []SendInterceptor

	// TokenLabel returns the label of the trace token that a [Call], [Deliver] or function of package rpc with ctx carries which
	// a plain goroutine makes; nil: no token. Many goroutines call it at a time. See packages seqtrace and otel. Default: none
	// of these carries a token.
	TokenLabel func(ctx context.Context) any

	// Isolation copies messages, or reports those that are changed after they were sent. Default: neither.
	Isolation isolation.Config

	// Distribution makes the node part of a cluster. Default: it is alone.
	Distribution *Distribution

	// MaxProcesses bounds how many processes live at a time. Default:
	// 134,217,727, as many as Erlang allows.
	MaxProcesses int
	// StopTimeout is how long Stop waits for processes that trap exits before
	// it kills them, and then for their functions to return. Default: 5 s.
	StopTimeout time.Duration

	// Log receives what an operator should see. Other nodes, and strangers who reach a
	// listener, can cause lines: package loglimit bounds them. Default: [slog.Default], as it is
	// when the node starts.
	Log *slog.Logger
}

// Limits of names and of the process table.
const (
	defaultBudget      = 256
	maxProcessesLimit  = 1<<27 - 1
	maxStages          = 1<<16 - 2
	defaultStopTimeout = 5 * time.Second
)

// validate fills in the defaults and says what is wrong with the rest.
func (c *Config) validate() error {
	if c.Name == "" {
		c.Name = "nonode@nohost"
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return cmp.Or(
		limits.NodeName(c.Name),
		limits.Setting("Workers", &c.Workers, 0, 0),
		limits.Setting("Stages", &c.Stages, 0, maxStages),
		limits.Setting("Budget", &c.Budget, defaultBudget, 0),
		limits.Setting("Blocked", &c.Blocked, 0, 0),
		limits.Setting("Isolation.MaxBytes", &c.Isolation.MaxBytes, 0, 0),
		limits.Setting("MaxProcesses", &c.MaxProcesses, maxProcessesLimit, maxProcessesLimit),
		limits.Setting("StopTimeout", &c.StopTimeout, defaultStopTimeout, 0))
}
