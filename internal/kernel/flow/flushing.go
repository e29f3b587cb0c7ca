package flow

func (b *Box) state() FlushState { return FlushState(b.flushing.Load()) }

// step takes a step, and leaves to the caller what is to be done.
func (b *Box) step(e FlushEvent) FlushAction {
	for {
		was := b.flushing.Load()
		next, a := FlushStep(FlushState(was), e)
		if uint64(next) == was || b.flushing.CompareAndSwap(was, uint64(next)) {
			return a
		}
	}
}

// on takes a step, and does what is to be done.
func (b *Box) on(e FlushEvent) {
	switch b.step(e) {
	case TryFlush:
		b.tryFlush()
	case WakeWriter:
		b.wakeWriter()
	}
}

// tryFlush sends what is in the link, as far as that takes it at once.
func (b *Box) tryFlush() {
	if b.prompt == nil || b.prompt.Try() {
		b.on(TryLeft)
	}
}

// wakeWriter wakes the writer, for a step has asked for it.
func (b *Box) wakeWriter() { b.wake <- struct{}{} } // has capacity: once for each time that the writer sleeps

// scheduleFlush sees to it that what has been written into the link leaves soon: by the
// writer, if it is awake; by whatever defers, or at the end of the turn; or it wakes the
// writer.
func (b *Box) scheduleFlush(t *Turn) {
	s := b.state()
	if !s.Asleep() {
		return // it looks at the link before it sleeps
	}
	if s.Deferring() == 0 && t != nil && t.deferTo(b) {
		return
	}
	b.on(Written)
}

// Defer has what is written wait for EndDefer, which must follow soon, on whatever
// goroutine.
func (b *Box) Defer() { b.step(Defer) }

// EndDefer sends what has waited.
func (b *Box) EndDefer() { b.on(EndDefer) }

// Yield sends what has waited until now, for a caller that goes on deferring.
func (b *Box) Yield() { b.on(Yield) }
