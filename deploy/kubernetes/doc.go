// Package kubernetes contains manifests for a cluster of actornodes, and the tests that they match Kubernetes and the
// program.
//
//	base                   three nodes that find each other by DNS
//	components/tls         TLS between the nodes
//	components/monitoring  metrics for the Prometheus operator
//	overlays/tls           all of them together
//
// It is a separate module, so that programs which import actornode do not depend on Kubernetes' libraries.
//
// # Tests
//
// The tests build the manifests with Kustomize itself, and read each strictly into its type of Kubernetes' API: an unknown
// field, or one of another type, fails. They check the references between manifests: selectors, labels, names of ports and
// services. The program reads the configuration and the variables of each pod. No test needs Kubernetes, a network or root.
package kubernetes
