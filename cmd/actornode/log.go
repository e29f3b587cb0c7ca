package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/actornode/actornode/cmd/actornode/config"
)

// newLog makes the log, and what changes its level. close is to be called when all
// has been said.
func newLog(cfg *config.Config, stderr io.Writer) (log *slog.Logger, level *slog.LevelVar, close func() error, err error) {
	to, close := stderr, func() error { return nil }
	if cfg.Log.File != "" {
		f, err := os.OpenFile(cfg.Log.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
		if err != nil {
			return nil, nil, nil, fail(exitFailed, err, "cannot open the log")
		}
		to, close = f, f.Close
	}
	level = new(slog.LevelVar)
	level.Set(cfg.Log.Level)
	o := &slog.HandlerOptions{Level: level}
	switch cfg.Log.Format {
	case "text":
		return slog.New(slog.NewTextHandler(to, o)), level, close, nil
	case "json":
		return slog.New(slog.NewJSONHandler(to, o)), level, close, nil
	}
	return nil, nil, nil, fmt.Errorf("log.format %q has got past the check", cfg.Log.Format)
}
