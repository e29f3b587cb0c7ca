package admin

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/actornode/actornode/node"
)

// levelAtom returns debug, info, warn, error, or a level between in slog's syntax: 'info+1'.
func levelAtom(l slog.Level) node.Atom { return node.Atom(strings.ToLower(l.String())) }

func levelOf(a node.Atom) (l slog.Level, err error) {
	if err := l.UnmarshalText([]byte(a)); err != nil {
		return 0, fmt.Errorf("%w: unknown log level %q: want debug, info, warn or error", ErrBadRequest, a)
	}
	return l, nil
}
