package observe

import (
	"time"

	"github.com/actornode/actornode/wire"
)

// State is what a process is doing.
type State string

const (
	Idle      State = "idle"      // an Actor with nothing to do
	Scheduled State = "scheduled" // an Actor in its stage's run queue
	Running   State = "running"   // in a handler, or in a Process's own code
	Waiting   State = "waiting"   // a Process in Receive or in a Call
	Exiting   State = "exiting"   // its links and monitors are being told
	Dead      State = "dead"      // gone
)

// Process describes a process, as Node.Info and Node.Infos return it. The process works on
// while it is observed, so the fields are of moments that follow each other closely. PID,
// Parent, Started, Label and Leader of a process change seldom or never. Name, Behaviour, Code,
// TrapExit, Links, Monitors, Watchers and Calls are of one moment. State, Stage, Mailbox and
// Handled are each of a moment of their own, some nanoseconds to microseconds before that: a
// process that takes a message meanwhile may be [Idle] with a message in its Mailbox, or show
// the message both there and in Handled.
type Process struct {
	PID       wire.PID
	Name      wire.Atom // registered; "": none
	Label     string
	Behaviour string   // Go type of the current behaviour
	Code      string   // path of the package of that type; of a function its name
	Leader    wire.PID // group leader
	State     State
	Stage     int // -1: not run by a stage

	// Mailbox is how many messages wait, the one that an Actor handles included; of a mailbox
	// that Mailbox of node.Options supplies, what its Len returns. A message that is being
	// handed to a blocking process which waits for it may not be among them.
	Mailbox  int
	Handled  uint64 // messages that it has taken; of an Actor, without the one that it handles
	TrapExit bool
	Links    []wire.PID
	Monitors []wire.PID // whom it monitors by PID or alias
	Named    []wire.At  // whom it monitors by name, on this node and others
	Watchers []wire.PID // who monitors it
	Parent   wire.PID   // zero: spawned from outside
	Started  time.Time
	Traced   bool // see package node/trace
	Calls    int  // of this node that wait for its reply, or by AwaitExit for its exit
	Wait     Wait // what it waits for

	Activations Activations // of active objects, that wait
	Unhandled   Unhandled   // messages that an Actor leaves in its mailbox
	Bound       Bound       // of its mailbox, if Bounds of node.Options has set one

	Owned  bool // ends when nobody can reach it any more: see package node/lifetime
	Daemon bool // is not waited for: see Daemon of node.Options
}

// Bound is what a mailbox takes. The zero value: as much as there is memory.
type Bound struct {
	Messages int    // 0: no limit
	Bytes    int    // 0: no limit
	Policy   string // what happens to a message that does not fit: refuse, block, drop newest, drop oldest
	Lost     uint64 // messages refused or dropped so far; with the policy block, none
}

// Unhandled says how many messages an Actor has left in its mailbox, by node.ErrUnhandled, since its behaviour last
// changed. 1,024 and more are logged, and so are those that are older than a minute when somebody looks. The zero
// value: none.
type Unhandled struct {
	Count  int
	Oldest string    // Go type of the oldest
	Since  time.Time // when the oldest was left; up to 250 ms early
}

// Activations says how many activations of active objects wait, for what, and since when: from when they
// were suspended until they run again. See package node/active. The zero value: none.
type Activations struct {
	Future    int       // by Await
	Condition int       // by Until
	Turn      int       // by Suspend
	Asleep    int       // by Sleep
	Since     time.Time // since when the one waits that has waited for longest; up to 250 ms early
}

// ActiveObject is a behaviour that has activations. Activations is called at any time, by any goroutine,
// and must not wait.
type ActiveObject interface{ Activations() Activations }

// Wait is what a process waits for, as it was at one moment. The zero value: for nothing. An Actor
// waits in its handler only: one that has nothing to do is [Idle].
type Wait struct {
	// For is "message" (in a receive), "reply" (to a call), "future" (its value), "exit" (of a
	// process: AwaitExit), "start" (of a process: SpawnWait), "receipt" (of a message: Deliver) or
	// "space" (in a mailbox, or for what is to be sent to a node), or "blocking" (in stage.Blocking: for
	// what its own code does).
	For string

	// On is the process that it waits for: of a future the one that completes it, as far as that is
	// known. A process of this node is a PID, one of another a PID or an At, and a node as such an
	// At without a Name. Nil: no single one.
	On wire.Dest

	Since time.Time // up to 250 ms early
}
