package node

import "github.com/actornode/actornode/node/observe"

// Peers describes the nodes that this one is connected to, or is connecting, in
// alphabetical order, hidden ones included.
func (n *Node) Peers() []observe.Peer {
	if n.dist == nil {
		return nil
	}
	all := n.dist.All()
	infos := make([]observe.Peer, 0, len(all))
	for _, p := range all {
		if i, ok := p.Info(); ok {
			infos = append(infos, observe.Peer{
				Name: p.Name, Creation: i.About.ID.Creation, Up: i.Up, Protocol: i.About.Protocol, Addr: i.About.Addr,
				Hidden: i.About.Hidden, Since: i.Since, Queue: i.Queue, Frames: i.Frames, Held: i.Held,
				Links: i.Counts.Links, Monitors: i.Counts.Monitors, Watchers: i.Counts.Watchers, Calls: i.Counts.Requests,
				BytesIn: i.In, BytesOut: i.Out, FramesIn: i.FramesIn, FramesOut: i.FramesOut, LastIn: i.LastIn,
			})
		}
	}
	return infos
}
