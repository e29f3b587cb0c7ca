// Package deploy is what people run actornode with, and the tests that it fits the
// program: images and a compose file, a configuration, a dashboard, alerts.
//
//	docker/Dockerfile          the daemon as an image of one static binary
//	docker/compose.yaml        a cluster of any number of nodes, Prometheus and Grafana
//	prometheus/prometheus.yml  what to scrape, for the compose file
//	prometheus/rules.yaml      alerts; rules_test.yaml: when promtool must see them fire
//	grafana                    dashboards, and the test of their schema; a module of its own
//	grafana/provisioning       what Grafana loads it by
//	samples/actornode.yaml     a configuration with every field
//	systemd/actornode.service  a unit of systemd
//	kubernetes                 manifests for kustomize; a module of its own
//	release                    make release: archives and packages; a module of its own
//	interop                    the suite that OTP nodes judge a node by
//	cluster                    the images and the compose file in real containers
//
// # Tests
//
// Every metric that the dashboards and the alerts name is one that the daemon has;
// every variable in the Dockerfile and the compose file is one that it reads; every
// file that one of these files names is there. With Prometheus on the PATH (Debian:
// prometheus, which has promtool too) a real one scrapes daemons, each with a fault of
// its own: every alert fires for its fault and for no other, and every query of the
// dashboards has data. Package cluster runs the containers.
package deploy
