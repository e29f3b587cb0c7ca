// Package dns finds nodes by DNS: by the addresses of a name, such as those of the pods behind a headless service of
// Kubernetes, or by SRV records.
//
// # Nouns
//
//   - A [Finder] is a discovery.Finder and discovery.Lister: use it as Distribution.Finder, or in a discovery.Chain.
//   - A [Config] says which names to look up.
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
// endpoints are joined by target. Two nodes on one target cannot be distinguished, so a
// host may run one node for each BASE. The node must be started with exactly this name:
// a node that answers with another name is refused.
//
// # Kubernetes
//
// A headless service (clusterIP: None) names the pods that are ready, each by its
// address: start each node as go@$(POD_IP), listening at the same port in all pods.
// With a StatefulSet the service's SRV records name the pods by their host names, and
// BASE@pod-0.service.namespace.svc.cluster.local stays the same when a pod moves.
//
// A pod that is not ready has no record, and does not need one: no node founds a cluster.
// There is no quorum, leader or first member. A node that finds no other node runs and
// keeps looking, and connects to nodes that it finds later. Anything that must exist only
// once in a cluster needs a decision above this package. Set publishNotReadyAddresses to
// let nodes connect before they are ready. It is required when the readiness check waits
// for other nodes; otherwise no node would become ready.
//
// # Invariants
//
//  1. One goroutine at a time looks names up, at most once per Config.TTL.
//  2. After a failed lookup the last answer stays in use until the next one succeeds. The
//     answer that a name or record does not exist is an answer: no node is there.
//  3. Nothing here ends a connection: a node stays connected when its record is removed.
//
// # Goroutines
//
// None: callers wait for the lookup, at most Config.Timeout.
//
// # What can be lost
//
// A change in DNS is seen at the first lookup after TTL. Caches on the way keep records
// for the records' own times to live. A stale address costs one attempt to connect.
//
// # Limits
//
// Each name has at most 10,000 nodes. The system's resolver, and so Config.Resolver,
// does not return times to live, so one TTL applies to all names. Answers are not
// authenticated: an attacker who forges them can direct connections to another host. The
// handshake with that host fails because it lacks the cookie; with tlsdist the TLS
// handshake already fails.
package dns
