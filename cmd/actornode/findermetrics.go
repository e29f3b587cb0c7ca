package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/actornode/actornode/node/dns"
	"github.com/actornode/actornode/node/gossip"
)

// logMetrics are those of the log.
func (d *daemon) logMetrics() []prometheus.Collector {
	return []prometheus.Collector{prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "actornode_log_write_failures_total", Help: "Lines of the log that could not be written.",
	}, func() float64 { return float64(d.log.limits.Counts().Failed) })}
}

// finderMetrics are those of the finders that the daemon has.
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
		gauge("gossip_members", "Members that are alive, this one among them.", of(func(s gossip.Stats) float64 { return float64(s.Members) }))
		gauge("gossip_lost_nodes", "Nodes that left, died or were cut off, and are still tried.", of(func(s gossip.Stats) float64 { return float64(s.Lost) }))
		gauge("gossip_health", "0: well; more: this member is too slow to judge others.", of(func(s gossip.Stats) float64 { return float64(s.Health) }))
		counter("gossip_join_rounds_total", "Attempts to reach seeds and lost nodes.", of(func(s gossip.Stats) float64 { return float64(s.Rounds) }))
		gauge("gossip_streams", "TCP connections of others that gossip serves.", of(func(s gossip.Stats) float64 { return float64(s.Streams) }))
		gauge("gossip_streams_waiting", "TCP connections of others that wait to be served by gossip.",
			of(func(s gossip.Stats) float64 { return float64(s.StreamsWaiting) }))
		gauge("gossip_streams_limit", "How many TCP connections of others gossip serves at a time.",
			of(func(s gossip.Stats) float64 { return float64(s.StreamsLimit) }))
		counter("gossip_streams_refused_total", "TCP connections of others that gossip had no room for.",
			of(func(s gossip.Stats) float64 { return float64(s.StreamsRefused) }))
		counter("gossip_streams_cut_total", "TCP connections of gossip that were too long or too slow.",
			of(func(s gossip.Stats) float64 { return float64(s.StreamsCut) }))
	}
	if d.dns != nil {
		of := func(get func(dns.Stats) uint64) func() float64 {
			return func() float64 { return float64(get(d.dns.Stats())) }
		}
		counter("dns_lookups_total", "Names that DNS was asked for.", of(func(s dns.Stats) uint64 { return s.Lookups }))
		counter("dns_failures_total", "Lookups that failed; that there is no such name is none.", of(func(s dns.Stats) uint64 { return s.Failures }))
		counter("dns_stale_answers_total", "Failures after which an older answer went on being used.", of(func(s dns.Stats) uint64 { return s.Stale }))
	}
	return all
}
