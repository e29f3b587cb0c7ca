package wire

// Tuple is an Erlang tuple: {ok, 42} is Tuple{OK, 42}.
type Tuple []any

// String prints t as [Format] does.
func (t Tuple) String() string { return Format(t) }
