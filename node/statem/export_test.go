package statem

// The reasons of a machine whose states break the rules.
var (
	ErrNoState   = errNoState
	ErrBadAction = errBadAction
)
