// Package erldist implements the Erlang distribution protocol as a [dist.Protocol]. Erlang/OTP nodes, and others with this
// protocol, treat this node like one of their own.
//
// # Nouns
//
//   - A [Protocol] turns a connection into a link, by a handshake.
//   - A machine is one side of a handshake: messages in, messages out, no socket.
//   - A reader decodes frames as signals ([dist.Frame]), a writer encodes signals; neither has a socket. A link moves their
//     bytes.
//   - A control message is the tuple that describes a frame; its first element is the operation. A payload may follow it.
//
// A link, and a message to a registered name (the Example runs):
//
//	var p erldist.Protocol
//	link, err := p.Dial(ctx, conn, dist.Handshake{Local: self, Peer: "shop@host", Cookies: cookies})
//	_, err = link.Write(&dist.Frame{Op: dist.OpSend, From: me, Name: "cart", Payload: wire.Atom("hello")})
//	_, err = link.Flush(false)
//	err = link.Read(&frame) // on another goroutine
//
// # Invariants
//
//  1. No byte after the handshake is read before it is complete, and no function of [dist.Handshake] that could change
//     anything is called before the peer has proved the cookie.
//  2. Proofs are compared in constant time; challenges come from crypto/rand. An empty cookie is never used for a proof:
//     with one there is no connection.
//  3. Data is read in the order in which it was written: one buffer, one connection, whole messages in sequence. The
//     reading goroutine decodes headers and payloads in the order of the frames.
//  4. A Write that fails with [wire.EncodeError] leaves link, buffer and atom cache unchanged.
//  5. No frame makes a reader panic, or hold more than the limits allow: nothing is allocated before its bytes have
//     arrived.
//  6. The writer uses only operations for which both sides have flags. It never writes UNLINK (4) to a peer with UNLINK_ID.
//
// # Goroutines
//
// None. The end of the context interrupts a handshake, and Close interrupts a link, from any goroutine.
//
//	fields of link          owner
//	conn, peer              set once
//	src, in, big, reader    the goroutine that calls Read
//	out, n                  guarded by mu: Write, Send, and Flush and Try when they take from it
//	spare, parts            the goroutine that holds writer: Flush, Try
//	received, sent, closed  atomic; any goroutine may call Traffic and Close
//
// # Handshake
//
// Version 6, of OTP 23 and newer. Messages (message.go has their bytes) are prefixed with their length in two bytes, over
// TLS in four. A has dialed, B accepts; each state is named after the message that it waits for, and each step may take 7
// s:
//
//	A                                               B
//	                                                await name
//	  ── name: flags, creation, name ────────────▶    flags missing, Admit says no ──▶ "not_allowed", failed
//	await status                                      Busy                         ──▶ "nok", failed
//	  "nok", "not_allowed", … ▶ failed                Alive                        ──▶ "alive", await alive
//	                                                  no name, and NameFor has one ──▶ "named:"…
//	  ◀─────────────────────────── status ────────    "ok", "ok_simultaneous", "named:"
//	await challenge
//	  "alive" ▶ "true" ──────────────────────────▶  await alive; "false" ▶ failed
//	  ◀── challenge: flags, number, creation, name    to an old name: await complement, which an A of
//	    another name, flags missing,                  OTP 23 or 24 without port mapper sends here
//	    our own challenge ▶ failed
//	  ── reply: number, proof ───────────────────▶  await reply
//	await ack                                         wrong proof, Proved says no ▶ failed, silently
//	  ◀───────────────────────────── ack: proof ──  finished
//	    wrong proof ▶ failed
//	finished
//
// A proof is the MD5 digest of the prover's cookie and the other's number in
// decimal. Each side may expect a different cookie than it proves; OTP has one for both. While a cluster changes its
// cookie, B accepts a proof with an old one (Handshake.OldCookies), and answers with the same one; A tries again with an
// old one if B closes the connection after A's proof.
//
// As A, this node answers "true" to "alive", unless the link has been established meanwhile: then it answers "false", and
// the handshake ends. B drops the old link only after "true" and a valid proof. Bytes after a name are ignored. An A
// without a name ([dist.Handshake].Named) sends its host with the flag NAME_ME instead of a name, and must get the status
// "named:" or "not_allowed"; for any other A "named:" is an error.
//
// A link uses the flags that both sides have announced. Package internal/wire/erlflags lists the announced and the
// mandatory flags (those that OTP 25 requires; MANDATORY_25_DIGEST implies them), with the release that introduced each.
// The announced flags are those of OTP 28, including ALTACT_SIG and PUBLISHED, plus GO_VALUES. A [dist.Handshake].Hidden
// node omits PUBLISHED; for a peer without a name it is also omitted, and NAME_ME is added, as in OTP.
//
// Errors are for people: they say what the peer did and what was expected. errors.Is finds dist.ErrBusy, ErrNotAllowed,
// ErrCookie, ErrPeerName and ErrPeerProtocol in them. If a peer closes the connection after this node's proof, it is
// assumed to have another cookie: OTP gives no other indication.
//
// # What the cookie protects against
//
// The cookie protects against mistakes: a node of another cluster, a program that confuses the port with another service.
// It does not stop attackers between the nodes, or attackers that can make a node dial them; for that there are TLS and,
// between nodes of this project, the native protocol.
//
// The proof is a digest of only the cookie and a 32-bit number. It does not identify the proving node, the verifying node,
// or the connection. The dialing side proves first, to any host that answers at the peer's address, for example at a port
// that the attacker has registered with a port mapper. The attacker chooses the challenge, and so can
//
//   - reflect: send a node the challenge that this node has just sent to the attacker over another connection, and return
//     the answer there. OTP nodes are vulnerable to it. This node does not answer a challenge of one of its own current
//     handshakes, on either side and under any name. An honest peer that sends such a number by chance is refused, too:
//     with K concurrent handshakes that is one connection in 2^32/K, or one in four million with 1,024; the next attempt
//     has other numbers. The numbers are not secret, so a plain table lookup is safe.
//   - collect: keep answers, and connect until one of their numbers is posed. This node remembers at least about 260,000
//     numbers that it has answered to unauthenticated peers, and does not pose them until it restarts.
//   - relay: sit between two nodes with the same cookie, pose to one the challenge that the other has posed, and so connect
//     to the other; or pose a challenge that another node will pose, or that this node has posed before a restart. Neither
//     node can detect that: a relayed number looks like any other, and the flags and names in the handshake are not covered
//     by the proof, so the attacker can change them. Therefore a flag cannot help, because the attacker would remove it. A
//     separate cookie for each pair of peers (Handshake.Cookies) limits the attack to that pair.
//   - read and change the subsequent traffic on the connection, without TLS.
//
// # Link
//
// Frames are prefixed with their length in four bytes. An empty frame is a tick, which shows that its sender is alive, like
// any other frame. Frames begin as follows (reader.go, atoms.go and control.go have the bytes):
//
//	131 68   atoms, control message, payload, both without version byte
//	131 69   the first fragment of the same: sequence number and countdown come first
//	131 70   the next fragment
//	112      control message and payload with version bytes, no atoms: from a peer
//	         that has neither DIST_HDR_ATOM_CACHE nor FRAGMENTS
//
// A message longer than 64 KiB is sent in fragments of 64 KiB, with the whole control message in the first. The first
// fragment is sent in order, because it has the atoms; each Flush then sends one further fragment of up to 16 messages,
// after the data written meanwhile. Large binaries in sent fragments are not copied. The fragments of a received sequence
// must count down to 1 without a gap.
//
// Atoms are cached: each direction has a cache of eight segments of 256 places; a header adds new atoms and refers to
// cached ones. This implementation chooses an atom's place by a hash, and does not replace an atom by one that was used
// only once; atoms of less than 3 or more than 255 bytes are not cached.
//
// The control messages. TT means the same with a trace token (Frame.Token); + means with a payload.
//
//	op of wire       control message
//	OpSend           SEND_SENDER + 22 23TT, to a name REG_SEND + 6 16TT, without the flag SEND + 2 12TT;
//	                 to an alias ALTACT_SIG_SEND + 37, without the flag ALIAS_SEND + 33 34TT; urgent 37
//	OpLink           LINK 1
//	OpUnlink         UNLINK_ID 35; UNLINK 4 with peers without the flag: ID is 0
//	OpUnlinkAck      UNLINK_ID_ACK 36
//	OpExit           PAYLOAD_EXIT + 24 25TT, without the flag EXIT 3 13TT
//	OpSignal         PAYLOAD_EXIT2 + 26 27TT, without the flag EXIT2 8 18TT; urgent, to a name or alias 37
//	OpMonitor        MONITOR_P 19
//	OpDemonitor      DEMONITOR_P 20
//	OpDown           PAYLOAD_MONITOR_P_EXIT + 28, without the flag MONITOR_P_EXIT 21
//	OpGroupLeader    GROUP_LEADER 7
//	OpSpawn          SPAWN_REQUEST + 29 30TT; only this project's nodes know the option {name, _}
//	OpSpawnReply     SPAWN_REPLY 31 32TT
//
// Between two nodes with the flag GO_VALUES (bit 53, which OTP does not use), a payload marked + is {'$go', Binary} if the
// term would not arrive unchanged: the binary is the result of [Values].Append. From a peer without the flag such a tuple is
// an ordinary tuple. Bit 55 is no longer used.
//
// A node with the flag CLIENT (bit 54) is a tool, such as a command line, not a member of the cluster.
//
// Between two nodes with GO_VALUES a request is one message, {'$go', Ref, Payload}. It means the request {'$gen_call',
// {From, [alias|Ref]}, Payload} and a MONITOR_P with Ref. {'$go', reply, Payload} to the alias Ref means the reply
// {[alias|Ref], Payload} and a DEMONITOR_P. If both have CALL_WAIT (bit 56), too, {'$go', Ref, Wait, Payload} is a request
// whose caller will wait for Wait ms, from 1 to 2³¹-1.
//
// Terms of a peer without the flag are passed to Values.Unmark if the distribution header lists a mark, lists 255 atoms, or
// is missing.
//
// A peer without DIST_MONITOR or DIST_MONITOR_NAME, such as a C or Java node, gets no MONITOR_P, DEMONITOR_P or
// MONITOR_P_EXIT, and a peer without UNLINK_ID gets no acknowledgement: as in OTP, Write drops them without an error.
//
// A message without a sender is sent with process 0 of this node as the sender. A signal that the peer's flags do not allow
// (a spawn, an alias, a priority for anything but a message) is an EncodeError. So is a pid of a third node where the
// protocol requires one of the two, because the peer would end the link.
//
// # What ends a link
//
// Read fails, and the link becomes unusable, after:
//
//   - the end of the connection;
//   - a frame that begins with something else;
//   - an atom that the cache does not have;
//   - a fragment out of order or of an unknown sequence, or a sequence or byte too many;
//   - a message or frame beyond the limits;
//   - a control message with an unknown operation, the wrong number of elements, an element of the wrong type, or a process
//     of a third node in a link or monitor (the error shows it);
//   - an UNLINK from a peer with UNLINK_ID;
//   - a payload that is not a term;
//   - bytes after a control message without a payload (bytes after a payload are ignored);
//   - a spawn request whose arity is not the number of its arguments.
//
// OTP ends links for the same reasons, except perhaps the last. A payload beyond the limits of etf, or a Go value that
// cannot be read, does not end the link: only that message is lost.
//
// # What can be lost
//
// Data that was written but not flushed, or flushed but not read by the peer, when the link ends. Nothing is reordered or
// duplicated.
//
// # Limits and versions
//
// [dist.LinkLimits] bounds a message (256 MiB, in both directions), the number of concurrent fragmented messages (64),
// their total bytes (512 MiB), and each step of the handshake (7 s). A term may have one element per 16 bytes of the
// longest message, and at least 65,536, and decompresses to at most 64 MiB. The received part of unfinished messages, and
// the decompressed data of a message while it is read, are also taken from the Budget of the handshake, and returned when
// the message is complete or by Close; the link of a peer that exceeds it ends. The protocol cannot say why a node ends a
// link: the peer sees the end of the connection. Handshake messages are below 64 KiB, names at most 255 characters of
// Latin-1. A link takes up to 180 KiB; buffers above 2 MiB are not kept. Four or more binaries of up to 250 bytes for one
// process that arrive together share memory: keeping one of them keeps at most 16, of 1.5 KiB together.
//
// Peers are OTP 23 and newer, tested with OTP 25; recorded sessions are in testdata. An OTP 25 node crashes when it sends
// fragments without an atom cache, so Protocol.Without treats both flags as one.
//
// Sources: "Distribution Protocol" and "External Term Format" in OTP's ERTS User's
// Guide; dist_util.erl, net_kernel.erl and dist.hrl of OTP 25; dist.h of OTP 28.
package erldist
