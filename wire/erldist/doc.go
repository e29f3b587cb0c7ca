// Package erldist speaks the Erlang distribution protocol. To nodes of Erlang/OTP, and to
// others that speak it, this is a node like any other. It implements
// [dist.Protocol].
//
// # Nouns
//
//   - A [Protocol] turns a connection into a link, in a handshake.
//   - A machine is one side of a handshake: messages in, messages out, no socket.
//   - A reader makes signals ([dist.Frame]) of frames, a writer frames of signals;
//     neither has a socket. A link moves their bytes.
//   - A control message is the tuple that says what a frame is about, by an
//     operation in its first element; what it carries, if anything, is the payload.
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
//  1. No byte behind the handshake is read before it is over, and no function of
//     [dist.Handshake] is called that could change anything before the peer has
//     proved that it knows the cookie.
//  2. Proofs are compared in constant time; challenges come from crypto/rand. An empty
//     cookie proves nothing: with one there is no connection.
//  3. What is written is read in that order: one buffer, one connection, whole
//     messages one behind the other. What is read is decoded in the order of its
//     frames, by the goroutine that reads them, headers and payloads alike.
//  4. A Write that fails with [wire.EncodeError] leaves link, buffer and atom cache
//     as they were.
//  5. No frame makes a reader panic, or hold more than the limits allow: nothing
//     is allocated before its bytes have come.
//  6. What is written to a peer is within what both sides have flags for; UNLINK (4)
//     is not written at all.
//
// # Goroutines
//
// None; a context's end interrupts a handshake, and Close a link, from wherever
// they are called.
//
//	fields of link          owner
//	conn, peer              set once
//	src, in, big, reader    the goroutine that calls Read
//	out, n                  guarded by mu: Write, Send, and Flush and Try where they take from it
//	spare, parts            the goroutine that holds writer: Flush, Try
//	received, sent, closed  atomic; Traffic and Close are for all
//
// # Handshake
//
// Version 6, of OTP 23 and newer. Messages (message.go has their bytes) follow
// their length in two bytes, over TLS in four. A has dialled, B accepts; each
// state names what is waited for, and each step may take 7 s:
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
//	    a challenge of ours ▶ failed
//	  ── reply: number, proof ───────────────────▶  await reply
//	await ack                                         wrong proof, Proved says no ▶ failed, without a word
//	  ◀───────────────────────────── ack: proof ──  finished
//	    wrong proof ▶ failed
//	finished
//
// A proof is the MD5 digest of the prover's cookie and the other's number in
// decimal. Each side may expect another cookie than it gives; OTP has one for
// both. While a cluster changes its cookie, B takes a proof by an old one (Handshake.OldCookies), and
// answers by the same; A tries again with an old one where B hangs up after its proof.
//
// As A, this node answers "true" to "alive", unless it has got the link
// meanwhile: then it answers "false", and the handshake ends. B drops the old link only after
// "true", and when the cookie is proved.
// Bytes behind a name are ignored. An A without a name ([dist.Handshake].Named) sends its host with the flag NAME_ME in place
// of a name, and must get the status "named:" or "not_allowed"; for any other A "named:" is an error.
//
// The flags that both sides have announced hold. Package internal/wire/erlflags lists them: those
// that are announced, those without which a peer is refused (all that OTP 25 demands; the
// flag MANDATORY_25_DIGEST stands for them), with the release each came in. With
// ALTACT_SIG and PUBLISHED they are what OTP 28 announces, beside GO_VALUES. A node that is
// [dist.Handshake].Hidden leaves PUBLISHED out; to a peer without name it is left
// out too, and NAME_ME put in, as OTP does.
//
// Errors are for people: they say what the peer did and what was expected.
// errors.Is finds dist.ErrBusy, ErrNotAllowed, ErrCookie, ErrPeerName and
// ErrPeerProtocol in them. A peer that hangs up when it has seen our proof is
// taken to have another cookie: OTP gives no other sign.
//
// # What the cookie protects from
//
// The cookie protects from mistakes: a node of another cluster, a program that takes the port
// for another service. It does not keep out attackers that can get between nodes, or make a node
// dial them; for that there are TLS and, among nodes of this project, the native protocol.
//
// The proof is a digest of nothing but the cookie and a number of 32 bits. It does not say
// which node makes it, for which node, or in which connection. The side that has dialled
// proves first, to any host that answers at the peer's address: at a port that the attacker has
// registered with a port mapper, say. The attacker chooses the challenge, and so can
//
//   - reflect: send a node the challenge that this same node has just sent the attacker in
//     another connection, and pass the answer on. Nodes of OTP fall to it. This one does not
//     answer a challenge that one of its own handshakes has sent and that is under way,
//     on whichever side, under whatever names. An honest peer that sends one of those by
//     chance is refused, too: with K handshakes under way that is one connection in 2^32/K,
//     one in four million with 1,024; the next attempt has other numbers. The numbers are
//     no secret, so nothing is lost by looking them up in a table.
//   - collect: keep answers, and connect until one of their numbers is posed. Numbers that
//     have been answered to a peer that has not proved itself are remembered, about 260,000
//     at least, and not posed by this node until it is started again.
//   - relay: stand between two nodes that have the same cookie, pose to one the challenge that
//     the other has posed, and so connect to the other; or pose the challenge that another
//     node will pose, or that this one has posed before it was started again. Neither node can
//     see that: the number of the one is a number like any other to the other, the flags and names in the handshake are not
//     part of the proof, and the attacker in the middle can change them. So no flag could
//     help that both sides must announce, for the attacker would remove it. Nodes that
//     give each pair of peers a cookie of its own (Handshake.Cookies) bound it to that pair.
//   - read and change what goes over the connection afterwards, without TLS.
//
// # Link
//
// Frames follow their length in four bytes. A frame of none is a tick: it says
// that its sender lives, as all else does too. Frames begin as follows (reader.go,
// atoms.go and control.go have the bytes):
//
//	131 68   atoms, control message, payload, both without version byte
//	131 69   the same from its beginning, in fragments: number and countdown come first
//	131 70   the next fragment
//	112      control message and payload with version bytes, no atoms: from a peer
//	         that has neither DIST_HDR_ATOM_CACHE nor FRAGMENTS
//
// A message longer than 64 KiB is sent in fragments of 64 KiB, the control message
// whole in the first. The first goes in its turn, for it has the atoms; the others
// go one for each Flush, behind what has been written meanwhile, of up to 16
// messages side by side. The large binaries in them are not copied.
// Those of a peer may be: each sequence must count down to 1 without a gap.
//
// Atoms travel once: each direction has a cache of eight segments of 256 places,
// where a header puts new atoms, and from which it lists those of the message. Ours
// chooses an atom's place by a hash, and leaves what is there for an atom that has
// come by once only; atoms of less than 3 or more than 255 bytes are spelled out.
//
// The control messages, as they are read and, but for those in brackets, written.
// TT stands for the same with a trace token (Frame.Token); payloads are marked +.
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
//	OpSpawn          SPAWN_REQUEST + 29 30TT; the option {name, _} is known to this project's nodes only
//	OpSpawnReply     SPAWN_REPLY 31 32TT
//
// A payload that is marked + is {'$go', Binary} between two nodes that have the flag GO_VALUES
// (bit 55, which OTP does not use), where the term would not arrive as what it is: the binary
// is what [Values].Append makes of it. Such nodes tell each other the shapes of their registered Go types, each in a frame
// that begins with 36, before their first messages; of types that are registered later when it is next flushed. It is the
// name and the shape as the native protocol has them. A node does not send a value of a type to which a field that both
// have is of another kind there: the Write fails with both shapes. It keeps 4,096 shapes of a peer, of 1 MiB together, and
// none of more than 16 KiB. A reader of a peer without the flag takes that tuple for a tuple.
//
// A node with the flag CLIENT (bit 54) is a tool, such as a command line, and no member of the cluster.
//
// Between two nodes with GO_VALUES a request is one message, {'$go', Ref, Payload}: it is the request
// {'$gen_call', {From, [alias|Ref]}, Payload} and a MONITOR_P with Ref. {'$go', reply, Payload} to the alias Ref is the reply
// {[alias|Ref], Payload} and a DEMONITOR_P.
//
// Terms of a peer without the flag go through Values.Unmark if an atom that is a mark is among those that
// the distribution header lists, or if the header lists 255, or there is none.
//
// A peer without DIST_MONITOR or DIST_MONITOR_NAME, such as a C or Java node, is sent no MONITOR_P, DEMONITOR_P or
// MONITOR_P_EXIT, and one without UNLINK_ID no acknowledgement: as OTP does it, Write drops them without an error.
//
// A message without a sender is sent as from process 0 of this node. What the
// peer's flags do not allow (a spawn, an alias, a priority for other than a message)
// is an EncodeError, and so is a pid of a third node where the protocol wants one of
// the two: the peer would end the link.
//
// # What ends a link
//
// Read fails, and the link is of no more use, after: the end of the connection; a
// frame that begins with something else; a shape of a type that is none; an atom that the cache does not have; a
// fragment out of order, of an unknown sequence, or of a sequence or a byte too many; a
// message or frame beyond the limits; a control message with an unknown operation,
// the wrong number of elements, an element of the wrong type, or a process of a
// third node in a link or monitor (the text shows it); an UNLINK from a peer with
// UNLINK_ID; a payload that is no term, or beyond the limits of etf, or a Go value that cannot be read; bytes behind
// a control message that has no payload (behind a payload they are left unread); a spawn request whose arity is not
// the number of its arguments. OTP ends
// links for the same reasons, the last perhaps left out.
//
// # What can be lost
//
// What has been written and not flushed, or flushed and not read by the peer, when
// the link ends. Nothing is reordered or doubled.
//
// # Limits and versions
//
// [dist.LinkLimits] bounds a message (256 MiB, both ways), how many may be under
// way in fragments (64), how many bytes those take together (512 MiB), and each step
// of the handshake (7 s). A term may have an element for each 16 bytes of the longest
// message, at least 65,536, and inflates to 64 MiB at most. What has come of unfinished
// messages, and what a compressed one becomes while it is read, is taken from the Budget
// of the handshake, too, and given back when the message is complete or by Close; the link
// of a peer that goes beyond it ends. The protocol has no word for why a node ends a link: the peer
// sees the end of the connection. Handshake messages are below 64 KiB, names at most 255
// characters of Latin-1. A link takes up to 180 KiB; buffers above 2 MiB are not kept.
// Binaries of up to 250 bytes that are sent to one process and come together, four and
// more, share memory: keeping one of them keeps 16 at most, of 1.5 KiB together.
//
// Peers are OTP 23 and newer, tested with OTP 25, whose conversations are in
// testdata. A node of OTP 25 that is to send fragments without an atom cache dies
// of it, so Protocol.Without treats the one as the other.
//
// Sources: "Distribution Protocol" and "External Term Format" in OTP's ERTS User's
// Guide; dist_util.erl, net_kernel.erl and dist.hrl of OTP 25; dist.h of OTP 28.
package erldist
