// Package kubernetes has manifests of a cluster of actornodes, and the tests that they fit Kubernetes and the program.
//
//	base                   three nodes that find each other by DNS
//	components/tls         TLS between the nodes
//	components/monitoring  metrics for the Prometheus operator
//	overlays/tls           all of them together
//
// It is a module of its own, so that a program that imports actornode needs none of Kubernetes' libraries.
//
// # Tests
//
// Kustomize itself builds the manifests, and each is read strictly into the type that Kubernetes' API has for it: a field that is
// not there, or of another type, fails. What one manifest says of another holds: selectors, labels, names of ports and services.
// The program reads the configuration and the variables of each pod. No test needs Kubernetes, a network or root.
package kubernetes
