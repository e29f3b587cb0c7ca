// Package native implements the native protocol between two nodes of this project: Erlang's signals and terms, and
// registered Go types, as MessagePack. It implements [dist.Protocol]; its links are links.MessageWriter, links.LookAhead,
// links.BatchReader, links.BusyReader, links.TryFlusher, links.Checker and links.Requester. This comment is the
// specification of the protocol, version 1; package pack has that of the terms.
//
// # Nouns
//
//   - A [Protocol] turns a connection into a link, by a handshake.
//   - A machine is one side of a handshake: messages in, messages out, no socket.
//   - A writer encodes signals ([dist.Frame]) as frames, a reader decodes frames; neither has a socket. A link moves their
//     bytes.
//   - A long message is sent in parts, identified by a stream number, between other frames.
//   - A session lets a link survive its connection.
//
// A link, and a message to a registered name (the Example runs):
//
//	var p native.Protocol
//	link, err := p.Dial(ctx, conn, dist.Handshake{Local: self, Peer: "shop@host", Cookies: cookies})
//	_, err = link.Write(&dist.Frame{Op: dist.OpSend, From: me, Name: "till", Payload: wire.Tuple{wire.Atom("order"), "tea", 3}})
//	_, err = link.Flush(false)
//	err = link.Read(&frame) // on another goroutine
//
// # Invariants
//
//  1. No byte after the handshake is read before it is complete. Before the peer has proved the cookie, only Cookies, Admit
//     and Insist are called, and no session is looked up.
//  2. A proof is valid for one handshake, one direction and, over TLS, one channel. Proofs are compared in constant time;
//     nonces come from crypto/rand.
//  3. The signals of one sender arrive in the order in which they were written: a later one waits for the last part of a
//     long one (dist.ErrLater).
//  4. Between two parts of a long message, one part of each other long message and all short frames may be sent: a short
//     frame waits for at most one part of each, 16 of 63 KiB.
//  5. A failed Write leaves link, tables and caches unchanged.
//  6. No frame makes a reader panic or hold more than the limits allow. Of a long message it allocates at most 1 MiB before
//     that much has arrived.
//  7. In a session each frame is received exactly once, in order, over any number of connections (session.go).
//
// # Goroutines
//
//	name           started by          ended by                 owns
//	session.keep   Dial or Accept,     Close, an error of the   acks, redialling, the time of grace
//	               with a session      link, or the end of the
//	               only                time of grace
//
//	fields of link            owner
//	peer, conn, session       set once
//	in, input, reader         the goroutine that calls Read
//	out                       guarded by mu: Write, Send, and Flush and Try when they take from it
//	spare, turn, batch        the goroutine that holds writer: Flush, Try, a goodbye
//	closed, sent, received    atomic; any goroutine may call Traffic and Close
//
// # Handshake
//
// Each message is prefixed with its length in 16 bits, at most 4,096 (message.go has the bytes). A has dialed, B accepts; a
// state is named after the message that it waits for; each step has 7 s:
//
//	A                                                  B
//	                                                   await hello
//	  ── hello: versions, itself, B's name ─────────▶    no common version, another name, TLS at one
//	await welcome                                        end only, Admit says no, no cookie for A ──▶ refusal, failed
//	  ◀─────── welcome: version, itself, alive ─────
//	    another name, Insist says no ─▶ refusal, failed
//	  ── proof [session, received] ─────────────────▶  await proof
//	await ack                                            wrong, Proved says no ──▶ refusal, failed
//	  ◀────────────────── ack [session, received] ──     no such session ──▶ ack without, failed
//	    wrong ──▶ refusal, failed
//	  ── done ──────────────────────────────────────▶  await done
//	finished                                           finished
//
// A node sends about itself: flags, name and creation; its time of grace for a new connection, in ms; the longest message
// that it reads, the number of concurrent messages in parts, and their total bytes, which the peer must not exceed; a nonce
// of 32 bytes.
//
//	flag  bit  meaning
//	1     0    hidden: must not appear in nodes()
//	2     1    reads compressed frames
//	4     2    requests a session
//	8     3    of a hello: the connection is for an existing session
//	16    4    the connection uses TLS
//	32    5    no longer used
//	64    6    reads requests and replies in one frame each; they are sent so if both have the flag
//	128   7    client: a tool, such as a command line, not a member of the cluster
//	256   8    reads the types of Go values; to a peer without it values of unregistered types are sent as plain terms
//	512   9    reads how long the caller of a request waits; it is sent if both have this flag and 64
//
// The version is the highest common one. Extra bytes after a message's fields are ignored, so that later versions can add
// fields. alive means that B already has a link to A: A continues, or refuses as busy if it has that link, too.
//
// A proof is HMAC-SHA-256, keyed with the prover's cookie, of these, each prefixed with its length in 32 bits: "actornode
// native 1: proof of the side that dialled" or "… accepted"; the channel; hello; welcome; in an ack the whole proof; the
// proof or ack itself without its mac. The channel is empty, or over TLS 32 bytes of keying material for the label
// "EXPORTER-actornode-native" without context (RFC 5705), so that a proxy that terminates TLS cannot forward a proof. An
// attacker that has recorded a handshake, or has been dialed by a node, can test cookies offline: they should be long.
//
// While a cluster changes its cookie, B accepts a proof with an old one (Handshake.OldCookies), and its ack uses the same
// one. If A is refused because of the cookie, it tries again with an old one, over a new connection.
//
// So a proof is useless on another connection, to another node or under another name. Erlang's handshake cannot guarantee
// that (see package erldist). Without TLS it protects only the handshake: an attacker between the nodes can read and change
// everything after it.
//
// A peer that resumes a session goes through the same handshake. Admit may refuse it; Proved is not called, because there
// is no new link.
//
// A refusal has a code and a text of at most 400 bytes for people; the code list is
// closed and append-only:
//
//	1  the received data violates the protocol     dist.ErrPeerProtocol
//	2  no common version                           dist.ErrNotAllowed
//	3  an unexpected or invalid name               dist.ErrPeerName
//	4  another connection is used instead          dist.ErrBusy
//	5  not allowed                                 dist.ErrNotAllowed
//	6  wrong cookie                                dist.ErrCookie
//	7  the link to resume has ended                dist.ErrPeerProtocol
//	8  beyond the receiver's limits                dist.ErrPeerProtocol
//	9  the received data is not a term             dist.ErrPeerProtocol
//	10 the link was closed, no error               the peer's Read returns io.EOF
//	11 no more connections for now                 dist.ErrFull
//
// Peers that begin with TLS, HTTP or Erlang's handshake are recognized; the last get "not_allowed" in their own protocol. A
// refused peer has a second to read the reason.
//
// # Frames
//
// A frame is prefixed with its length in 16 bits; an empty frame is a tick. With a session, every frame except a tick is
// followed by the big-endian CRC-32C of length and frame. The first byte:
//
//	bits 0–3  the op: a dist.Op from 1 to 13, 14 a part, 15 a goodbye, 0 an ack of a session
//	bit 4     extras follow the fields: an integer of bits (1 urgent; 2 ID; 4 token; 8 request; 16 reply; 32 wait), and
//	          then ID, token, the ref of a request, and its wait
//	bit 5     the rest, the payload or the data of a part, is one zstd frame of at most 65,535 uncompressed bytes
//	bit 6     the payload follows in parts: the rest is the stream and the payload's number of bytes
//	bit 7     0
//
// So a signal is a sequence of MessagePack objects, the first of which is a fixint:
//
//	op of wire     fields                                    payload
//	OpSend         from?, to | name | ref                    message
//	OpLink         from, to
//	OpUnlink       from, to, ID
//	OpUnlinkAck    from, to, ID
//	OpExit         from, to                                  reason
//	OpSignal       from?, to | name | ref                    reason
//	OpMonitor      from, to | name, ref
//	OpDemonitor    from, to | name, ref
//	OpDown         from | name, to, ref                      reason
//	OpGroupLeader  from?, leader, to
//	OpSpawn        from, ref                                 {Module, Function, Args, Leader, Bits, Name | '', Options}
//	OpSpawnReply   from?, to, ref, Bits                      reason, if from is missing
//	OpReceipt      from?, to?, ID                            the outcome of the message
//
// Bits are 1 for link and 2 for monitor. ? marks fields that may be nil. In links, monitors, exits and spawns, from is a
// process of the sender's node and to one of the receiver's. A pid is an extension of package pack or, as a fixint, its
// place in a table of the pids sent before: the exclusive or of both halves of its number, modulo 128; a later pid with the
// same place replaces it. Each direction has two such tables, one for from, one for to and leader. So a 64-byte binary
// between two processes whose pids were sent before takes 71 bytes: 2 length, 1 op, 2 pids, 66 binary.
//
// A call between nodes with flag 64 takes two frames. The request is an OpSend with bit 8, from a process to a pid or a
// name. It means an OpMonitor of the receiver with ref, followed by the message {'$gen_call', {From, [alias|Ref]}, Body};
// only Body is in the payload. The reply is an OpSend with bit 16 to the alias Ref. It means the message {[alias|Ref],
// Value}, with Value as the payload, and ends the monitor. If the caller gives up, or gets an answer without bit 16, which
// may come from any node, its node sends an OpDemonitor. Bit 32 of a request says how long the caller will wait for the
// reply, an integer from 1 to 2³¹-1, in ms; if it is missing, that is unknown, or longer.
//
//	part     op 14, stream:8, data         at most 63 KiB, in order; in total as many bytes as announced
//	goodbye  op 15, code:8, text           the end
//	ack      op 0, integer                 bytes of the session received
//
// Atoms and nodes in fields, extras and short payloads use the caches of the
// direction; a payload in parts is standalone, with its own cache, because other frames may overtake it.
//
// # Sessions
//
// If both sides have a time of grace, the shorter one applies, and B names a session in its ack. Each side counts the bytes
// of the frames that it sends, with length and sum, except ticks, acks and goodbyes. It keeps them until the peer has
// acknowledged them, which happens every 64 KiB and with ticks; while more than 8 MiB are kept, Flush waits.
//
// A connection is broken when reading or writing fails, a sum is wrong, or nothing was received for Handshake.Silence
// (without that, a damaged length may block a link until more data arrives). Then A redials, at intervals of 20 ms to 1 s,
// with flag 8, and both say in their proofs how much they have received. B finds the session by its unguessable name and
// the peer's name and creation, and gives the connection to the waiting link; Accept returns links.ErrResumed. Insist and
// Proved are not called. Both resend what the other has not received, and continue.
//
// The link ends if an ack, with a valid proof, has no session or is from another creation. It also ends after the time of
// grace, with the error that broke the connection. Close sends a goodbye, so that the peer does not wait; also without a
// session, so that the peer can distinguish a stopped node from a lost one.
//
// # What can be lost
//
// Without a session: data that was written but not flushed, or flushed but not read by the peer, when the link ends. With a
// session: the same when the session is given up. Signals of different senders may overtake each other; nothing is
// duplicated.
//
// # Limits and versions
//
// [dist.LinkLimits]: a message (256 MiB plus 64 KiB, in both directions; Write also obeys the peer's limit), concurrent
// messages in parts (64; at most 16 are sent), their total bytes (twice a message), each step of the handshake (7 s). A
// term may have one element per 16 bytes of the longest message, and at least 65,536. The memory for messages in parts is
// also taken from the Budget of the handshake, and returned with the last part or by Close: a peer that exceeds it is
// refused with code 8. A node that ends a link deliberately sends the reason (Explain), with the same code, if the
// connection accepts it at the end of a frame within 100 ms; otherwise the peer sees an end without a reason. Everything
// before a payload, including the trace token, fits one frame. An idle link takes about 28 KiB, and one goroutine with a
// session; read buffers grow to 256 KiB and shrink again. Versions: 1.
//
// Fast paths: Send of a binary of up to 250 bytes between two pids that were sent before takes one lock and no allocation;
// Read makes only the two allocations of its result. Four or more such binaries for one process that arrive together share
// memory: keeping one of them keeps at most 16, of 1.5 KiB together.
package native
