package dist

import "github.com/actornode/actornode/wire"

// Op says what a [Frame] asks of the node that gets it. The ops are Erlang's
// signals; see "Signals" in the Reference Manual and "Protocol between Connected
// Nodes" in the documents of erts.
type Op uint8

const (
	OpSend        Op = iota + 1 // Payload is a message for To, Name or the alias Ref
	OpLink                      // From links itself to To
	OpUnlink                    // From takes its link to To away; ID numbers it, from 1 (0: a peer that wants no OpUnlinkAck)
	OpUnlinkAck                 // From has seen the OpUnlink with that ID from To
	OpExit                      // From, linked to To, has exited: Payload is the reason
	OpSignal                    // From sends To, Name or the alias Ref an exit signal by exit/2: Payload is the reason
	OpMonitor                   // From monitors To or Name, by Ref
	OpDemonitor                 // From takes the monitor Ref of To or Name away
	OpDown                      // From or Name, monitored by To as Ref, has exited: Payload is the reason
	OpGroupLeader               // From makes Leader the group leader of To
	OpSpawn                     // From asks for a process: Spawn says which; Ref numbers the request
	OpSpawnReply                // answer to OpSpawn Ref for To: From is the new process, or Payload says why there is none
	OpReceipt                   // answer to an OpSend with that ID: Payload is what has become of it, [Delivered] or a cause
)

// Delivered is the Payload of an OpReceipt where the message is in the mailbox.
const Delivered wire.Atom = "ok"

// ops are the names in String's answers.
var ops = [...]string{"none", "send", "link", "unlink", "unlink_ack", "exit", "signal", "monitor", "demonitor", "down",
	"group_leader", "spawn", "spawn_reply", "receipt"}

// String returns the name of o.
func (o Op) String() string {
	if int(o) < len(ops) {
		return ops[o]
	}
	return "invalid"
}

// Frame is one signal on its way between two nodes. Which fields mean something
// is said at each [Op].
type Frame struct {
	Op      Op
	Linked  bool      // of OpSpawnReply: the new process is linked to To
	Watched bool      // of OpSpawnReply: To monitors the new process as Ref
	Urgent  bool      // of OpSend and OpSignal: a priority message, if the protocol has them (OTP 28)
	Lossy   bool      // of OpSend: the sender learns of the connection's loss otherwise, so the loss of this frame is not reported
	Answer  bool      // of OpSend: its sender is not held up for it, however much waits
	Name    wire.Atom // a registered name on the receiver's node; of OpDown on the sender's
	From    wire.PID  // zero where the protocol does not tell
	To      wire.PID  //
	Ref     wire.Ref  // a monitor, an alias, or the number of a spawn request
	ID      uint64    // of OpUnlink, OpUnlinkAck and OpReceipt; of an OpSend, 0 unless the sender wants an OpReceipt
	Leader  wire.PID  // of OpGroupLeader
	Payload any       // a term; nil is the empty list
	Spawn   *Spawn    // of OpSpawn
	Token   any       // sequential trace token, to be passed on; nil: none
}

// Spawn is what an OpSpawn asks for.
type Spawn struct {
	Module, Function wire.Atom
	Args             []any
	Leader           wire.PID  // group leader for the new process
	Link, Monitor    bool      // with From, from the beginning
	Name             wire.Atom // to be registered; "": none
	Options          wire.List // the others, as they came: priority, and what later releases add
}
