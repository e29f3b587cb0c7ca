package command

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/actornode/actornode/node/dns"
	"github.com/actornode/actornode/node/gossip"
)

// logMetrics returns the metrics of the log.
func (d *daemon) logMetrics() []prometheus.Collector {
	return []prometheus.Collector{prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "actornode_log_write_failures_total", Help: "Log lines that could not be written.",
	}, func() float64 { return float64(d.log.limits.Counts().Failed) })}
}

// finderMetrics returns the metrics of the daemon's finders.
func (d *daemon) finderMetrics() (all []prometheus.Collector) {
	gauge := func(name, help string, value func() float64) {
		all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "actornode_" + name, Help: help}, value))
	}
	counter := func(name, help string, value func() float64) {
		all = append(all, prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "actornode_" + name, Help: help}, value))
	}
	if d.gossip != nil {
		of := func(get func(gossip.Stats) float64) func() float64 {
			return func() float64 { return get(d.gossip.Stats()) }
		}
		gauge("gossip_members", "Members that are alive, this one included.",
			of(func(s gossip.Stats) float64 { return float64(s.Members) }))
		gauge("gossip_lost_nodes", "Members that left or failed and that this node still tries to reach.",
			of(func(s gossip.Stats) float64 { return float64(s.Lost) }))
		gauge("gossip_health", "Health score of memberlist: 0 is healthy; a high score means that this member is too slow to judge "+
			"others.", of(func(s gossip.Stats) float64 { return float64(s.Health) }))
		counter("gossip_join_rounds_total", "Attempts to reach seeds and lost members.",
			of(func(s gossip.Stats) float64 { return float64(s.Rounds) }))
		gauge("gossip_streams", "TCP connections from other members that gossip is serving.",
			of(func(s gossip.Stats) float64 { return float64(s.Streams) }))
		gauge("gossip_streams_waiting", "TCP connections from other members that wait to be served.",
			of(func(s gossip.Stats) float64 { return float64(s.StreamsWaiting) }))
		gauge("gossip_streams_limit", "Maximum of TCP connections that gossip serves at a time.",
			of(func(s gossip.Stats) float64 { return float64(s.StreamsLimit) }))
		counter("gossip_streams_refused_total", "TCP connections that gossip refused because a limit was reached.",
			of(func(s gossip.Stats) float64 { return float64(s.StreamsRefused) }))
		counter("gossip_streams_cut_total", "TCP connections that gossip ended because they were too long or too slow.",
			of(func(s gossip.Stats) float64 { return float64(s.StreamsCut) }))
	}
	if d.dns != nil {
		of := func(get func(dns.Stats) uint64) func() float64 {
			return func() float64 { return float64(get(d.dns.Stats())) }
		}
		counter("dns_lookups_total", "DNS lookups.", of(func(s dns.Stats) uint64 { return s.Lookups }))
		counter("dns_failures_total", "DNS lookups that failed; the answer that a name does not exist is not a failure.",
			of(func(s dns.Stats) uint64 { return s.Failures }))
		counter("dns_stale_answers_total", "Failed DNS lookups after which an older answer stayed in use.",
			of(func(s dns.Stats) uint64 { return s.Stale }))
	}
	return all
}
