package node

// mostDeferred is after how many frames, or parcels, their answers are sent, at the latest,
// together; before, when nothing else has come.
const mostDeferred = 32

// deferAnswers has the answers to one more frame wait.
func (p *peer) deferAnswers() {
	if p.deferred++; p.deferred == 1 {
		p.Box.Defer()
	}
}

// flushAnswers sends the answers that have waited.
func (p *peer) flushAnswers() {
	if p.deferred > 0 {
		p.deferred = 0
		p.Box.EndDefer()
	}
}
