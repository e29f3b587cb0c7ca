package metrics

import (
	"cmp"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	counts "github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/observe"
)

// Config of a collector.
type Config struct {
	Node *node.Node
	// Version of the program. Default: its module's, as it was built.
	Version string
	// Longest is how many mailboxes are shown. Default: 5.
	Longest int
	// Scan is how many are looked at for that. Default: 1000.
	Scan int
	// Peers is how many are shown, the first by name. Default: 200.
	Peers int
	// Groups is how many behaviours, and how many registered names, have series of their own for mailboxes: those with the
	// most messages. The others are shown together as "other". Default: 100.
	Groups int
	// Limits returns limits beside the node's own: those of the program. Default: none.
	Limits func() []observe.Limit
}

// collector shows one node.
type collector struct {
	cfg    Config
	census census
}

// census is how many processes there are of each behaviour. All are looked at, so that is done only as often as it takes a
// hundredth of the time.
type census struct {
	mu    sync.Mutex
	next  time.Time // when it is taken again
	count map[string]int
}

// take returns the number of processes by behaviour.
func (c *census) take(n *node.Node) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	began := time.Now()
	if began.Before(c.next) {
		return c.count
	}
	count := make(map[string]int)
	var pids []node.PID
	some := func() {
		for _, behaviour := range n.Inside(process.Key{}).Behaviours(pids) {
			if behaviour != "" {
				count[counts.Label(behaviour)]++
			}
		}
		pids = pids[:0]
	}
	n.Inside(process.Key{}).Processes()(func(pid node.PID) bool {
		if pids = append(pids, pid); len(pids) == censusAtOnce {
			some()
		}
		return true
	})
	some()
	c.count, c.next = count, time.Now().Add(100*time.Since(began))
	return count
}

const censusAtOnce = 1000

// New returns a collector of c.Node, to be registered once.
func New(c Config) prometheus.Collector {
	c.Longest = cmp.Or(c.Longest, 5)
	c.Scan = cmp.Or(c.Scan, 1000)
	c.Peers = cmp.Or(c.Peers, 200)
	c.Groups = cmp.Or(c.Groups, 100)
	if b, ok := debug.ReadBuildInfo(); ok && c.Version == "" {
		c.Version = b.Main.Version
	}
	return &collector{cfg: c}
}

// metric describes one, and says of what kind it is.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// all are the metrics that there are, by name: set when the program starts.
var all = make(map[string]metric)

func define(kind prometheus.ValueType, name, help string, labels ...string) metric {
	m := metric{prometheus.NewDesc("actornode_"+name, help, labels, nil), kind}
	all["actornode_"+name] = m
	return m
}

func gauge(name, help string, labels ...string) metric {
	return define(prometheus.GaugeValue, name, help, labels...)
}

func counter(name, help string, labels ...string) metric {
	return define(prometheus.CounterValue, name, help, labels...)
}

