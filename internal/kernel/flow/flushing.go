package flow

func (b *Box) state() FlushState { return FlushState(b.flushing.Load()) }

// step takes a step, and leaves the action to the caller.
func (b *Box) step(e FlushEvent) FlushAction {
	for {
		was := b.flushing.Load()
		next, a := FlushStep(FlushState(was), e)
		if uint64(next) == was || b.flushing.CompareAndSwap(was, uint64(next)) {
			return a
		}
	}
}

// on takes a step, and carries out the action.
func (b *Box) on(e FlushEvent) {
	switch b.step(e) {
	case TryFlush:
		b.tryFlush()
	case WakeWriter:
		b.wakeWriter()
	}
}

// tryFlush sends what is in the link, as far as the connection accepts it at once.
func (b *Box) tryFlush() {
	if b.prompt == nil || b.prompt.Try() {
		b.on(TryLeft)
	}
}

// wakeWriter wakes the writer, as required by a step.
func (b *Box) wakeWriter() { b.wake <- struct{}{} } // has capacity: called once each time that the writer sleeps

// scheduleFlush ensures that what was written into the link is sent soon: by the writer, if it is awake; by a deferring
// goroutine, or at the end of the turn; or it wakes the writer.
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

// Defer delays the sending of what is written until EndDefer, which must follow soon, on any goroutine.
func (b *Box) Defer() { b.step(Defer) }

// EndDefer sends what was deferred.
func (b *Box) EndDefer() { b.on(EndDefer) }

// Yield sends what has been deferred until now, for a caller that continues to defer.
func (b *Box) Yield() { b.on(Yield) }
