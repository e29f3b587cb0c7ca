// Package grafana contains dashboards for Grafana, and the test that they match its schema.
//
//	actornode.json             the cluster: which nodes are there, which alerts fire, how each node is
//	actornode-node.json        one node: work, scheduler, memory, limits
//	actornode-behaviours.json  behaviours, registered names and supervisors: mailboxes, crashes, restarts
//	actornode-peers.json       connections: traffic, what waits, what is refused
//	provisioning               what Grafana loads them by
//
// # Tests
//
// The test reads the dashboards into the types of Grafana's foundation SDK, which are generated from its schema; an unknown
// field is an error. Package deploy runs the queries of the dashboards on a real Prometheus. This is a separate module, so
// that programs which import actornode do not depend on the SDK.
package grafana
