package wire

// Dest is the destination of a message: a [PID], an [Atom] (a name registered on this node), a [Ref] (an alias) or an [At]
// (a name registered on some node). There are no others. A Go string is not a Dest: write Send(node.Atom("name"), m);
// Send("name", m) does not compile.
type Dest interface{ destIsPIDAtomRefOrAt() }

func (PID) destIsPIDAtomRefOrAt()  {} // the name appears in the compiler's message for a string
func (Atom) destIsPIDAtomRefOrAt() {}
func (Ref) destIsPIDAtomRefOrAt()  {}
func (At) destIsPIDAtomRefOrAt()   {}

// Termer is a Go value that represents a term. Encoders use the result of Term instead of the value; the result may be or
// contain Termers, too.
type Termer interface{ Term() any }

// At is a registered name on some node: Erlang's {Name, Node}.
type At struct{ Name, Node Atom }

// String prints a as Erlang does.
func (a At) String() string { return Format(Tuple{a.Name, a.Node}) }
