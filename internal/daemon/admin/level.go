package admin

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/actornode/actornode/node"
)

// levelAtom is debug, info, warn, error, or as slog prints what lies between:
// 'info+1'.
func levelAtom(l slog.Level) node.Atom { return node.Atom(strings.ToLower(l.String())) }

func levelOf(a node.Atom) (l slog.Level, err error) {
	if err := l.UnmarshalText([]byte(a)); err != nil {
		return 0, fmt.Errorf("%w: unknown log level %q: want debug, info, warn or error", ErrBadRequest, a)
	}
	return l, nil
}
