package peers

import "time"

// share decides whether the reader, or a worker in parallel, handles what batches wake. If the reader does, messages are
// handled in the cache into which they have been read, and none waits for another goroutine. But meanwhile nothing is read.
// So the reader does it as long as that takes little more time than reading. If handling took more than costly times as long
// per message of a batch, the reader tries again with the next batch; if that happens again, with the second after it, then
// the fourth, and so on up to mostPause, and workers handle the batches between, while the reader continues to read.
//
// Both times are measured at run time, on the same machine. They include time in which the reader did not run: nothing cheap
// tells these apart.
type share struct {
	reading time.Duration // average per message, weighted to recent ones
	left    int           // batches until the next one that the reader handles
	pause   int           // the last value that left was set to
}

// next is called for each delivered batch. It reports whether the reader handles it.
func (s *share) next() bool {
	s.left = max(0, s.left-1)
	return s.left == 0
}

// read records how long it took to read messages. An outlier counts as twice the average at most: the reader was not running.
func (s *share) read(took time.Duration, messages int) {
	each := took / time.Duration(messages)
	if s.reading == 0 {
		s.reading = each
		return
	}
	s.reading += (min(each, 2*s.reading) - s.reading) / weight
}

// handled records how long it took to handle messages.
func (s *share) handled(took time.Duration, messages int) {
	if took <= costly*s.reading*time.Duration(messages) {
		s.pause = 0
		return
	}
	s.kept()
}

// kept records that handling has taken long, or is still going on.
func (s *share) kept() {
	s.pause = min(max(1, 2*s.pause), mostPause)
	s.left = s.pause
}
