package node

import "github.com/actornode/actornode/wire/dist"

// mostDeferred is after how many frames, or parcels, their answers are sent, at the latest,
// together; before, when nothing else has come.
const mostDeferred = 32

// deferAnswers has the answers to one more frame wait.
func (p *peer) deferAnswers() {
	if p.deferred++; p.deferred == 1 {
		p.box.Defer()
	}
}

// flushAnswers sends the answers that have waited.
func (p *peer) flushAnswers() {
	if p.deferred > 0 {
		p.deferred = 0
		p.box.EndDefer()
	}
}

// fewCalls is how many calls to a peer are under way, at most, if a caller sends its
// request itself. With more of them the writer sends several at a time.
const fewCalls = 4

// deferForCall reports whether few calls to p are under way, and if so defers: the caller
// flushes before it waits.
func (p *peer) deferForCall() bool {
	p.mu.Lock()
	few := len(p.calls) < fewCalls
	p.mu.Unlock()
	if few {
		p.box.Defer()
	}
	return few
}

// askSoon is ask for one who then waits for a start, or a receipt.
func (p *peer) askSoon(a *acting, t ticket, f dist.Frame) {
	if p.deferForCall() {
		defer p.box.EndDefer()
	}
	p.ask(a, t, forStart, &farCall{}, f)
}
