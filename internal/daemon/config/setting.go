package config

import (
	"slices"
	"strings"

	"github.com/actornode/actornode/mailbox"
)

// Setting is one field of the configuration, and all the ways to give it.
type Setting struct {
	Key    string // in the file: log.level
	Flag   string // of actornode start, without --; "": none
	Not    string // the flag that says the opposite, of true or false; "": none
	NotDoc string // what that is
	Doc    string // what it is, in a sentence without a full stop
	Secret bool   // not to be shown
	Value  Value  // where it is kept
}

// Env is the environment variable of s: ACTORNODE_LOG_LEVEL.
func (s *Setting) Env() string {
	return "ACTORNODE_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Typed reports whether a text can be told to be no value of s by its form alone,
// as a time or a number can: a flag with one is a wrong command line.
func (s *Setting) Typed() bool {
	switch s.Value.(type) {
	case text, path, peers, list, cookies, hidden:
		return false
	}
	return true
}

// protocols are the words for those that a node may speak.
var protocols = []string{"native", "erlang"}

// policies are those of package mailbox, by the words of the file.
var policies = []string{
	mailbox.Refuse: "refuse", mailbox.Block: "block", mailbox.DropNewest: "drop_newest", mailbox.DropOldest: "drop_oldest",
}

// Settings lists all fields but those of the tree, in the order of the
// documentation; what they set is c's. docs/configuration.md, the flags, the environment and the
// file are all made from it.
func (c *Config) Settings() []Setting { return slices.Concat(c.cluster(), c.found(), c.own()) }

// cluster are the settings about other nodes.
func (c *Config) cluster() []Setting {
	return []Setting{
		{Key: "name", Flag: "name", Value: text{&c.Name, "NAME@HOST", checkName},
			Doc: "name of the node; with a dot in HOST, or an address there, a long name as erl -name gives, else a short one"},
		{Key: "cookie", Flag: "cookie", Secret: true, Value: text{&c.Cookie, "1 to 255 printable ASCII characters", CheckCookie},
			Doc: "cookie of the cluster; without it, and without cookie_file, it is that of .erlang.cookie in the home directory, which is made if it is not there"},
		{Key: "cookie_file", Flag: "cookie-file", Value: path{&c.CookieFile},
			Doc: "file with the cookie, which only its owner may read"},
		{Key: "cookies", Secret: true, Value: cookies{c.Cookies},
			Doc: "other cookies for some peers, by name: one word, or {in: what it must know, out: what it wants}"},
		{Key: "hidden", Flag: "hidden", Not: "published", NotDoc: "be in nodes() of other nodes; not supported yet", Value: hidden{flag{&c.Hidden}},
			Doc: "keep out of nodes() of other nodes"},
		{Key: "listen.erlang", Flag: "listen", Value: text{&c.Listen.Erlang, "HOST:PORT, :PORT for all addresses, or - for nowhere", checkListen},
			Doc: "where other nodes connect, by the Erlang distribution protocol; default: the name's host, any port"},
		{Key: "listen.native", Flag: "listen-native", Value: text{&c.Listen.Native, "HOST:PORT, :PORT for all addresses, or - for nowhere", checkListen},
			Doc: "where other actornodes connect, by the native protocol; default: the host of listen.erlang, any port"},
		{Key: "tls.cert", Flag: "tls-cert", Value: path{&c.TLS.Cert},
			Doc: "PEM file with the certificate of this node and those above it: encrypts connections"},
		{Key: "tls.key", Flag: "tls-key", Value: path{&c.TLS.Key},
			Doc: "PEM file with its private key"},
		{Key: "tls.ca", Flag: "tls-ca", Value: path{&c.TLS.CA},
			Doc: "PEM file with the authorities that sign the certificates of peers"},
		{Key: "tls.any_host", Flag: "tls-any-host", Value: flag{&c.TLS.AnyHost},
			Doc: "let nodes in whose certificate is not for the host of their name, as OTP does"},
		{Key: "tls.min_version", Value: word{&c.TLS.MinVersion, []string{"1.2", "1.3"}},
			Doc: "oldest version of TLS"},
		{Key: "protocols", Flag: "protocols", Value: words{&c.Protocols, protocols},
			Doc: "protocols to talk to other nodes, the preferred one first"},
		{Key: "operators", Flag: "operators", Value: operators{&c.Operators},
			Doc: "nodes that may do more than look, by the operator's service (kill, spawn, connect, trace, drain, stop, …); a name counts for as much as what proves it: TLS, or cookies of single peers; off: there is no such service"},
		{Key: "allow", Flag: "allow", Value: rights{&c.Allow},
			Doc: "what other nodes may start or call by name, of what is exported: MODULE:FUNCTION/ARITY or MODULE:*, after NAME@HOST or *@HOST and a space if it is for these only"},
	}
}

// own are the others.
func (c *Config) own() []Setting {
	return []Setting{
		{Key: "limits.message", Value: size{&c.Limits.Message, 1 << 10}, Doc: "largest message that a peer may send"},
		{Key: "limits.queue", Value: size{&c.Limits.Queue, 1 << 10}, Doc: "how much may wait for one peer until senders are held up"},
		{Key: "limits.fragments", Value: count{&c.Limits.Fragments, 1, 1 << 16}, Doc: "how many messages of one peer may be under way in fragments"},
		{Key: "limits.processes", Value: count{&c.Limits.Processes, 0, maxProcesses}, Doc: "how many processes may live at a time; 0: 134217727"},
		{Key: "limits.connections", Value: count{&c.Limits.Cluster.Connections, 1, maxCount},
			Doc: "how many connections with other nodes there may be, in and out"},
		{Key: "limits.connections_per_source", Value: count{&c.Limits.Cluster.ConnectionsPerSource, 1, maxCount},
			Doc: "how many of those that come in may be from one address"},
		{Key: "limits.pending", Value: count{&c.Limits.Cluster.Pending, 1, maxCount},
			Doc: "how many connections to one listener may be there that have not proved to know the cookie; of more the oldest is dropped"},
		{Key: "limits.pending_per_source", Value: count{&c.Limits.Cluster.PendingPerSource, 1, maxCount},
			Doc: "how many of them may be from one address; of more the oldest of that address is dropped"},
		{Key: "limits.dials", Value: count{&c.Limits.Cluster.Dials, 1, maxCount},
			Doc: "how many connections this node makes at a time; the others wait for their turn"},
		{Key: "limits.queued", Value: size{&c.Limits.Cluster.Queued, 64 << 10},
			Doc: "how much may wait to be sent for all peers together; above it each may have its equal share only until senders are held up"},
		{Key: "limits.answers", Value: size{&c.Limits.Cluster.Answers, 64 << 10},
			Doc: "how much of answers and other signals may wait for one peer that does not read; with more the connection ends"},
		{Key: "limits.fragment_bytes", Value: size{&c.Limits.Cluster.Fragments, 64 << 10},
			Doc: "how much the unfinished messages of all peers may take; one peer may have half of it"},
		{Key: "limits.stall", Value: duration{&c.Limits.Cluster.Stall, 0},
			Doc: "how long a peer may take nothing while more waits for it than limits.queue; then the connection ends; 0s: a quarter of tick_time"},
		{Key: "limits.monitors", Value: count{&c.Limits.Cluster.Monitors, 1, maxCount},
			Doc: "how many monitors one peer may have over processes here"},
		{Key: "limits.links", Value: count{&c.Limits.Cluster.Links, 1, maxCount},
			Doc: "how many links one peer may have to processes here"},
		{Key: "limits.spawned", Value: count{&c.Limits.Cluster.Spawned, 1, maxCount},
			Doc: "how many processes may live at a time that one peer has started"},
		{Key: "limits.names", Value: count{&c.Limits.Cluster.Names, 1, maxCount},
			Doc: "how many names may be registered at a time that one peer has had registered"},
		{Key: "limits.pg_members", Value: count{&c.Limits.PGMembers, 2, maxCount},
			Doc: "how many memberships in process groups other nodes may have here, all together; one node may have half of them"},
		{Key: "limits.pg_groups", Value: count{&c.Limits.PGGroups, 2, maxCount},
			Doc: "how many process groups these may be in, one node half as many; a name of more than 1 KiB counts as a group more for each KiB"},
		{Key: "limits.http", Value: count{&c.Limits.HTTP, 1, maxCount},
			Doc: "how many connections there may be to http.listen; of more the one that has been idle the longest is closed"},
		{Key: "limits.memory", Value: memory{&c.Limits.Memory},
			Doc: "how much memory the program may take; 0: GOMEMLIMIT if that is set, else 90% of the cgroup's limit, or 85% of the machine's memory"},
		{Key: "limits.mailbox.messages", Value: count{&c.Limits.Mailbox.Messages, 0, maxCount},
			Doc: "how many messages may wait for a worker of the tree; 0: any number"},
		{Key: "limits.mailbox.bytes", Value: size{&c.Limits.Mailbox.Bytes, 0},
			Doc: "how much may wait for a worker of the tree; 0: any amount"},
		{Key: "limits.mailbox.policy", Value: policy{&c.Limits.Mailbox.Policy},
			Doc: "what becomes of a message that there is no room for"},
		{Key: "tick_time", Flag: "tick-time", Value: duration{&c.TickTime, minTick},
			Doc: "how long a node may be silent before it is gone; OTP's net_ticktime"},
		{Key: "connect_timeout", Value: duration{&c.ConnectTimeout, minTick}, Doc: "how long the making of a connection may take"},
		{Key: "awake", Value: duration{&c.Awake, 0},
			Doc: "how long a core looks busily for the next message of a peer while these come quickly; 0s: it sleeps at once"},
		{Key: "grace", Flag: "grace", Value: duration{&c.Grace, 0},
			Doc: "how long a broken native connection may take to be made again without anybody noticing, half of tick_time at most; 0s: Erlang's way"},
		{Key: "compress", Flag: "compress", Value: size{&c.Compress, 0},
			Doc: "from how many bytes on a native message is compressed; 0: never"},
		{Key: "log.level", Flag: "log-level", Value: level{&c.Log.Level}, Doc: "what is logged, this and what is worse: debug, info, warn, error"},
		{Key: "log.format", Flag: "log-format", Value: word{&c.Log.Format, []string{"text", "json"}}, Doc: "how it is written: text, json"},
		{Key: "log.file", Flag: "log-file", Value: path{&c.Log.File}, Doc: "file that the log is added to; default: standard error"},
		{Key: "log.lines", Value: count{&c.Log.Lines, 1, maxCount},
			Doc: "how many lines of one kind are written a second, below level warn ten times as many; the next one says how many were left out"},
		{Key: "log.bytes", Value: size{&c.Log.Bytes, 256},
			Doc: "how long a line may be, one of level error four times as long; what is longer is cut, and says so"},
		{Key: "http.listen", Flag: "http", Value: text{&c.HTTP.Listen, "PORT on 127.0.0.1, HOST:PORT, :PORT for all addresses, or off", checkHTTP},
			Doc: "where /livez, /readyz and /metrics are served: PORT on 127.0.0.1, HOST:PORT, :PORT for all addresses; default: off"},
		{Key: "http.metrics", Value: flag{&c.HTTP.Metrics}, Doc: "serve /metrics, for Prometheus"},
		{Key: "http.pprof", Value: flag{&c.HTTP.Pprof}, Doc: "serve /debug/pprof: profiles and stacks, for whoever reaches http.listen"},
		{Key: "drain_timeout", Flag: "stop-timeout", Value: duration{&c.DrainTimeout, minTick},
			Doc: "how long to wait for groups and applications when stopping, and then as long for the processes that are left"},
		{Key: "pg", Flag: "pg", Value: flag{&c.PG}, Doc: "run the scope pg of process groups, which those of OTP are the other side of"},
		{Key: "demo", Flag: "demo", Value: flag{&c.Demo}, Doc: "run the demo: processes named demo, counter and echo"},
		{Key: "ports.remote", Value: flag{&c.Ports.Remote},
			Doc: "let other nodes start programs by port:start, as children of this node's supervisors: whoever knows the cookie may run anything then; else only the tree here may"},
		{Key: "tree", Flag: "tree", Value: path{&c.TreeFile},
			Doc: "file with the tree, supervisor or applications, in place of these two here"},
	}
}
