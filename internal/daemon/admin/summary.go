package admin

import (
	"fmt"
	"math/big"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Time is a time.Time; as a term, microseconds since 1970.
type Time struct{ time.Time }

// Summary is the state of a node. Counters are since its start.
type Summary struct {
	Node      node.Atom     `json:"node"`
	Creation  uint32        `json:"creation"`
	Version   string        `json:"version"` // of the daemon
	Go        string        `json:"go"`      // of the Go runtime
	OS        string        `json:"os"`      // linux/amd64
	PID       int           `json:"pid"`     // of the operating system
	Started   Time          `json:"started"`
	Uptime    time.Duration `json:"uptime" etf:",ms"`
	Ready     bool          `json:"ready"`
	NotReady  string        `json:"not_ready,omitzero" etf:",omitzero"` // the reason
	Draining  bool          `json:"draining"`
	LogLevel  node.Atom     `json:"log_level,omitzero" etf:",omitzero"` // "" if not available
	Listeners []string      `json:"listeners"`                          // addresses

	Processes    int `json:"processes"`
	MaxProcesses int `json:"max_processes"`
	Names        int `json:"names"`     // registered
	Lingering    int `json:"lingering"` // killed processes whose function has not returned
	Stages       int `json:"stages"`
	RunQueue     int `json:"run_queue"`  // actors waiting for a stage
	Runnable     int `json:"runnable"`   // goroutines waiting for a processor
	Goroutines   int `json:"goroutines"` // of the program
	CPUs         int `json:"cpus"`       // available to the program

	Handled      uint64               `json:"handled"` // messages, by all processes
	BlockedTurns uint64               `json:"blocked_turns"`
	DeadLetters  map[node.Atom]uint64 `json:"dead_letters"` // by cause

	Memory Memory  `json:"memory"`
	Peers  []Peer  `json:"peers"`
	Global *Global `json:"global,omitzero" etf:",omitzero"` // nil if the node is hidden, or its name server does not answer
}

// Global describes the global names of a published node.
type Global struct {
	Known     []node.Atom `json:"known"`     // nodes that share names with it
	Synced    []node.Atom `json:"synced"`    // those of Known that have confirmed it
	Unreached []node.Atom `json:"unreached"` // nodes of the cluster that could not be reached in the last five minutes
	Names     int         `json:"names"`
	Locks     int         `json:"locks"` // resources locked on it
}

// Memory is the memory of the program in bytes, as reported by Go's runtime.
type Memory struct {
	Total   int           `json:"total"`   // obtained from the operating system and not returned
	Objects int           `json:"objects"` // live or not yet collected
	Stacks  int           `json:"stacks"`
	Cycles  int           `json:"cycles"` // garbage collections
	Paused  time.Duration `json:"paused" etf:",us"`
}

// Peer is another node, as seen by this one.
type Peer struct {
	Name      node.Atom     `json:"name"`
	State     node.Atom     `json:"state"` // connecting, up, lost
	Protocol  string        `json:"protocol,omitzero" etf:",omitzero"`
	Addr      string        `json:"addr,omitzero" etf:",omitzero"`
	Creation  uint32        `json:"creation"`
	Hidden    bool          `json:"hidden"`
	Since     Time          `json:"since"`            // since when connected, lost or not connected
	Queue     int           `json:"queue"`            // bytes waiting to be written, estimated
	Frames    int           `json:"frames"`           // signals waiting to be written
	Held      bool          `json:"held"`             // senders are blocked
	BytesIn   uint64        `json:"bytes_in"`         // since the connection was made
	BytesOut  uint64        `json:"bytes_out"`        //
	FramesIn  uint64        `json:"frames_in"`        //
	FramesOut uint64        `json:"frames_out"`       //
	Silent    time.Duration `json:"silent" etf:",ms"` // since the last input, with the precision of the node's ticks

	// For a node that should be connected but is not: one listed by the mesh, or one that was lost.
	Wanted  bool   `json:"wanted"`                                // the mesh lists it
	Failure string `json:"failure,omitzero" etf:",omitzero"`      // of the connection, or of the last attempt
	Next    Time   `json:"next_attempt,omitzero" etf:",omitzero"` // zero if in progress, or due with the next message to it
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
