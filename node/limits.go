package node

import (
	"errors"
	"time"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire/dist"
)

// Limits bound what other nodes can make this one hold. Those of a running node change with [Node.SetLimits].
type Limits struct {
	// Queue is how many bytes of messages may wait for one peer before senders are held up. Default: 1 MiB, as OTP's
	// +zdbbl.
	Queue int
	// Link bounds what one connection can make this node hold.
	Link dist.LinkLimits
	// Cluster bounds what all other nodes together can make it hold, and the share of each.
	Cluster ClusterLimits
}

// ClusterLimits bound what all other nodes together can make this one hold, and how much of it is each one's share.
// [Limits].Link is for one connection; this is for the node. The zero value of a field is its default; a negative one
// is an error. docs/guarantees.md says what happens at each.
type ClusterLimits struct {
	// Connections is how many connections there may be, in and out. Default: 8192.
	Connections int
	// ConnectionsPerSource is the most incoming connections from one address.
	// Default: half of Connections.
	ConnectionsPerSource int
	// Pending is how many connections to one listener may have proved nothing yet. Beyond that, the oldest from the
	// address that has the most is dropped. Default: 1024.
	Pending int
	// PendingPerSource is how many of them may be from one address. Beyond that, the oldest from that address is
	// dropped. An address is one of IPv4, or the /64 of one of IPv6; what comes over neither has no share. Default: an
	// eighth of Pending, at least 8.
	PendingPerSource int
	// Dials is how many connections this node makes at a time. Other dials wait, for ConnectTimeout at most, and have
	// ConnectTimeout once they begin. Nodes that a caller waits for (Connect, a call to a name, rpc.Spawn, Mesh), and
	// those that have been connected before, come first: a quarter of Dials is theirs alone, and 64 times Dials of them
	// may wait. Of those needed only for a message, a link or an exit signal, 16 times Dials may wait. Beyond that,
	// what is for them is lost at once, as for any node that cannot be reached. Default: 64.
	Dials int

	// Queued is how many bytes may wait to be sent, for all peers together. Above it each peer may have only its equal
	// share waiting before senders are held up. The first 64 KiB of each peer do not count. Default: 256 MiB.
	Queued int
	// Answers is how many bytes of answers and other signals that block no sender may wait for one peer that does not
	// read. Beyond that the connection ends, unless the peer takes them so fast that they would be gone within Stall,
	// and less than Queued waits for all peers; with four times as many it ends at once if the peer has taken nothing
	// meanwhile. The longest does not count while less than Queued waits for all peers. Default: 16 MiB.
	Answers int
	// Fragments is how many bytes the unfinished messages of all peers may take. The connection of a peer that needs
	// more ends. Default: 512 MiB, of which one peer may have half, but at least one message of the longest.
	Fragments int
	// Stall is how long a peer may take nothing while senders are held up for it, or while more than Limits.Queue waits
	// for it. Then the connection ends, at most a quarter of Stall later. With Grace it counts only while something
	// comes from the peer. Default: a quarter of TickTime.
	Stall time.Duration

	// Monitors is how many monitors one peer may have on processes here. Default: 262,144.
	Monitors int
	// Links is the most links that one peer may have to processes here. Default: 262,144.
	Links int
	// Spawned is how many processes that one peer has started here may be alive at a time: by spawns and calls, and by
	// requests to processes that say so with [Options].For, as supervisors and the operator's service do. Processes
	// started by a call that came through a process of this node, so that nobody knows the peer, count together.
	// Default: 131,072.
	Spawned int
	// Names is how many names one peer may have registered at a time: by spawns with a name, by calls, and by requests
	// to the services of this module. Default: 4,096.
	Names int

	// Held is how many bytes all peers together may make the node hold in monitors, links, processes and names, each counted with
	// what it costs. Beyond that a peer gets no more than its share, one part of as many as hold something: so peers with many
	// names have no more together than one. What is refused has the reason system_limit, as with the limits of one peer.
	// Default: 96 MiB.
	Held int
}

// DefaultClusterLimits returns the default limits of a node with that TickTime; 0: the default of TickTime.
func DefaultClusterLimits(tickTime time.Duration) ClusterLimits {
	return ClusterLimits(limits.Default(tickTime, peers.TicksPerTime))
}

// SetLimits replaces the limits of the [Distribution]; 0 is the default of a field. Queue and Link are for new
// connections. A lower limit ends nothing: more is refused until there is less. But the new Answers, Queued and Stall
// apply to what already waits to be sent.
func (n *Node) SetLimits(l Limits) error {
	if n.dist == nil {
		return errors.New("node: SetLimits: this node has no Distribution")
	}
	return n.dist.SetLimits(limits.Node{Queue: l.Queue, Link: l.Link, Cluster: limits.Cluster(l.Cluster)})
}

// LimitUsage returns the node's limits and how much of each is used: for metrics and tools. The order is always the
// same.
func (n *Node) LimitUsage() []observe.Limit {
	alive, _ := n.sys.Tally.Sum()
	all := []observe.Limit{{Name: "processes", Max: int64(n.cfg.MaxProcesses), Used: int64(alive)}}
	if n.dist != nil {
		for _, u := range append(n.dist.Limits(), n.dist.Holds()...) {
			all = append(all, observe.Limit(u))
		}
	}
	return all
}
