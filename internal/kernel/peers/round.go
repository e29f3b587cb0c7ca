package peers

import "time"

// round is a sequence of frames that have arrived together, at most mostGathered. The reader itself runs the processes that
// they wake, after the last frame, unless that takes long compared with reading: see share. So the processes woken by the
// first frames are delayed by the time it takes to read the others. In any case the reader runs what the last frame wakes,
// after which nothing has arrived.
type round struct {
	share  share
	frames int       // so far; 0 if there is no round
	mine   bool      // the reader runs what all frames wake
	began  time.Time // when the first frame had been read, if mine
}

// gather adds the current frame, which is in no batch, to the round.
func (r *Reader) gather() {
	o := &r.round
	if o.frames == 0 {
		if o.mine = !r.last && o.share.next(); o.mine {
			o.began = r.cfg.Env.Now()
		}
	}
	if o.frames++; o.mine || r.last {
		r.inline = r.self
	}
}

// Help runs what the delivered frames have woken, unless workers do. It returns false if a handler keeps this goroutine, and
// another one is the reader.
func (r *Reader) Help() bool {
	o, owed := r.round, r.batch.owed
	r.round.frames, r.batch.owed = 0, 0
	switch {
	case owed > 0:
		return r.run(&r.share, owed, r.cfg.Env.Now())
	case o.mine && o.frames > 1:
		now := r.cfg.Env.Now()
		r.round.share.read(now.Sub(o.began), o.frames-1)
		return r.run(&r.round.share, o.frames, now)
	}
	return r.self.RunPending()
}

// run runs what messages have woken, and lets s judge the time it takes.
func (r *Reader) run(s *share, messages int, start time.Time) (still bool) {
	before := *s
	s.kept() // the state that the next reader must see, if there is one
	if still = r.self.RunPending(); still {
		*s = before
		s.handled(r.cfg.Env.Since(start), messages)
	}
	return still
}
