// Package epmdclient implements the protocol of the Erlang Port Mapper Daemon: it queries port mappers, and becomes one if
// a host has none. Nodes register their name and port with the port mapper of their host, and other nodes query it for the
// port. Package epmd has its Config.
//
// # Nouns
//
//   - A [Registration] is a port mapper's record of a live node. It lasts as long as the connection that it was made over.
//   - A [Client] queries port mappers.
//   - A [Keeper] keeps a node registered. If made by [Client.Keep], it is the port mapper of its host while no other port
//     mapper answers.
//
// A node that can be found whether or not EPMD runs on its host (see the Example):
//
//	cfg, err := epmd.ConfigFromEnv(os.LookupEnv)   // ERL_EPMD_PORT and so on
//	client, err := epmdclient.NewClient(cfg)
//	keeper, err := client.Keep(ctx, epmdclient.Registration{Name: "cart", Port: 9100, Extra: native})
//	defer keeper.Stop()
//	self := wire.NodeID{Name: "cart@host", Creation: keeper.Creation()}
//	peer, err := client.Lookup(ctx, "otherhost", "shop") // peer.Port, peer.Extra
//
// # Invariants
//
//  1. The creation of a Keeper is not 0 and does not change, regardless of the answers to later registrations.
//  2. The live names of a server are distinct. Each is held by one open connection, and ends with it.
//  3. A server gives no creation twice, and never 0: each is at least one more than the last, and at least the time in
//     seconds, so that the next server on this host continues above (with up to one registration per second, until 2106).
//     Nodes of a version below 6 get 1, 2 or 3, never that of the previous incarnation.
//  4. No exchange outlasts Config.Timeout (client) or Config.IdleTimeout (server),
//     no answer that is read exceeds its limit, no parser panics.
//  5. At most one process serves a port: the listener is the lock. A Keeper listens only after a connection has failed, and
//     treats "in use" as an answer.
//
// # Goroutines
//
//	name          started by       stopped by               owns
//	alive.run     Register, Keep   Keeper.Stop, waits       the connection of a registration
//	Keeper.serve  Keep, alive.run  Keeper.Stop, waits       a port mapper, which starts a goroutine for
//	                                                        each listener and each connection
//
// Register and Keep return after the first attempt, and only that is bound by their context; later attempts continue until
// Stop.
//
// # Protocol
//
// TCP, port 4369. The caller sends one request, with a length prefix, and reads the answer; integers are big-endian. The
// port mapper closes the connection after each answer, except that to ALIVE2_REQ: this connection stays open without
// traffic as long as the node lives. Its end, or any byte on it, ends the registration. Invalid or forbidden requests get
// no answer: the connection is closed.
//
//	request               body, after Length:2              answer
//	ALIVE2_REQ        x   120 Port:2 Type:1 Protocol:1      Highest >= 6: 118 Result:1 Creation:4
//	                      Highest:2 Lowest:2                else:         121 Result:1 Creation:2
//	                      Nlen:2 Name Elen:2 Extra
//	PORT_PLEASE2_REQ  z   122 Name                          119 Result:1, and if that is 0:
//	                                                        Port:2 Type:1 Protocol:1 Highest:2
//	                                                        Lowest:2 Nlen:2 Name Elen:2 Extra
//	NAMES_REQ         n   110                               EpmdPort:4, then a line for each, newest first:
//	                                                        "name N at port P\n"
//	DUMP_REQ          d   100                               EpmdPort:4, then
//	                                                        "active name     <N> at port P, fd = F\n\0"
//	                                                        "old/unused name <N>, port = P, fd = F \n\0"
//	KILL_REQ          k   107                               "OK" and it ends, or "NO"
//	STOP_REQ          s   115 Name                          "STOPPED", or "NOEXISTSTOPPED"
//
// Type is 77 for a visible node and 72 for a hidden one; erl sends 77 always.
// Protocol is 0. Highest and Lowest are versions of the distribution handshake:
// erl of OTP 25 sends 6 and 5, this package sends 6 and 6. Name is without "@host". A result other than 0 refuses; OTP's
// port mapper answers 1 with creation 99 to a clash (76 01 00000063, or 79 01 0063), and the same to a name or an extra
// that it does not accept.
//
// Any caller may query ports and names. The other requests are for callers on the same host: from a loopback address, or
// from the address that they call. KILL_REQ is granted if no name is live or the server is relaxed, STOP_REQ only if it is.
//
// Source: "EPMD Protocol" in the Distribution Protocol chapter of OTP's ERTS
// User's Guide; erl_epmd.erl; and the epmd of OTP 25, with which the tests
// compare every answer.
//
// # Differences from OTP's port mapper
//
//   - An ALIVE2_REQ without a name is never answered. OTP's accepts it if there is an extra.
//   - A name with a newline is refused, because it would forge lines of NAMES_REQ.
//   - A name of 255 characters can be looked up; with OTP's it can only be registered.
//   - A request must be complete, and its answer taken, within IdleTimeout. With OTP's each byte adds another 60 s. A
//     connection whose registration was refused is closed after IdleTimeout too; OTP's leaves it open.
//   - A clash is answered after up to 0.1 s, during which the other connection may end, so that a node that is restarted at
//     once is not refused.
//   - Creations count up over all names; OTP's count for each name separately, from the time of its first registration.
//   - F is the number of a connection; OTP's is a file descriptor.
//   - Callers from other hosts get at most half of the connections, so that they cannot prevent nodes of this host from
//     registering.
//
// # What can be lost
//
// Between the death of a port mapper and the next attempt of each node (at once
// for a Keeper that was registered for Config.Retry, 2 s for every other node,
// erl's included) names are not found, and another node may take a name that is in use: the original node is then refused
// until the other is gone. Nothing is stored on disk.
//
// # Limits and versions
//
// Names have 1 to 255 characters of UTF-8. The extra of a registration may have 65,535 bytes according to its field, but
// OTP's port mapper, and this server, refuse more than 1,020 bytes and close the connection on requests of more than 3,057
// bytes. OTP's lookups ignore the extra, so it may contain anything. A server remembers 1,002 past names, for DUMP_REQ
// only. The answer format before OTP 23 (121) is understood and can be given. There is no authentication: a port mapper
// trusts every process on its host, and its clients must trust the network.
package epmdclient
