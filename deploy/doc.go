// Package deploy contains files for running actornode, and the tests that they match the program: images and a compose
// file, a configuration, dashboards, alerts.
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
// The daemon has every metric in the dashboards and the alerts, and reads every variable in the Dockerfile and the compose
// file; every file named in these files exists. With Prometheus on the PATH (Debian: prometheus, which includes promtool) a
// real one scrapes daemons, each with a different fault: every alert fires for its fault and for no other, and every query
// of the dashboards has data. Package cluster runs the containers.
package deploy
