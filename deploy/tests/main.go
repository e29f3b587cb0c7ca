package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := start(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tests:", err)
		os.Exit(1)
	}
}

const usage = "usage: tests test|merge|night [PART ...] | list | shake [flags]"

func start(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	root, err := repository()
	if err != nil {
		return err
	}
	switch args[0] {
	case "list":
		list(os.Stdout)
		return nil
	case "shake":
		return shakeCommand(ctx, root, args[1:])
	case "burn":
		return burn(args[1:])
	}
	parts, err := choose(args[0], args[1:])
	if err != nil {
		return err
	}
	return newRun(root, args[0]).all(ctx, parts)
}
