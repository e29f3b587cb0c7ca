package admin

import (
	"fmt"
	"math/big"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Time is a moment; as a term, microseconds since 1970.
type Time struct{ time.Time }

// Summary is how a node does. Counters are since its start.
type Summary struct {
	Node      node.Atom     `json:"node"`
	Creation  uint32        `json:"creation"`
	Version   string        `json:"version"` // of the daemon
	Go        string        `json:"go"`      // of the Go runtime
	OS        string        `json:"os"`      // linux/amd64
	PID       int           `json:"pid"`     // of the operating system's process
	Started   Time          `json:"started"`
	Uptime    time.Duration `json:"uptime" etf:",ms"`
	Ready     bool          `json:"ready"`
	NotReady  string        `json:"not_ready,omitzero" etf:",omitzero"` // why not
	Draining  bool          `json:"draining"`
	LogLevel  node.Atom     `json:"log_level,omitzero" etf:",omitzero"` // "": it cannot be asked for
	Listeners []string      `json:"listeners"`                          // addresses

	Processes    int `json:"processes"`
	MaxProcesses int `json:"max_processes"`
	Names        int `json:"names"`     // registered
	Lingering    int `json:"lingering"` // killed, with a function that has not returned
	Stages       int `json:"stages"`
	RunQueue     int `json:"run_queue"`  // actors that wait for a stage
	Runnable     int `json:"runnable"`   // goroutines that wait for a processor
	Goroutines   int `json:"goroutines"` // of the program
	CPUs         int `json:"cpus"`       // that it may use

	Handled      uint64               `json:"handled"` // messages, by all processes
	BlockedTurns uint64               `json:"blocked_turns"`
	DeadLetters  map[node.Atom]uint64 `json:"dead_letters"` // by cause

	Memory Memory  `json:"memory"`
	Peers  []Peer  `json:"peers"`
	Global *Global `json:"global,omitzero" etf:",omitzero"` // nil: the node is hidden, or its name server does not answer
}

// Global is what a published node shares with others.
type Global struct {
	Known     []node.Atom `json:"known"`     // nodes that share names with it
	Synced    []node.Atom `json:"synced"`    // those of them that have said so
	Unreached []node.Atom `json:"unreached"` // nodes of the cluster that could not be connected in the last five minutes
	Names     int         `json:"names"`
	Locks     int         `json:"locks"` // resources that are locked on it
}

// Memory is the program's, in bytes, as Go's runtime has it.
type Memory struct {
	Total   int           `json:"total"`   // from the operating system, less what was given back
	Objects int           `json:"objects"` // live, and not yet collected
	Stacks  int           `json:"stacks"`
	Cycles  int           `json:"cycles"` // garbage collections
	Paused  time.Duration `json:"paused" etf:",us"`
}

// Peer is another node, as this one sees it.
type Peer struct {
	Name      node.Atom     `json:"name"`
	State     node.Atom     `json:"state"` // connecting, up, lost
	Protocol  string        `json:"protocol,omitzero" etf:",omitzero"`
	Addr      string        `json:"addr,omitzero" etf:",omitzero"`
	Creation  uint32        `json:"creation"`
	Hidden    bool          `json:"hidden"`
	Since     Time          `json:"since"`            // connected; lost or not connected
	Queue     int           `json:"queue"`            // bytes that wait to be written, estimated
	Frames    int           `json:"frames"`           // signals that wait to be written
	Held      bool          `json:"held"`             // senders are held up
	BytesIn   uint64        `json:"bytes_in"`         // since the connection was made
	BytesOut  uint64        `json:"bytes_out"`        //
	FramesIn  uint64        `json:"frames_in"`        //
	FramesOut uint64        `json:"frames_out"`       //
	Silent    time.Duration `json:"silent" etf:",ms"` // since something came; as exact as the node's ticks

	// Of a node that is not connected although it is to be: one that the mesh lists, or one that was lost.
	Wanted  bool   `json:"wanted"`                                // the mesh lists it
	Failure string `json:"failure,omitzero" etf:",omitzero"`      // why it is lost, or why the last attempt has failed
	Next    Time   `json:"next_attempt,omitzero" etf:",omitzero"` // zero: it is under way, or comes with the next message to it
}

// Term is part of etf.Termer.
func (t Time) Term() any {
	if t.IsZero() {
		return 0
	}
	return wire.IntegerOf(big.NewInt(t.UnixMicro()))
}

// SetTerm is part of etf.Receiver.
func (t *Time) SetTerm(term any) error {
	n, ok := wire.AsInt(term)
	switch {
	case !ok:
		return fmt.Errorf("admin: a time is an integer, not %s", brief(term))
	case n == 0:
		t.Time = time.Time{}
	default:
		t.Time = time.UnixMicro(n)
	}
	return nil
}
