package peers

import "time"

// share decides which of two does what batches set off: the reader, or a worker beside it. If
// the reader does, messages are handled in the cache into which they have been read, and none
// wait for another goroutine. But reading waits meanwhile. So the reader does it as long as
// that takes little more than the reading did. If it has taken more than costly times as long
// for each message of a batch, the reader tries once more with the next one; if that happens
// again, with the second after it, then the fourth, and so on up to mostPause, and workers do
// those between, while the reader reads on.
//
// Both times are measured at run time, on the machine that it is about. Time in which the
// reader did not run counts, too: nothing cheaper tells them apart.
type share struct {
	reading time.Duration // of one message, of late
	left    int           // the reader handles the one that is so many batches from now, and none before
	pause   int           // left, when it was last set
}

// next is told that a batch is delivered. It reports whether the reader handles it.
func (s *share) next() bool {
	s.left = max(0, s.left-1)
	return s.left == 0
}

// read is told how long it has taken to read some messages. What is far more than usual counts
// for twice the usual at most: the reader has not run.
func (s *share) read(took time.Duration, messages int) {
	each := took / time.Duration(messages)
	if s.reading == 0 {
		s.reading = each
		return
	}
	s.reading += (min(each, 2*s.reading) - s.reading) / weight
}

// handled is told how long it has taken to handle some messages.
func (s *share) handled(took time.Duration, messages int) {
	if took <= costly*s.reading*time.Duration(messages) {
		s.pause = 0
		return
	}
	s.kept()
}

// kept is told that handling has taken long, or still goes on.
func (s *share) kept() {
	s.pause = min(max(1, 2*s.pause), mostPause)
	s.left = s.pause
}
