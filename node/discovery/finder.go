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
	// Announce makes a node known until stop is called, which waits for what it has
	// to. ctx bounds the first attempt only.
	Announce(ctx context.Context, me Announcement) (stop func(), err error)
}

// Announcement is what a node has others know of it.
type Announcement struct {
	Name      wire.Atom
	Creation  uint32
	Endpoints []Endpoint // by the addresses of its listeners: an unspecified host (0.0.0.0, ::) is all of them
}

// Lister is a [Finder] that knows which nodes there are, and not only where one
// is. A [Mesh] needs one.
type Lister interface {
	// List returns the nodes that the finder knows of, each once, in any order; the
	// asking one may be among them. With an error it returns those that it knows in
	// spite of it. That a node is not listed says nothing of whether it runs.
	List(ctx context.Context) ([]wire.Atom, error)
}

// Watcher is a [Lister] that knows when its list changes.
type Watcher interface {
	// Watch has changed called after changes of the list, until stop is called; once
	// for several, perhaps, and from any goroutine. It must return at once, and must
	// not call the finder.
	Watch(changed func()) (stop func())
}

// Mesh keeps a node connected to all nodes that its Finder lists, instead of only
// to those that somebody here has used. The zero value works.
//
// Of two nodes the one with the smaller name connects, the other only if that has
// not happened within Yield: each pair connects once. All attempts are spread by
// chance, over 5 ms for each node of the list, so that a node that is new to a
// thousand others is not connected to by all of them at once. A connection that is
// lost, for whatever reason, Disconnect too, is made again while the node is
// listed; that a node is no longer listed ends no connection.
//
// The default Finder lists the nodes of the node's own host then; a [EPMD] must have Hosts.
type Mesh struct {
	// Interval is how often the finder is asked for its list; one that is a
	// [Watcher] also when it changes. Default: 10 s.
	Interval time.Duration
	// Dials is how many connections are made at a time. Default: 16.
	Dials int
	// Backoff is the longest pause between attempts to connect to the same node; the
	// first is 500 ms, each next one twice as long, and up to half of it is taken off
	// by chance. It is so, too, where several connections in a row have not lasted for
	// Backoff. Default: 1 minute.
	Backoff time.Duration
	// Yield is how long the node with the greater name waits for the other to
	// connect. Default: 2 s.
	Yield time.Duration
}
