package tables

import "github.com/actornode/actornode/wire"

// Methods that resolve clashes of names. RandomExit is the default.
var (
	RandomExit   any = wire.Export{Module: "global", Function: "random_exit_name", Arity: 3}
	RandomNotify any = wire.Export{Module: "global", Function: "random_notify_name", Arity: 3}
	NotifyAll    any = wire.Export{Module: "global", Function: "notify_all_name", Arity: 3}
)

// GlobalEffects carries out the effects of OTP's methods on processes.
type GlobalEffects interface {
	Kill(pid wire.PID)
	Tell(pid wire.PID, msg any)
}

// DecideGlobal resolves a clash by a method of OTP: it returns the process that keeps the name, or none. ok is false if the
// method is another one.
func DecideGlobal(function wire.Atom, name any, a, b wire.PID, do GlobalEffects) (keeps any, ok bool) {
	low, high := a, b
	if wire.Compare(a.Node(), b.Node()) >= 0 {
		low, high = b, a
	}
	conflict := wire.Atom("global_name_conflict")
	switch function {
	case "random_exit_name":
		do.Kill(high)
		return low, true
	case "random_notify_name":
		do.Tell(high, wire.Tuple{conflict, name})
		return low, true
	case "notify_all_name":
		do.Tell(a, wire.Tuple{conflict, name, b})
		do.Tell(b, wire.Tuple{conflict, name, a})
		return wire.Atom("none"), true
	}
	return nil, false
}
