package config

import (
	"log/slog"
	"time"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/pg"
	grants "github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/supervisor/tree"
)

// Config is what a daemon runs by. [Default] makes one that lacks a name only.
type Config struct {
	Name       string            // NAME@HOST
	Cookie     string            // "": from CookieFile, or the user's file
	File       string            // that it was read from; "": none
	CookieFile string            // "": .erlang.cookie in the home directory
	Cookies    map[string]Cookie // of some peers, by name
	OldCookies []string          // used beside the cookie, for peers that do not have it yet

	// CookieOverlap is how long the cookie before it is used after a change while the daemon runs.
	CookieOverlap time.Duration

	Hidden bool
	Global struct { // of a published node: see package node/global
		ConnectAll, PreventOverlaps bool
	}

	Listen struct {
		Erlang string // HOST:PORT, :PORT, -; "": the host of Name, any port
		Native string
	}
	TLS struct {
		Cert, Key, CA string // files; all or none
		AnyHost       bool
		MinVersion    string // 1.2 or 1.3
	}
	Protocols []string // the preferred one first
	Operators Operators
	Rights    grants.Config
	Allow     Rights

	Discovery Discovery

	Limits struct {
		Message   int // bytes of one message from a peer
		Queue     int // bytes that may wait for a peer until senders are held up
		Fragments int // messages of a peer that are under way in pieces
		Processes int // that live at a time; 0: as many as there can be
		Mailbox   mailbox.Limits
		Cluster   node.ClusterLimits // of all peers together, and the share of each
		PGMembers int                // of other nodes in groups
		PGGroups  int                // that these are in
		HTTP      int                // connections
		Memory    int                // bytes that the program may take; 0: by the cgroup or the machine
	}
	TickTime       time.Duration
	ConnectTimeout time.Duration
	Awake          time.Duration // that a reader looks for the next message before it sleeps; 0: it does not
	Grace          time.Duration // that a broken connection may take to be mended unnoticed; 0: none
	Compress       int           // bytes of the smallest message that is compressed; 0: none is

	Log struct {
		Level  slog.Level
		Format string // text or json
		File   string // "": standard error
		Lines  int    // a second, of one kind
		Bytes  int    // of one line
	}
	HTTP struct {
		Listen         string // HOST:PORT, :PORT; "": off
		Metrics, Pprof bool
	}
	DrainTimeout time.Duration

	PG, Demo     bool
	DetectCycles bool
	Stages       int // groups of actors that the scheduler runs; 0: by the processors
	Ports        struct {
		Remote bool // whether others than the tree may start programs
	}
	TreeFile string     // a file with the tree
	Tree     *tree.File // from that file, or from this one; nil: none

	treeText string            // the YAML of the tree, from its file or from this one
	distPort bool              // ERL_DIST_PORT says what EPMD would
	origins  map[string]Origin // of what is not the default, by key
}

// Cookie is the cookie that this node accepts from a peer, and the one that the peer wants.
type Cookie struct{ In, Out string }

// Default returns the configuration of a daemon without any settings.
func Default() *Config {
	c := &Config{
		Cookies: make(map[string]Cookie), CookieOverlap: time.Hour, Hidden: true, Protocols: []string{"native", "erlang"},
		TickTime: time.Minute, ConnectTimeout: 7 * time.Second, Awake: 100 * time.Microsecond, DrainTimeout: 10 * time.Second, PG: true,
		Operators: Operators{All: true}, Allow: Rights{All: true},
		Rights:  grants.Config{Cookies: make(map[string]string)},
		origins: make(map[string]Origin),
	}
	c.TLS.MinVersion = "1.2"
	c.Global.ConnectAll, c.Global.PreventOverlaps = true, true
	c.Discovery.EPMD, c.Discovery.Peers = true, make(map[string][]discovery.Endpoint)
	c.Discovery.DNS = DNS{Network: "ip4", Base: "go", TTL: 5 * time.Second, Timeout: 3 * time.Second}
	c.Discovery.Gossip = Gossip{Pace: "lan", Retry: 30 * time.Second, LeaveTimeout: time.Second,
		MaxStreams: 16, MaxStreamsPerSource: 2, MaxStreamBytes: 4 << 20, StreamTimeout: 5 * time.Second}
	c.Limits.Message, c.Limits.Queue, c.Limits.Fragments = 256<<20, 4<<20, 64
	c.Limits.Cluster, c.Limits.HTTP = node.DefaultClusterLimits(c.TickTime), 64
	c.Limits.PGMembers, c.Limits.PGGroups = pg.DefaultMembers, pg.DefaultGroups
	c.Limits.Cluster.Stall = 0 // by the TickTime of the file
	c.Log.Level, c.Log.Format = slog.LevelInfo, "text"
	c.Log.Lines, c.Log.Bytes = 10, 4<<10
	c.HTTP.Metrics = true
	return c
}
