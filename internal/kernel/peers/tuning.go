package peers

import "time"

// The tuning constants of this package, each with its reason. The two times depend on networks and people, not on a machine.

// TicksPerTime is the number of ticks per TickTime: a peer is considered dead after that many ticks without traffic, as in
// OTP.
const TicksPerTime = 4

// fewRequests is the number of waiting requests to a peer below which a caller sends its request itself. With more of them
// the writer sends several at a time. With fewer than four there is seldom a second one to send by the time the writer is
// awake.
const fewRequests = 4

// busyPause is the pause before the first retry while the peer is connecting by itself; each further pause is twice as long.
// A handshake takes a few round trips, so a near peer has connected within the first pause, and a distant one within the
// next.
const busyPause = 20 * time.Millisecond

// acceptPause is the pause after a listener has failed: at most ten log lines a second, and no busy loop while the system is
// out of file descriptors.
const acceptPause = 100 * time.Millisecond
