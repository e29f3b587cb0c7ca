// Package deploy is what people run actornode with, and the tests that it fits the
// program: images and a compose file, a configuration, a dashboard, alerts.
//
//	docker/Dockerfile          the daemon as an image of one static binary
//	docker/compose.yaml        a cluster of any number of nodes, Prometheus and Grafana
//	prometheus/prometheus.yml  what to scrape, for the compose file
//	prometheus/rules.yaml      alerts
//	grafana/actornode.json     a dashboard
//	grafana/provisioning       what Grafana loads it by
//	samples/actornode.yaml     a configuration with every field
//	systemd/actornode.service  a unit of systemd
//	release                    make release: archives and packages; a module of its own
//	interop                    the suite that OTP nodes judge a node by
//	cluster                    the images and the compose file in real containers
//
// # Tests
//
// Every metric that the dashboard and the alerts name is one that the daemon has;
// every variable in the Dockerfile and the compose file is one that it reads; every
// file that one of these files names is there. With Prometheus on the PATH (Debian:
// prometheus, which has promtool too) a real one scrapes a node, loads the alerts
// and answers every query of the dashboard. Package cluster runs the containers.
package deploy
