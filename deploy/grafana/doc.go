// Package grafana is dashboards for Grafana, and the test that they fit its schema.
//
//	actornode.json             the cluster: which nodes are there, which alerts fire, how each node is
//	actornode-node.json        one node: work, scheduler, memory, limits
//	actornode-behaviours.json  behaviours, registered names and supervisors: mailboxes, crashes, restarts
//	actornode-peers.json       connections: traffic, what waits, what is refused
//	provisioning               what Grafana loads them by
//
// # Tests
//
// The dashboards are read into the types of Grafana's foundation SDK, which are made from its
// schema; a field that they do not have is an error. Package deploy asks a real Prometheus
// what the dashboards ask. A module of its own, so that nobody who imports actornode gets
// the SDK.
package grafana
