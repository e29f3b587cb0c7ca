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

// Config is the configuration of a daemon. The one from [Default] lacks only a name.
type Config struct {
	Name       string            // NAME@HOST
	Cookie     string            // "": from CookieFile, or the user's file
	File       string            // that it was read from, or ""
	CookieFile string            // "": .erlang.cookie in the home directory
	Cookies    map[string]Cookie // by the name of the peer
	OldCookies []string          // also accepted, for peers that do not have the new cookie yet

	// CookieOverlap is how long the previous cookie stays valid after a running daemon changes it.
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
		Queue     int // bytes that may wait for a peer before senders block
		Fragments int // incomplete fragmented messages from a peer
		Processes int // alive at a time; 0: the maximum
		Mailbox   mailbox.Bounds
		Cluster   node.ClusterLimits // for all peers together, and for each
		PGMembers int                // of other nodes in groups
		PGGroups  int                // that these are in
		HTTP      int                // connections
		Memory    int                // bytes that the program may use; 0: from the cgroup or the machine
	}
	TickTime       time.Duration
	ConnectTimeout time.Duration
	Awake          time.Duration // that a reader polls for the next message before it sleeps
	Grace          time.Duration // for resuming a broken connection before its loss is reported
	Compress       int           // bytes of the smallest message that is compressed; 0: no compression

	Log struct {
		Level  slog.Level
		Format string // text or json
		File   string // "": standard error
		Lines  int    // per second, of one kind
		Bytes  int    // of one line
	}
	HTTP struct {
		Listen         string // HOST:PORT, :PORT; "": off
		Metrics, Pprof bool
	}
	DrainTimeout time.Duration

	PG, Demo     bool
	DetectCycles bool
	Stages       int // of the scheduler; 0: by the number of processors
	Ports        struct {
		Remote bool // whether programs may be started outside the tree
	}
	TreeFile string     // a file with the tree
	Tree     *tree.File // from that file, or from this one; nil if none

	treeText string            // the YAML of the tree, from its file or from this one
	distPort bool              // ERL_DIST_PORT replaces EPMD
	origins  map[string]Origin // of settings other than defaults, by key
}

// Cookie holds the cookie that this node accepts from a peer, and the one that the peer expects.
type Cookie struct{ In, Out string }

// Default returns the configuration with every setting at its default.
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
