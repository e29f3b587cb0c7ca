// Package metrics exports a node's counters to Prometheus.
//
// # Nouns
//
//   - A collector is a [prometheus.Collector] of one node: see [New].
//   - A [Config] names the node, and bounds how much a scrape examines.
//
// How it is used:
//
//	r := prometheus.NewRegistry()
//	r.MustRegister(metrics.New(metrics.Config{Node: n}), collectors.NewGoCollector())
//	http.Handle("/metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{}))
//
// # Metrics
//
//	actornode_info{node,version}                        1
//	actornode_processes                                 alive
//	actornode_processes_max                             that can be alive at a time
//	actornode_processes_lingering                       killed, with a function that still runs
//	actornode_registered_names
//	actornode_messages_handled_total                    taken by processes
//	actornode_dead_letters_total{cause}
//	actornode_draining                                  1: the node takes on nothing new for others
//	actornode_run_queue                                 actors that wait for their turn
//	actornode_scheduler_workers, _active_workers, _stages, _waiting_stages, _stray_handlers
//	actornode_scheduler_blocked_turns_total             handlers that took longer than Config.Blocked
//	actornode_scheduler_shared_queues_total             run queues of which an idle stage got half
//	actornode_mailbox_messages{rank}                    the longest mailboxes, rank 1 the longest
//	actornode_mailboxes_examined                        that were looked at for that
//	actornode_behaviour_mailbox_messages{behaviour}     in all mailboxes of that behaviour, of those examined
//	actornode_behaviour_mailbox_longest_messages{behaviour}
//	actornode_behaviour_processes{behaviour}            that were examined
//	actornode_behaviour_crashes_total{behaviour}
//	actornode_name_mailbox_messages{name}               of the process with that registered name
//	actornode_name_crashes_total{name}
//	actornode_rights_refused_total{right}               what peers asked for without a right to it
//	actornode_supervisor_restarts_total{supervisor,child}
//	actornode_supervisor_shutdowns_total{supervisor}    given up: too many restarts
//	actornode_keyed_processes{group}                    of a group of package keyed
//	actornode_keyed_waiting_uses{group}                 that wait for a process to start, or to end
//	actornode_keyed_started_total{group}                processes
//	actornode_keyed_ended_total{group,cause}            processes; idle, max, memory: as Kind says; crashed; stopped: otherwise
//	actornode_keyed_refused_total{group,cause}          uses; full: ErrFull; failing: ErrFailing
//	actornode_pool_workers{pool}, _idle_workers         of a pool of package pool
//	actornode_pool_waiting_messages{pool}               in its lines
//	actornode_pool_replaced_workers_total{pool}         started after one that ended
//	actornode_pool_refused_messages_total{pool,policy}  refused or dropped, because a line was full
//	actornode_peers{protocol}                           connected nodes
//	actornode_peer_up{peer,protocol}                    1; 0: being connected
//	actornode_peer_received_bytes_total{peer}, _sent_bytes_total, _received_signals_total, _sent_signals_total
//	actornode_protocol_fallbacks_total                  peers that are reached by a less preferred protocol than they speak
//	actornode_peer_queue_bytes{peer}, actornode_peer_held{peer}
//
// A peer's counters start at zero with each connection, like the counters of a restarted
// program. Traffic between the last scrape and the end of a connection is not counted.
//
// Groups and pools have their series from their start on. Their gauges end with them, and their counters stay. Pools without
// a name are shown together, as other.
//
// # Invariants
//
//  1. Metrics cost something only when they are scraped: the node keeps the counters
//     anyway.
//  2. The number of series is bounded. No label is a PID. At most Config.Peers peers have
//     series of their own; actornode_peers counts the others, too. At most Config.Groups behaviours,
//     and as many names, have series of their own for mailboxes; the label other has the sum of all others. The node
//     bounds the series of supervisors, crashes, groups and pools in the same way: each metric has at most 500.
//  3. A scrape examines at most Config.Scan mailboxes, those of registered names first.
//     Examining one holds up neither its process nor the stage.
//
// # Goroutines
//
// None; any number may collect at a time.
//
// # Limits and versions
//
// Names and units follow Prometheus' "Metric and label naming"; the tests run promlint. A
// node with more processes than Config.Scan may have a longer mailbox than
// actornode_mailbox_messages shows: compare actornode_mailboxes_examined with
// actornode_processes.
package metrics