var (
	info      = gauge("info", "The node; always 1.", "node", "version")
	processes = gauge("processes", "Processes that are alive.")
	most      = gauge("processes_max", "Maximum of processes alive at a time.")
	lingering = gauge("processes_lingering", "Killed processes whose function has not returned yet.")
	names     = gauge("registered_names", "Registered names.")
	handled   = counter("messages_handled_total", "Messages that processes took from their mailboxes.")
	dead      = counter("dead_letters_total", "Messages that could not be delivered.", "cause")
	draining  = gauge("draining", "1 if the node is being drained: it refuses remote spawns.")

	runQueue = gauge("run_queue", "Actors that are ready to run and wait for a worker.")
	workers  = gauge("scheduler_workers", "Maximum of workers that run at a time.")
	active   = gauge("scheduler_active_workers", "Workers that run, or look for work.")
	stages   = gauge("scheduler_stages", "Stages, the groups of actors that the scheduler runs.")
	waiting  = gauge("scheduler_waiting_stages", "Stages with work that no worker holds.")
	strays   = gauge("scheduler_stray_handlers",
		"Handlers that the scheduler detached from their stage because they block or take long.")
	blocked = counter("scheduler_blocked_turns_total", "Handlers that ran for too long.")
	shared  = counter("scheduler_shared_queues_total", "How often half of a run queue was moved to an idle stage.")

	mailbox  = gauge("mailbox_messages", "Messages waiting in the longest mailboxes; rank 1 is the longest.", "rank")
	examined = gauge("mailboxes_examined", "Mailboxes that were examined to find the longest.")

	behaviourWaiting = gauge("behaviour_mailbox_messages",
		"Messages waiting for the processes with the behaviour, of those examined.", "behaviour")
	behaviourLongest   = gauge("behaviour_mailbox_longest_messages", "Messages in the longest of these mailboxes.", "behaviour")
	behaviourProcesses = gauge("behaviour_processes", "Processes with the behaviour.", "behaviour")
	behaviourCrashes   = counter("behaviour_crashes_total", "Processes with the behaviour that crashed.", "behaviour")
	nameWaiting        = gauge("name_mailbox_messages", "Messages waiting for the process with the registered name.", "name")
	nameCrashes        = counter("name_crashes_total", "Processes with the registered name that crashed.", "name")

	restarted = counter("supervisor_restarts_total", "Restarts of children of the supervisor.", "supervisor", "child")
	gaveUp    = counter("supervisor_shutdowns_total", "How often the supervisor ended because of too many restarts.", "supervisor")

	keyedProcesses = gauge("keyed_processes", "Processes of the group.", "group")
	keyedWaiting   = gauge("keyed_waiting_uses", "Uses that wait for a process of the group to start, or to end.", "group")
	keyedStarted   = counter("keyed_started_total", "Processes of the group that were started.", "group")
	keyedEnded     = counter("keyed_ended_total", "Processes of the group that ended; crashed: those that did not start, too.",
		"group", "cause")
	keyedRefused = counter("keyed_refused_total", "Uses that the group refused.", "group", "cause")

	poolWorkers  = gauge("pool_workers", "Workers of the pool that run.", "pool")
	poolIdle     = gauge("pool_idle_workers", "Those of them that are idle.", "pool")
	poolWaiting  = gauge("pool_waiting_messages", "Messages that wait for a worker of the pool.", "pool")
	poolReplaced = counter("pool_replaced_workers_total", "Workers of the pool that were started after one that ended.", "pool")
	poolRefused  = counter("pool_refused_messages_total", "Messages that were refused or dropped because the line was full.",
		"pool", "policy")

	unentitled = counter("rights_refused_total", "How often a peer asked for what it has no right to.", "right")

	peers   = gauge("peers", "Connected nodes.", "protocol")
	wanted  = gauge("nodes_wanted", "Nodes that discovery lists, and that the mesh connects to; not this one.")
	missing = gauge("nodes_missing", "Those of them that are not connected.")
	peerUp  = gauge("peer_up", "1 if the node is connected, 0 while it is being connected and while the mesh cannot connect it.",
		"peer", "protocol")
	peerIn    = counter("peer_received_bytes_total", "Bytes received over the current connection.", "peer")
	peerOut   = counter("peer_sent_bytes_total", "Bytes sent over the current connection.", "peer")
	signalIn  = counter("peer_received_signals_total", "Signals received over the current connection.", "peer")
	signalOut = counter("peer_sent_signals_total", "Signals sent over the current connection.", "peer")
	limitMax  = gauge("limit", "Value of the limit; 0: no limit.", "limit")
	limitUsed = gauge("limit_used", "Current use of the limit; for a limit per peer, that of the peer with the highest use.",
		"limit")
	limitRefused = counter("limit_refused_total", "How often the limit refused, dropped or ended something.", "limit")

	fallbacks = counter("protocol_fallbacks_total",
		"How often a connection used a less preferred protocol than the peer is known to speak.")

	queue = gauge("peer_queue_bytes", "Bytes that wait to be sent (approximate).", "peer")
	held  = gauge("peer_held", "1 if senders wait because too many bytes wait to be sent.", "peer")
)

// Names returns the names of all metrics of this package, sorted, for checks of a dashboard.
func Names() []string {
	l := make([]string, 0, len(all))
	for name := range all {
		l = append(l, name)
	}
	slices.Sort(l)
	return l
}

// Describe is part of prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range all {
		ch <- m.desc
	}
}

