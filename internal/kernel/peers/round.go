package peers

import "time"

// round is a run of frames that have come together, mostGathered of them at the most. The reader
// itself runs what they set off, after the last of them, unless that takes long beside reading:
// see share. So what the first of them set off comes late by the time that it takes to read the
// others. What the last frame sets off, behind which nothing has come, the reader runs in any case.
type round struct {
	share  share
	frames int       // so far; 0: there is no round
	mine   bool      // the reader runs what all of them set off
	began  time.Time // when the first frame had been read, if mine
}

// gather takes the frame at hand, which is in no batch, into the round.
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

// Help runs what the frames that have been delivered have set off, unless workers do.
// False: a handler keeps this goroutine, and another one is the reader.
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

// run runs what some messages have set off, and has s judge how long that takes.
func (r *Reader) run(s *share, messages int, start time.Time) (still bool) {
	before := *s
	s.kept() // as the next reader, if there is one, has to see it
	if still = r.self.RunPending(); still {
		*s = before
		s.handled(r.cfg.Env.Since(start), messages)
	}
	return still
}
