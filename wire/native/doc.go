// Package native speaks the native protocol, between two nodes of this project:
// Erlang's signals and terms, and registered Go types, as MessagePack. It implements
// [dist.Protocol]; its links are links.MessageWriter, links.LookAhead, links.BatchReader, links.BusyReader,
// links.TryFlusher, links.Checker and links.Requester. This is its specification, version 1; package pack has that of the
// terms.
//
// # Nouns
//
//   - A [Protocol] turns a connection into a link, in a handshake.
//   - A machine is one side of a handshake: messages in, messages out, no socket.
//   - A writer makes frames of signals ([dist.Frame]), a reader signals of frames;
//     neither has a socket. A link moves their bytes.
//   - A long message leaves in parts, numbered by a stream, between other frames.
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
//  1. No byte behind the handshake is read before it is over. Before the peer has
//     proved that it knows the cookie, only Cookies, Admit and Insist are asked, and no
//     session is looked up.
//  2. A proof is good for one conversation, one direction and, over TLS, one
//     channel. Proofs are compared in constant time; nonces come from crypto/rand.
//  3. The signals of one sender come in the order in which they were written: a
//     later one waits for the last part of a long one (dist.ErrLater).
//  4. Between two parts of a long message, one part of each other long message and
//     all that is short may go: the first byte of what is short waits for no more
//     than one part of each, 16 of 63 KiB.
//  5. A Write that fails leaves link, tables and caches as they were.
//  6. No frame makes a reader panic, or hold more than the limits allow, or, of a
//     long message, more than 1 MiB before as much has come.
//  7. In a session each frame is taken exactly once, in order, over however many
//     connections (session.go).
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
//	out                       guarded by mu: Write, Send, and Flush and Try where they take from it
//	spare, turn, batch        the goroutine that holds writer: Flush, Try, a goodbye
//	closed, sent, received    atomic; Traffic and Close are for all
//
// # Handshake
//
// Each message follows its length in 16 bits, at most 4,096 (message.go has the
// bytes). A has dialled, B accepts; a state names what is waited for; each step has
// 7 s:
//
//	A                                                  B
//	                                                   await hello
//	  ── hello: versions, itself, who is meant ─────▶    no common version, another name, TLS at one
//	await welcome                                        end only, Admit says no, no cookie for A ──▶ refusal, failed
//	  ◀─────── welcome: version, itself, alive ─────
//	    another name, not to insist ──▶ refusal, failed
//	  ── proof [session, received] ─────────────────▶  await proof
//	await ack                                            wrong, Proved says no ──▶ refusal, failed
//	  ◀────────────────── ack [session, received] ──     no such session ──▶ ack without, failed
//	    wrong ──▶ refusal, failed
//	  ── done ──────────────────────────────────────▶  await done
//	finished                                           finished
//
// What a node says of itself: flags, name and creation; how long it would wait for
// a new connection (grace, in ms); the longest message that it reads, how many may
// be in parts at a time, and how many bytes these may have together, to which the
// peer keeps; a nonce of 32 bytes.
//
//	flag  bit  meaning
//	1     0    hidden: not to be seen by nodes()
//	2     1    reads compressed frames
//	4     2    would have a session
//	8     3    of a hello: the connection is for a session that there is
//	16    4    sees TLS
//	32    5    reads the types of Go values; to a peer without it they are sent as plain terms
//	64    6    reads requests and replies in a frame each; where both have it they are sent so
//	128   7    client: a tool, such as a command line, and no member of the cluster
//
// The version is the highest that both have; bytes behind what a message holds are
// ignored, so that later versions can add some. alive says that B has a link to A
// already: A goes on, or refuses as busy if it knows of that link too.
//
// A proof is HMAC-SHA-256, by the cookie that the prover knows, of these, each
// behind its length in 32 bits: "actornode native 1: proof of the side that dialled"
// or "… accepted"; the channel; hello; welcome; in an ack the whole proof; the proof or
// ack itself without its mac. The channel is empty, or over TLS 32 bytes of keying
// material for the label "EXPORTER-actornode-native" without context (RFC 5705): so a
// proxy that ends TLS in between cannot pass a proof on. An attacker that has recorded a
// conversation, or has been dialled by a node, can try cookies offline: they should be long.
//
// While a cluster changes its cookie, B takes a proof by an old one (Handshake.OldCookies), and its ack is by
// the same; A that is refused for the cookie tries again with an old one, over a new connection.
//
// So a proof is worth nothing in another connection, to another node or under another name.
// Erlang's handshake cannot promise that (see package erldist). Without TLS it protects the
// handshake alone: an attacker between the nodes can read and change what comes after it.
//
// A peer that resumes a session goes through the same handshake. Admit may refuse it; Proved
// is not called, for there is no new link.
//
// A refusal has a code and a text of at most 400 bytes for people; the code list is
// closed and append-only:
//
//	1  what came does not belong to the protocol   dist.ErrPeerProtocol
//	2  no version that both speak                  dist.ErrNotAllowed
//	3  a name not asked for, or none               dist.ErrPeerName
//	4  another connection goes on                  dist.ErrBusy
//	5  not wanted                                  dist.ErrNotAllowed
//	6  the cookie is not known                     dist.ErrCookie
//	7  beyond the receiver's limits                dist.ErrPeerProtocol
//	8  what came is no term                        dist.ErrPeerProtocol
//	9  the link is closed, nothing is wrong        the peer's Read says io.EOF
//	11 no more connections for now                 dist.ErrFull
//
// Peers that begin with TLS, HTTP or Erlang's handshake are recognized; to the last,
// "not_allowed" is said in its own way. A peer that was refused has a second to read why.
//
// # Frames
//
// A frame follows its length in 16 bits; none is a tick. With a session the
// CRC-32C of length and frame follows, big-endian, but after a tick. The first byte:
//
//	bits 0–3  the op: a dist.Op from 1 to 13, 14 a part, 15 a goodbye, 0 an ack of a session
//	bit 4     extras follow the fields: an integer of bits (1 urgent; 2 ID; 4 token; 8 request; 16 reply), and then
//	          ID, token, and the ref of a request
//	bit 5     what remains, the payload or the data of a part, is one frame of zstd, of at most 65,535 bytes
//	bit 6     the payload comes in parts: what remains is the stream and the number of its bytes
//	bit 7     0
//
// So a signal is a sequence of objects of MessagePack, the first a fixint:
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
//	OpSpawnReply   from?, to, ref, Bits                      reason, where from is missing
//	OpReceipt      from?, to?, ID                            what has become of the message
//
// Bits are 1 link and 2 monitor. ? marks what may be nil. In links, monitors, exits
// and spawns, from is a process of the sender's node and to one of the receiver's. A
// pid is an extension of package pack or, as a fixint, the place at which the last
// one with that place stood: the exclusive or of both halves of its number, modulo
// 128. Each direction has two such tables, one for from, one for to and leader. So a
// binary of 64 bytes between two processes whose pids were sent before costs 71 bytes: 2 length, 1
// op, 2 pids, 66 binary.
//
// A call of a process between nodes with flag 64 is two frames. The request is an OpSend with the bit 8, from a process
// to a pid or a name: it is an OpMonitor of the receiver with ref, and then the message
// {'$gen_call', {From, [alias|Ref]}, Body}, of which Body is the payload. The reply is an OpSend with the bit 16 to the
// alias Ref: the message {[alias|Ref], Value}, of which Value is the payload, and the end of that monitor. The node of a
// caller that gives up sends an OpDemonitor, and so does that of one which is answered by a message without the bit; that
// may come from any node.
//
//	part     op 14, stream:8, data         at most 63 KiB of it are sent, in order; as many bytes in all as announced
//	         with stream 255: the name of a type of the sender's, as a standalone atom, and its shape, a standalone term;
//	         or nil: those are all
//	goodbye  op 15, code:8, text           the end
//	ack      op 0, integer                 bytes of the session received
//
// Where both have flag 32, each tells the other the shapes of its registered types, of up to 16 KiB each,
// before anything else: A first, and B when it has had all of A's, within the 7 s of a step. Those
// registered later go before what is sent then. A shape is a string, the kind of what has no parts (bool
// int float string bytes time any error, "by methods", the builtin names of package pack for terms, … for
// what is not told); {"[]", Elem}; {"map[]", Key, Elem}; or a map from the names of the fields of a struct,
// strings, to their shapes. A node that has had the shape of a type does not send a value of its type by
// that name to which a field that both have is of another kind: the Write fails with both shapes.
//
// Atoms and nodes in fields, extras and short payloads use the caches of the
// direction; a payload in parts is standalone, with a cache of its own, as it may be
// overtaken.
//
// # Sessions
//
// If both sides have a time of grace, the shorter holds, and B names a session in its
// ack. Each counts the bytes of the frames that it sends with length and sum, but
// for ticks, acks and goodbyes. It keeps them until the peer has acknowledged them:
// every 64 KiB, and with ticks; when more than 8 MiB are kept, Flush waits. A
// connection is broken when reading or writing fails, a sum is wrong, or nothing has come
// for Handshake.Silence (without that, a damaged length may hold a link up until
// more comes). Then A dials again, 20 ms to 1 s apart, with flag 8, and both say in
// their proofs how much they have received; B finds the session by its unguessable name
// and the peer's name and creation, and gives the connection to the waiting link;
// Accept says links.ErrResumed. Admit and Insist are not asked. Both send again what
// the other has not received, and go on. An ack without a session, proved as any, or
// from another creation, ends the link; so does the end of the time of grace, with the
// error that broke the connection. Close says goodbye, so that the peer does not wait; without a
// session, too, so that the peer can tell a node that was stopped from one that was lost.
//
// # What can be lost
//
// Without a session: what has been written and not flushed, or flushed and not read
// by the peer, when the link ends. With one: the same when it is given up. Signals
// of different senders may overtake each other; nothing is doubled.
//
// # Limits and versions
//
// [dist.LinkLimits]: a message (256 MiB and 64 KiB, both ways; Write knows the
// peer's too), how many may be in parts at a time (64; at most 16 are sent), how
// many bytes these have together (twice a message), each step of the handshake (7 s).
// A term may have an element for each 16 bytes of the longest message, at least 65,536. What a message refers to
// several times counts each time: together it is no longer than the longest message, on both sides.
// The memory for messages in parts is taken from the Budget of the handshake, too, and
// given back with the last part or by Close: a peer that goes beyond it is refused with code 8. A
// node that ends a link deliberately says why (Explain), with the same code, where the
// connection takes it at the end of a frame within 100 ms; else the peer sees an end
// without a reason. What stands before a payload, trace token and all, fits one frame. An idle link
// takes about 28 KiB, and one goroutine with a session; reading buffers grow to
// 256 KiB and shrink again. Versions: 1.
//
// What is quick: Send of a binary of up to 250 bytes between two pids that were sent before
// takes one lock and no allocation; Read is bounded by the two allocations of what
// it returns. Such binaries that are sent to one process and come together, four and
// more, share memory: keeping one of them keeps 16 at most, of 1.5 KiB together.
package native
