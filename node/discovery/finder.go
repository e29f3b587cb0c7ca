package discovery

import (
	"context"
	"time"

	"github.com/actornode/actornode/wire"
)

// Finder finds nodes.
type Finder interface {
	// Find returns the ways to reach a node, at least one, in no particular order.
	Find(ctx context.Context, name wire.Atom) ([]Endpoint, error)
	// Announce makes a node known until stop is called, which blocks as long as it must. ctx bounds the first attempt
	// only.
	Announce(ctx context.Context, me Announcement) (stop func(), err error)
}

// Announcement is what a node tells others about itself.
type Announcement struct {
	Name      wire.Atom
	Creation  uint32
	Endpoints []Endpoint // the addresses of its listeners: an unspecified host (0.0.0.0, ::) means all addresses
}

// Lister is a [Finder] that also knows which nodes there are. A [Mesh] needs one.
type Lister interface {
	// List returns the nodes that the finder knows of, each once, in any order; the asking one may be among them. With
	// an error it still returns the nodes that it knows. A node that is not listed may be running.
	List(ctx context.Context) ([]wire.Atom, error)
}

// Watcher is a [Lister] that knows when its list changes.
type Watcher interface {
	// Watch calls changed after changes of the list, until stop is called: perhaps once for several changes, and from
	// any goroutine. changed must return at once, and must not call the finder.
	Watch(changed func()) (stop func())
}

// Mesh keeps a node connected to all nodes that its Finder lists, instead of only to those that have been used here.
// The zero value works.
//
// Of two nodes the one with the smaller name connects, the other only if that has not happened within Yield: each pair
// connects once. Attempts are spread randomly over 5 ms per node of the list, so that a thousand nodes do not all
// connect to a new one at once. A lost connection is made again while the node is listed, whatever the reason for its
// loss, even Disconnect. Removing a node from the list ends no connection.
//
// With a Mesh, the default Finder lists the nodes of the node's own host; an [EPMD] must have Hosts.
type Mesh struct {
	// Interval is how often the finder is asked for its list; a [Watcher] is also asked when its list changes. Default:
	// 10 s.
	Interval time.Duration
	// Dials is how many connections are made at a time. Default: 16.
	Dials int
	// Backoff is the longest pause between attempts to connect to the same node; the first is 500 ms, each next one
	// twice as long, less up to half of it at random. The pauses also apply when several connections in a row have
	// lasted less than Backoff. Default: 1 minute.
	Backoff time.Duration
	// Yield is how long the node with the greater name waits for the other to
	// connect. Default: 2 s.
	Yield time.Duration
}
