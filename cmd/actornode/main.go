// Actornode is a node of an Erlang cluster, written in Go: OTP nodes connect to it like to any other node. The same program
// inspects and controls nodes.
//
//	actornode cluster
//	ACTORNODE_COOKIE=secret actornode start --name go@127.0.0.1 --demo
//	actornode check deploy/samples/actornode.yaml --print
//	actornode probe --http 127.0.0.1:9100
//
//	export ACTORNODE_COOKIE=secret
//	actornode status
//	actornode ps --sort mailbox
//	actornode call counter '{add, 5}'
//	actornode top
//
// See actornode help start. A program with its own actors has a similar main: see actornode.Main.
package main

import "github.com/actornode/actornode"

func main() { actornode.Main(actornode.Program{}) }
