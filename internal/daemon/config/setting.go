package config

import (
	"slices"
	"strings"

	"github.com/actornode/actornode/mailbox"
)

// Setting is one field of the configuration, and all the ways to set it.
type Setting struct {
	Key    string // in the file: log.level
	Flag   string // of actornode start, without --, or ""
	Not    string // the flag that says the opposite of a boolean, or ""
	NotDoc string // the description of Not
	Doc    string // a sentence without a full stop
	Secret bool   // not to be shown
	Value  Value  // its storage
}

// Env is the environment variable of s, such as ACTORNODE_LOG_LEVEL.
func (s *Setting) Env() string {
	return "ACTORNODE_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Typed reports whether the syntax of a text alone can show that it is invalid for s, as for a time or a number: a flag
// with such a text is a usage error.
func (s *Setting) Typed() bool {
	switch s.Value.(type) {
	case text, path, peers, list, cookies, namedCookies, rules:
		return false
	}
	return true
}

// protocols are the names of the protocols that a node may speak.
var protocols = []string{"native", "erlang"}

// policies are those of package mailbox, by their names in the file.
var policies = []string{
	mailbox.Refuse: "refuse", mailbox.Block: "block", mailbox.DropNewest: "drop_newest", mailbox.DropOldest: "drop_oldest",
}

// Settings lists all fields except those of the tree, in the order of the documentation; they set the fields of c.
// docs/configuration.md, the flags, the environment and the file all come from this list.
func (c *Config) Settings() []Setting { return slices.Concat(c.cluster(), c.found(), c.own()) }

// cluster returns the settings about other nodes.
func (c *Config) cluster() []Setting {
	return []Setting{
		{Key: "name", Flag: "name", Value: text{&c.Name, "NAME@HOST", checkName},
			Doc: "name of the node; a HOST with a dot, or an address, makes it a long name (erl -name), else it is a short name (erl " +
				"-sname); default: with discovery.dns.host, discovery.dns.base@ADDRESS with the address of this host"},
		{Key: "cookie", Flag: "cookie", Secret: true, Value: text{&c.Cookie, "1 to 255 printable ASCII characters", CheckCookie},
			Doc: "cookie of the cluster; without cookie and cookie_file, the cookie in .erlang.cookie in the home directory is used, " +
				"and created if it does not exist"},
		{Key: "cookie_file", Flag: "cookie-file", Value: path{&c.CookieFile},
			Doc: "file with the cookie, which only its owner may be able to read"},
		{Key: "cookies", Secret: true, Value: cookies{c.Cookies},
			Doc: "cookies for single peers, by name: one cookie, or {in: cookie that the peer must know, out: cookie that the peer " +
				"expects}"},
		{Key: "old_cookies", Secret: true, Value: list{&c.OldCookies, "cookie", "a cookie", CheckCookie, true},
			Doc: "other cookies that are accepted from peers and gossip members, and tried, while the cookie of a cluster is being " +
				"changed; peers in cookies have their own alone"},
		{Key: "cookie_overlap", Value: duration{&c.CookieOverlap, 0},
			Doc: "how long the previous cookie is still accepted, and tried, after SIGHUP has changed the cookie"},
		{Key: "hidden", Flag: "hidden", Not: "published", NotDoc: "appear in nodes() of other nodes, and take part in global",
			Value: flag{&c.Hidden},
			Doc:   "stay out of nodes() of other nodes, and of global"},
		{Key: "global.connect_all", Value: flag{&c.Global.ConnectAll},
			Doc: "a published node connects to all others, and shares names and locks with them; the same on all nodes"},
		{Key: "global.prevent_overlapping_partitions", Value: flag{&c.Global.PreventOverlaps},
			Doc: "a published node disconnects from nodes that others have lost; the same on all nodes"},
		{Key: "listen.erlang", Flag: "listen", Value: text{&c.Listen.Erlang, "HOST:PORT, :PORT for all addresses, or - to not listen",
			checkListen},
			Doc: "address to listen on for the Erlang distribution protocol; default: the host of the name, any free port"},
		{Key: "listen.native", Flag: "listen-native",
			Value: text{&c.Listen.Native, "HOST:PORT, :PORT for all addresses, or - to not listen", checkListen},
			Doc:   "address to listen on for the native protocol of actornodes; default: the host of listen.erlang, any free port"},
		{Key: "tls.cert", Flag: "tls-cert", Value: path{&c.TLS.Cert},
			Doc: "PEM file with the certificate of this node and its intermediate certificates; turns on TLS"},
		{Key: "tls.key", Flag: "tls-key", Value: path{&c.TLS.Key},
			Doc: "PEM file with the private key of the certificate"},
		{Key: "tls.ca", Flag: "tls-ca", Value: path{&c.TLS.CA},
			Doc: "PEM file with the authorities (CA) that sign the certificates of peers"},
		{Key: "tls.any_host", Flag: "tls-any-host", Value: flag{&c.TLS.AnyHost},
			Doc: "accept a peer whose certificate is not for the host in its name, as OTP does"},
		{Key: "tls.min_version", Value: word{&c.TLS.MinVersion, []string{"1.2", "1.3"}},
			Doc: "oldest TLS version to accept"},
		{Key: "protocols", Flag: "protocols", Value: words{&c.Protocols, protocols},
			Doc: "protocols for connections to other nodes, the preferred one first"},
		{Key: "operators", Flag: "operators", Value: operators{&c.Operators},
			Doc: "nodes that may change something through the operator service (kill, spawn, connect, trace, drain, stop, …); " +
				"all others may only read; only TLS, or cookies for single peers, prove the name of a node; off: no operator service"},
		{Key: "allow", Flag: "allow", Value: rights{&c.Allow},
			Doc: "exported functions that other nodes may start or call: MODULE:FUNCTION/ARITY or MODULE:*, optionally after " +
				"NAME@HOST or *@HOST and a space, for these nodes only"},
		{Key: "rights.cookies", Secret: true, Value: namedCookies{c.Rights.Cookies},
			Doc: "further cookies that a connecting node may use instead of cookie, by names for the rules"},
		{Key: "rights.rules", Value: rules{&c.Rights.Rules},
			Doc: "what other nodes may do, in addition to operators and allow: the first rule decides of which peer (NAME@HOST, * " +
				"matches any characters), tls (dns:NAME, uri:URI or cn:NAME of the certificate) and cookie (a name in " +
				"rights.cookies) all match; may lists its rights: all, connect, send [NAME], call [NAME], spawn [M:F/A], " +
				"rpc [M:F/A], signal, admin_read, admin_act, trace, profile"},
	}
}

// own returns the other settings.
func (c *Config) own() []Setting {
	return []Setting{
		{Key: "limits.message", Value: size{&c.Limits.Message, 1 << 10}, Doc: "largest message that a peer may send"},
		{Key: "limits.queue", Value: size{&c.Limits.Queue, 1 << 10},
			Doc: "bytes that may wait to be sent to one peer before senders block"},
		{Key: "limits.fragments", Value: count{&c.Limits.Fragments, 1, 1 << 16},
			Doc: "maximum number of incomplete messages (in fragments) of one peer at a time"},
		{Key: "limits.processes", Value: count{&c.Limits.Processes, 0, maxProcesses},
			Doc: "maximum number of processes alive at a time; 0: 134217727"},
		{Key: "limits.connections", Value: count{&c.Limits.Cluster.Connections, 1, maxCount},
			Doc: "maximum number of connections with other nodes, incoming and outgoing"},
		{Key: "limits.connections_per_source", Value: count{&c.Limits.Cluster.ConnectionsPerSource, 1, maxCount},
			Doc: "maximum number of incoming connections from one address"},
		{Key: "limits.pending", Value: count{&c.Limits.Cluster.Pending, 1, maxCount},
			Doc: "maximum number of connections to one listener that have not yet proved to know the cookie; " +
				"above that the oldest is dropped"},
		{Key: "limits.pending_per_source", Value: count{&c.Limits.Cluster.PendingPerSource, 1, maxCount},
			Doc: "maximum number of such connections from one address; above that the oldest from that address is dropped"},
		{Key: "limits.dials", Value: count{&c.Limits.Cluster.Dials, 1, maxCount},
			Doc: "maximum number of outgoing connections being made at a time; further ones wait"},
		{Key: "limits.queued", Value: size{&c.Limits.Cluster.Queued, 64 << 10},
			Doc: "bytes that may wait to be sent to all peers together, by default at most a sixteenth of limits.memory; " +
				"above that the senders to a peer block once it uses more " +
				"than an equal share"},
		{Key: "limits.answers", Value: size{&c.Limits.Cluster.Answers, 64 << 10},
			Doc: "bytes of answers and other signals that may wait for one peer that does not read; above that its connection ends"},
		{Key: "limits.fragment_bytes", Value: size{&c.Limits.Cluster.Fragments, 64 << 10},
			Doc: "memory for incomplete messages of all peers together, by default at most an eighth of limits.memory; one peer may " +
				"use half of it"},
		{Key: "limits.stall", Value: duration{&c.Limits.Cluster.Stall, 0},
			Doc: "how long a peer may accept no bytes while senders wait for it; after that its connection ends; 0s: a " +
				"quarter of tick_time"},
		{Key: "limits.monitors", Value: count{&c.Limits.Cluster.Monitors, 1, maxCount},
			Doc: "maximum number of monitors that one peer may have on processes here"},
		{Key: "limits.links", Value: count{&c.Limits.Cluster.Links, 1, maxCount},
			Doc: "maximum number of links that one peer may have to processes here"},
		{Key: "limits.spawned", Value: count{&c.Limits.Cluster.Spawned, 1, maxCount},
			Doc: "maximum number of processes alive at a time that one peer has started here"},
		{Key: "limits.held", Value: size{&c.Limits.Cluster.Held, 1 << 20},
			Doc: "bytes of monitors, links, processes and names of all peers, by default at most a sixteenth of limits.memory; " +
				"above that each peer is limited to its share"},
		{Key: "limits.names", Value: count{&c.Limits.Cluster.Names, 1, maxCount},
			Doc: "maximum number of names registered here by one peer at a time"},
		{Key: "limits.pg_members", Value: count{&c.Limits.PGMembers, 2, maxCount},
			Doc: "maximum number of memberships in process groups that all other nodes together may have here; one node may " +
				"have half of them"},
		{Key: "limits.pg_groups", Value: count{&c.Limits.PGGroups, 2, maxCount},
			Doc: "maximum number of process groups that these memberships may be in; one node may have half of " +
				"them; a group's name counts as one more group for each KiB"},
		{Key: "limits.http", Value: count{&c.Limits.HTTP, 1, maxCount},
			Doc: "maximum number of connections to http.listen; above that the one that has been idle the longest is closed"},
		{Key: "limits.memory", Value: memory{&c.Limits.Memory},
			Doc: "memory that the program may use; 0: GOMEMLIMIT if that is set, else the cgroup's limit less a tenth and 48MiB, or " +
				"85% of the machine's memory"},
		{Key: "limits.mailbox.messages", Value: count{&c.Limits.Mailbox.Messages, 0, maxCount},
			Doc: "maximum number of messages waiting in the mailbox of a worker of the tree; 0: no limit"},
		{Key: "limits.mailbox.bytes", Value: size{&c.Limits.Mailbox.Bytes, 0},
			Doc: "maximum number of bytes waiting in the mailbox of a worker of the tree; 0: no limit"},
		{Key: "limits.mailbox.policy", Value: policy{&c.Limits.Mailbox.Policy},
			Doc: "what happens to a message when such a mailbox is full"},
		{Key: "tick_time", Flag: "tick-time", Value: duration{&c.TickTime, minTick},
			Doc: "how long a peer may be silent before its connection ends; OTP's net_ticktime"},
		{Key: "connect_timeout", Value: duration{&c.ConnectTimeout, minTick}, Doc: "how long making a connection may take"},
		{Key: "awake", Value: duration{&c.Awake, 0},
			Doc: "how long a reader busy-waits (uses a core) for the next message of a peer while messages come quickly; 0s: never"},
		{Key: "grace", Flag: "grace", Value: duration{&c.Grace, 0},
			Doc: "how long a broken native connection may take to be restored without loss before links and monitors fire; at most " +
				"half of tick_time; 0s: they fire at once, as in Erlang"},
		{Key: "compress", Flag: "compress", Value: size{&c.Compress, 0},
			Doc: "smallest native message, in bytes, that is compressed; 0: none"},
		{Key: "log.level", Flag: "log-level", Value: level{&c.Log.Level}, Doc: "lowest level that is logged: debug, info, warn, error"},
		{Key: "log.format", Flag: "log-format", Value: word{&c.Log.Format, []string{"text", "json"}},
			Doc: "format of the log: text, json"},
		{Key: "log.file", Flag: "log-file", Value: path{&c.Log.File}, Doc: "file that the log is appended to; default: standard error"},
		{Key: "log.lines", Value: count{&c.Log.Lines, 1, maxCount},
			Doc: "maximum number of lines of one kind written per second (ten times as many below level warn); the next line tells how " +
				"many were left out"},
		{Key: "log.bytes", Value: size{&c.Log.Bytes, 256},
			Doc: "longest line, in bytes (four times as long at level error); longer lines are cut and marked"},
		{Key: "http.listen", Flag: "http", Value: text{&c.HTTP.Listen, "PORT on 127.0.0.1, HOST:PORT, :PORT for all addresses, or off",
			checkHTTP},
			Doc: "address that serves /livez, /readyz and /metrics: PORT on 127.0.0.1, HOST:PORT, :PORT for all addresses; default: off"},
		{Key: "http.metrics", Value: flag{&c.HTTP.Metrics}, Doc: "serve /metrics, for Prometheus"},
		{Key: "http.pprof", Value: flag{&c.HTTP.Pprof},
			Doc: "serve profiles and stacks at /debug/pprof, to anyone who can reach http.listen"},
		{Key: "drain_timeout", Flag: "stop-timeout", Value: duration{&c.DrainTimeout, minTick},
			Doc: "how long a stop waits for process groups and applications, and then again for the remaining processes"},
		{Key: "stages", Flag: "stages", Value: count{&c.Stages, 0, maxStages},
			Doc: "number of scheduling stages, the groups of actors that run one at a time; 0: 8 for each processor"},
		{Key: "pg", Flag: "pg", Value: flag{&c.PG}, Doc: "run process groups, compatible with OTP's default pg scope"},
		{Key: "demo", Flag: "demo", Value: flag{&c.Demo}, Doc: "run the demo: processes named demo, counter and echo"},
		{Key: "detect_cycles", Value: flag{&c.DetectCycles},
			Doc: "for tests and development: a call that closes a cycle of processes of this node that wait for each other fails at " +
				"once, with the cycle in the error; calls take a lock"},
		{Key: "ports.remote", Value: flag{&c.Ports.Remote},
			Doc: "let other nodes start programs with port:start under this node's supervisors: anyone who knows the cookie can then " +
				"run any program; without it only this node's tree can"},
		{Key: "tree", Flag: "tree", Value: path{&c.TreeFile},
			Doc: "file with the supervision tree, instead of the fields supervisor and applications"},
	}
}
