// Package cluster runs the compose file and the images of package deploy in real containers. It is tests only.
//
//	make cluster-test    installs what is needed, where it can, and runs them
//
// # Nouns
//
//   - An engine is Docker with Compose: the one that answers, else a dockerd that the tests start and end.
//   - A stack is what docker compose has made from deploy/docker/compose.yaml. Only the names of images are changed:
//     no image is fetched, all are made from what is installed here.
//
// # What is needed
//
// Linux, root, Docker and Compose, iptables; Erlang and Elixir of Debian's packages for the parts that use them.
// .ci/tools installs them. What is missing is said, and skipped.
//
// # Goroutines
//
// None but those of tests.
//
// # Limits
//
// The first stage of the Dockerfile, which compiles, needs an image of Go. The tests compile on this host instead.
package cluster
