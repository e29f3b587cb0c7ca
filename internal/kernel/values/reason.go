package values

import (
	"github.com/actornode/actornode/internal/wire/termof"

	"github.com/actornode/actornode/wire"
)

// Outward converts an exit reason for another node.
func (c *Codec) Outward(why any) any {
	switch form := c.Form(why).(type) {
	case *Crash:
		return c.OfForm(form.Outward(c))
	case *Exit:
		out := &Exit{Reason: c.Outward(form.Reason), Node: form.Node}
		if form.Cause != nil {
			out.Cause = ErrorOf(form.Cause, c)
		}
		return c.OfForm(out)
	case error:
		if _, stands := termof.Of(form); !stands {
			return ErrorOf(form, c)
		}
	}
	return why
}

// Inward converts an exit reason of another node. A crash, and the error for the exit of a process, are modified.
func (c *Codec) Inward(why any) any { return c.inward(why, 0) }

func (c *Codec) inward(why any, depth int) any {
	switch form := c.Form(why).(type) {
	case *Crash:
		if form == nil {
			return c.OfForm(&Crash{})
		}
		form.Inward(c)
	case *Exit:
		if form == nil {
			return c.OfForm(&Exit{})
		}
		if depth < MaxDepth {
			form.Reason = c.inward(form.Reason, depth+1)
			if cause, ok := form.Cause.(*Error); ok && cause != nil {
				form.Cause = cause.Open(c)
			}
		}
	case *Error:
		if form != nil {
			return form.Open(c)
		}
	}
	return why
}

// ErrorTerm returns an error as sent to a node of OTP: the reason or the term that it, or an error that it wraps, represents;
// {'$error', Text, Parts} if other nodes know what it wraps; otherwise its text.
func (c *Codec) ErrorTerm(err error) any {
	if term, ok := c.Own(err); ok {
		return term
	}
	e := ErrorOf(err, c)
	if term, ok := e.Term(); ok {
		return term
	}
	return e.Error()
}

// ReadErrorTerm returns the error for a term of ErrorTerm if that has parts, and converts another term like an exit reason.
func (c *Codec) ReadErrorTerm(term any) any {
	if e, ok := term.(wire.Tuple); ok {
		if err, ok := ReadError(e, c); ok {
			return err
		}
	}
	return c.Inward(term)
}

// CrashTerm returns {Reason, Stacktrace}.
func (c *Codec) CrashTerm(crash *Crash) wire.Tuple { return crash.Term(c, c.ErrorTerm) }
