package statem

// What a machine ends with when its states break the rules.
var (
	ErrNoState   = errNoState
	ErrBadAction = errBadAction
)
