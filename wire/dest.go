package wire

// Dest is what names a process, or says where one is to be found: a [PID], an [Atom] (the name
// that it is registered under on this node), a [Ref] (an alias) or an [At] (the name that it is
// registered under on some node). There are no others: a Go string is none, and Send("name", m) does not compile, where
// Send(node.Atom("name"), m) is meant.
type Dest interface{ destIsPIDAtomRefOrAt() }

func (PID) destIsPIDAtomRefOrAt()  {} // a compiler's message names it for a string
func (Atom) destIsPIDAtomRefOrAt() {}
func (Ref) destIsPIDAtomRefOrAt()  {}
func (At) destIsPIDAtomRefOrAt()   {}

// Termer is a Go value that stands for a term: encoders take what Term returns
// in its place, which may be a Termer again or hold some.
type Termer interface{ Term() any }

// At is a registered name on some node: Erlang's {Name, Node}.
type At struct{ Name, Node Atom }

// String prints a as Erlang does.
func (a At) String() string { return Format(Tuple{a.Name, a.Node}) }
