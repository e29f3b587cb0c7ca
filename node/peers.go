package node

import "time"

// PeerInfo describes a connection to another node, as it was at one moment.
type PeerInfo struct {
	Name     Atom
	Creation uint32
	Up       bool   // false: it is being connected, and what follows is zero but for what waits and the tables
	Protocol string // name of the protocol
	Addr     string
	Hidden   bool // not to be seen by nodes()
	Since    time.Time

	Queue  int  // bytes that wait to be written, estimated
	Frames int  // signals that wait before they are encoded
	Held   bool // more waits than Distribution.Queue: senders are held up

	Links    int // between processes here and there; one that is taken away counts until the peer has said so
	Monitors int // of processes there, or of the node itself, by processes here
	Watchers int // monitors of processes here by processes there
	Calls    int // calls and spawns from here that wait for an answer from there

	BytesIn, BytesOut   uint64    // of this connection, ticks included
	FramesIn, FramesOut uint64    // signals: messages, links, monitors, …; out 0 where the protocol does not tell (linkopt.Counter)
	LastIn              time.Time // when something came, as exact as the ticks: a quarter of Distribution.TickTime
}

// Peers describes the nodes that this one is connected to, or is connecting, in
// alphabetical order, hidden ones included.
func (n *Node) Peers() []PeerInfo {
	if n.dist == nil {
		return nil
	}
	all := n.dist.All()
	infos := make([]PeerInfo, 0, len(all))
	for _, p := range all {
		if i, ok := p.Info(); ok {
			infos = append(infos, PeerInfo{
				Name: p.Name, Creation: i.About.ID.Creation, Up: i.Up, Protocol: i.About.Protocol, Addr: i.About.Addr,
				Hidden: i.About.Hidden, Since: i.Since, Queue: i.Queue, Frames: i.Frames, Held: i.Held,
				Links: i.Counts.Links, Monitors: i.Counts.Monitors, Watchers: i.Counts.Watchers, Calls: i.Counts.Requests,
				BytesIn: i.In, BytesOut: i.Out, FramesIn: i.FramesIn, FramesOut: i.FramesOut, LastIn: i.LastIn,
			})
		}
	}
	return infos
}
