package peers

import "time"

// The constants of this package that were chosen, each with its reason. The two times are about
// networks and people, not about a machine.

// TicksPerTime is how many ticks there are in TickTime: a peer counts as gone when nothing has
// come for so many, as in OTP.
const TicksPerTime = 4

// fewRequests is how many requests to a peer are under way, at most, if a caller sends its
// request itself. With more of them the writer sends several at a time. With fewer than four
// there is seldom a second one to send by the time that the writer is awake.
const fewRequests = 4

// busyPause is before the first further attempt where the peer is connecting by itself; each
// next pause is twice as long. A handshake takes a few round trips, so a peer that is near has
// connected within it, and one that is far within the next ones.
const busyPause = 20 * time.Millisecond

// acceptPause is how long a listener that fails is left alone: ten log lines a second at most,
// and no busy loop while the system is out of files.
const acceptPause = 100 * time.Millisecond
