package dist

import "github.com/actornode/actornode/wire"

// Op is the kind of a [Frame]. The ops are Erlang's signals; see "Signals" in the Reference Manual and "Protocol between
// Connected Nodes" in the documents of erts.
type Op uint8

const (
	OpSend        Op = iota + 1 // Payload is a message for To, Name or the alias Ref
	OpLink                      // From links itself to To
	OpUnlink                    // From removes its link to To; ID numbers it, from 1 (0 if the peer does not use OpUnlinkAck)
	OpUnlinkAck                 // From has seen the OpUnlink with that ID from To
	OpExit                      // From, linked to To, has exited: Payload is the reason
	OpSignal                    // From sends To, Name or the alias Ref an exit signal (exit/2): Payload is the reason
	OpMonitor                   // From monitors To or Name, by Ref
	OpDemonitor                 // From removes the monitor Ref of To or Name
	OpDown                      // From or Name, monitored by To as Ref, has exited: Payload is the reason
	OpGroupLeader               // From makes Leader the group leader of To
	OpSpawn                     // From requests a process, described by Spawn; Ref identifies the request
	OpSpawnReply                // answer to OpSpawn Ref for To: From is the new process, or Payload is the error
	OpReceipt                   // answer to an OpSend with that ID: Payload is its outcome, [Delivered] or a cause
)

// Delivered is the Payload of an OpReceipt for a message that is in the mailbox.
const Delivered wire.Atom = "ok"

// ops are the names that String returns.
var ops = [...]string{"none", "send", "link", "unlink", "unlink_ack", "exit", "signal", "monitor", "demonitor", "down",
	"group_leader", "spawn", "spawn_reply", "receipt"}

// String returns the name of o.
func (o Op) String() string {
	if int(o) < len(ops) {
		return ops[o]
	}
	return "invalid"
}

// Frame is one signal between two nodes. The comment of each [Op] says which fields it uses.
type Frame struct {
	Op      Op
	Linked  bool      // of OpSpawnReply: the new process is linked to To
	Watched bool      // of OpSpawnReply: To monitors the new process as Ref
	Urgent  bool      // of OpSend and OpSignal: a priority message, if the protocol has them (OTP 28)
	Lossy   bool      // of OpSend: do not report the loss of this frame; the sender notices the connection's loss otherwise
	Answer  bool      // of OpSend: never blocks its sender, even if the queue is full
	Name    wire.Atom // a name registered on the receiver's node, or, of OpDown, on the sender's
	From    wire.PID  // zero if the protocol does not carry it
	To      wire.PID  //
	Ref     wire.Ref  // a monitor, an alias, or a spawn request
	ID      uint64    // of OpUnlink, OpUnlinkAck and OpReceipt; of OpSend, 0 unless the sender wants an OpReceipt
	Leader  wire.PID  // of OpGroupLeader
	Payload any       // a term; nil is the empty list
	Spawn   *Spawn    // of OpSpawn
	Token   any       // sequential trace token, to be passed on, or nil
}

// Spawn is the request of an OpSpawn.
type Spawn struct {
	Module, Function wire.Atom
	Args             []any
	Leader           wire.PID  // group leader for the new process
	Link, Monitor    bool      // set up atomically with From
	Name             wire.Atom // name to register, or ""
	Options          wire.List // all other options, unchanged: priority, and those of later releases
}
