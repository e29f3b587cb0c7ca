package command

import (
	"log/slog"
	"strings"
)

// level is a slog.Level in lower case, as --log-level has it.
type level struct{ slog.Level }

func (l level) String() string { return strings.ToLower(l.Level.String()) }
