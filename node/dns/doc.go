// Package dns finds nodes by DNS: by the addresses of a name, as of the pods behind
// a headless service of Kubernetes, or by SRV records.
//
// # Nouns
//
//   - A [Finder] is a node.Finder and node.Lister: it is Distribution.Finder, or
//     one of a node.Chain.
//   - A [Config] says which names to ask for.
//   - A [Service] is a name with SRV records.
//
// See the example.
//
// # Which node a record is
//
//	record                                  node          endpoints
//	HOST. A or AAAA ADDRESS                 BASE@ADDRESS  Config.At with that address
//	SERVICE. SRV _ _ PORT TARGET.           BASE@TARGET   PORT of TARGET, Service.Protocol
//
// BASE is Config.Base, go by default. TARGET is in lower case, without the last dot.
// A node that has several protocols has a Service for each, by convention
// _actornode._tcp for Erlang's and _actornode-native._tcp for the native one; their
// endpoints are put together by target. Two nodes on one target cannot be told
// apart: one of a BASE a host. The name must be what the node is started with, for a
// node that answers under another name is refused.
//
// # Kubernetes
//
// A headless service (clusterIP: None) names the pods that are ready, each by its
// address: start each node as go@$(POD_IP), listening at the same port in all pods.
// With a StatefulSet the service's SRV records name the pods by their host names, and
// BASE@pod-0.service.namespace.svc.cluster.local stays the same when a pod moves.
//
// A pod that is not ready is not named, and does not need to be for this: no node
// founds a cluster, alone or otherwise. There is no quorum, leader or first member
// here, so nothing can be founded twice: a node that finds nobody runs and goes on
// looking, and nodes that find each other later are connected from then on. What
// must exist once in a cluster needs a decision above this package. Whoever
// wants nodes to meet before they are ready sets publishNotReadyAddresses; a
// readiness check that waits for other nodes must, or none becomes ready.
//
// # Invariants
//
//  1. Names are asked for by one goroutine at a time, once in Config.TTL at most.
//  2. A failure takes nothing away: the last answer counts until there is another.
//     An answer that there is no such name, or no record, is one: nobody is there.
//  3. Nothing here ends a connection: a node that is no longer named stays connected.
//
// # Goroutines
//
// None: who asks waits, for Config.Timeout at most.
//
// # What can be lost
//
// A change is seen TTL after DNS shows it, at the latest when it is asked for; the
// records' own times to live bound what caches on the way say. A stale address costs
// one attempt to connect.
//
// # Limits
//
// [MaxNodes] nodes a name. The system's resolver, and so Config.Resolver, does not
// tell times to live, so there is one for all. Answers are not authenticated: who can
// forge them makes nodes connect to a place of his choice, where the handshake fails
// without the cookie; with tlsdist, before it.
package dns
