// Package rights says what other nodes may do on a node: connect, send, call, start processes, use the operator's
// service. A [Policy] is set as Rights of node.Distribution. Without one every node that knows the cookie may do
// everything.
//
// # Nouns
//
//   - A [Rule] says who it is for, and what they may do.
//   - An [Identity] is what is known of a node over one connection: its name, its certificate, its cookie.
//   - What is [Granted] is what the first rule says that is for an Identity; nothing, if no rule is.
//   - A [Policy] has the rules and further cookies. It can be changed while nodes are connected.
//
// Who operates the cluster may do everything and proves that with a cookie of its own; others may use one process:
//
//	policy, err := rights.New(rights.Config{
//		Cookies: map[string]string{"ops": "a long secret"},
//		Rules: []rights.Rule{
//			{Cookie: "ops", May: []string{"all"}},
//			{Peer: "*@shop.example.org", May: []string{"connect", "call counter"}},
//		},
//	})
//
// # Rights
//
// A right is a word. Behind some words one thing may stand that it is for; without that it is for all.
//
//	connect                  to be connected, whichever node dials, as of net_kernel:allow/1 of OTP; net_adm:ping
//	send, send NAME          messages that are no calls, to the process with a registered name; without a NAME to all
//	call, call NAME          calls ('$gen_call') of the process with a registered name; without a NAME of all
//	spawn, spawn M:F/A       processes started by module, function and arity; M:* is all functions of a module
//	rpc, rpc M:F/A           functions called by rpc and erpc, that go to rex included
//	signal                   exit signals, links, group leaders, system messages (sys of OTP): what can end or suspend a process
//	admin_read               the operator's service, as far as it shows the node: status, nodes, ps, waits, tree, info, log_level,
//	                         log_levels
//	admin_act                the operator's service, as far as it changes something
//	trace                    the operator's service, as far as it shows messages: trace, deadletters
//	profile                  the operator's service, as far as it measures the program at a cost: stack, profile
//	all                      all of these
//
// A process that may be called, or sent to, by its name, may be called or sent to by its PID, too. It may be monitored.
// These always reach a process: replies to its own requests, what comes to an alias that it has made, and the ends of its
// links and monitors. The process net_kernel may always be called. The processes rex and actornode are not among those
// that send and call are for: rpc and the rights of the operator's service are.
//
// What another process does for a node needs the right to that effect, too, to send, to call or to end: a function that is
// called by rpc, a service that is told whom to report to. An answer goes to the node that asks; for who may send to
// everything it may go to another, who waits for it by the reference that it has. A process that a node has had started
// is its own, as long as it proves the same identity.
//
// # What is refused
//
// What is refused looks like what is not there: a call, a monitor and a link get noproc, a start and a function undef, a
// message is dropped. The operator's service answers not_allowed. A connection is refused in its handshake.
//
// # Invariants
//
//  1. The first rule for an Identity decides, alone.
//  2. Who may not connect may do nothing: a rule without connect that has other rights is an error.
//  3. An Identity does not change while the connection lasts; what is granted may, by [Policy.Set].
//  4. A name proves nothing by itself: a node chooses its own. A certificate or a cookie does.
//
// # Goroutines
//
// None. Any number may use a Policy.
package rights
