package command

import (
	"log/slog"
	"strings"
)

// level is a slog.Level that formats in lower case, as for --log-level.
type level struct{ slog.Level }

func (l level) String() string { return strings.ToLower(l.Level.String()) }