// Collect is part of prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	put := func(m metric, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, v, labels...)
	}
	n := c.cfg.Node
	put(info, 1, string(n.Name()), c.cfg.Version)
	s := n.Stats()
	put(processes, float64(s.Processes))
	put(most, float64(n.Inside(process.Key{}).MaxProcesses()))
	put(lingering, float64(s.Lingering))
	put(names, float64(s.Names))
	put(handled, float64(s.Handled))
	put(fallbacks, float64(s.Fallbacks))
	put(runQueue, float64(s.RunQueue))
	put(draining, truth(s.Draining))
	letters := s.DeadLetters
	for _, cause := range deadletter.Causes() {
		put(dead, float64(letters[cause]), cause.String())
	}
	p := s.Scheduler
	put(workers, float64(p.Workers))
	put(active, float64(p.Active))
	put(stages, float64(p.Stages))
	put(waiting, float64(p.Waiting))
	put(strays, float64(p.DetachedTurns))
	put(blocked, float64(p.Blocked))
	put(shared, float64(p.Shared))
	for name, m := range map[string]metric{ // what the node counts with labels, and packages that it does not know
		"rights_refused": unentitled, watch.BehaviourCrashes: behaviourCrashes, watch.NameCrashes: nameCrashes,
		counts.Restarts: restarted, counts.Shutdowns: gaveUp,
		counts.KeyedProcesses: keyedProcesses, counts.KeyedWaiting: keyedWaiting, counts.KeyedStarted: keyedStarted,
		counts.KeyedEnded: keyedEnded, counts.KeyedRefused: keyedRefused,
		counts.PoolWorkers: poolWorkers, counts.PoolIdle: poolIdle, counts.PoolWaiting: poolWaiting,
		counts.PoolReplaced: poolReplaced, counts.PoolRefused: poolRefused,
	} {
		for _, k := range n.Inside(process.Key{}).Counts(name) {
			put(m, float64(k.N), k.Labels...)
		}
	}
	limits := n.LimitUsage()
	if c.cfg.Limits != nil {
		limits = append(limits, c.cfg.Limits()...)
	}
	for _, l := range limits {
		put(limitMax, float64(l.Max), l.Name)
		put(limitUsed, float64(l.Used), l.Name)
		put(limitRefused, float64(l.Refused), l.Name)
	}
	c.mailboxes(put)
	c.peers(put)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// mailboxes shows the longest of those that it looks at.
func (c *collector) mailboxes(put func(metric, float64, ...string)) {
	n := c.cfg.Node
	seen := make(map[node.PID]bool)
	var pids []node.PID
	add := func(pid node.PID) bool {
		if !seen[pid] {
			seen[pid] = true
			pids = append(pids, pid)
		}
		return len(pids) < c.cfg.Scan
	}
	more := true
	registered := make(map[node.PID]string)
	for _, name := range n.Registered() {
		if pid, ok := n.Whereis(name); ok && more {
			more = add(pid)
			registered[pid] = string(name)
		}
	}
	if more {
		n.Inside(process.Key{}).Processes()(add)
	}
	put(examined, float64(len(pids)))
	lengths := n.Inside(process.Key{}).Mailboxes(pids)
	behaviours, names := make(groups), make(groups)
	for i, behaviour := range n.Inside(process.Key{}).Behaviours(pids) {
		if behaviour != "" && lengths[i] >= 0 {
			behaviours.add(behaviour, group{0, lengths[i], lengths[i]})
			if name := registered[pids[i]]; name != "" {
				names.add(name, group{1, lengths[i], lengths[i]})
			}
		}
	}
	for label, k := range c.census.take(n) {
		behaviours.add(label, group{processes: k})
	}
	for label, g := range behaviours.largest(c.cfg.Groups) {
		put(behaviourWaiting, float64(g.messages), label)
		put(behaviourLongest, float64(g.longest), label)
		put(behaviourProcesses, float64(g.processes), label)
	}
	for label, g := range names.largest(c.cfg.Groups) {
		put(nameWaiting, float64(g.messages), label)
	}
	slices.SortFunc(lengths, func(a, b int) int { return cmp.Compare(b, a) })
	for i, k := range lengths[:min(len(lengths), c.cfg.Longest)] {
		put(mailbox, float64(max(k, 0)), strconv.Itoa(i+1))
	}
}

func (c *collector) peers(put func(metric, float64, ...string)) {
	all := c.cfg.Node.Peers()
	up := make(map[string]int)
	listed, lost := 0, 0
	for _, w := range c.cfg.Node.Wanted() {
		if !w.Listed {
			continue
		}
		listed++
		known := slices.ContainsFunc(all, func(p observe.Peer) bool { return p.Name == w.Name })
		if !w.Up {
			lost++
		}
		if !known && !w.Up {
			all = append(all, observe.Peer{Name: w.Name})
		}
	}
	put(wanted, float64(listed))
	put(missing, float64(lost))
	for i, p := range all {
		if p.Up {
			up[p.Protocol]++
		}
		if i >= c.cfg.Peers {
			continue
		}
		name := string(p.Name)
		put(peerUp, truth(p.Up), name, p.Protocol)
		put(queue, float64(p.Queue), name)
		put(held, truth(p.Held), name)
		if p.Up {
			put(peerIn, float64(p.BytesIn), name)
			put(peerOut, float64(p.BytesOut), name)
			put(signalIn, float64(p.FramesIn), name)
			put(signalOut, float64(p.FramesOut), name)
		}
	}
	for protocol, k := range up {
		put(peers, float64(k), protocol)
	}
	if len(up) == 0 {
		put(peers, 0, "")
	}
}
