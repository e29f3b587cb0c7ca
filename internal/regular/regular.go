// Package regular reads the files that a configuration names. Such a path may lead anywhere: to a pipe without a writer,
// to a device without an end, to a file server that is gone. A program that waits for these neither starts nor stops.
//
// # Invariants
//
//  1. Read returns within Limit, whatever the path leads to.
//  2. It reads nothing but regular files, and no more of one than it is told to.
//
// # Goroutines
//
// One for each Read. It ends when the file system has answered, which may be after Read has returned.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Limit is how long a file may take to be read.
const Limit = 5 * time.Second

// MaxConfig is how much of a configuration, a tree or a certificate is read, in bytes.
const MaxConfig = 16 << 20

// What is wrong with a file beside what package os says.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("too large")
	ErrTooSlow    = errors.New("the file system does not answer")
)

// Read returns what is in a file, of at most so many bytes, and what the file system says of it. The error wraps
// fs.ErrNotExist if there is none; info is nil if it was not opened.
func Read(path string, most int64) (text []byte, info fs.FileInfo, err error) {
	return read(path, most, Limit, open)
}

// File is Read as os.ReadFile is, of MaxConfig bytes at most.
func File(path string) ([]byte, error) {
	text, _, err := Read(path, MaxConfig)
	return text, err
}

type result struct {
	text []byte
	info fs.FileInfo
	err  error
}

func read(path string, most int64, limit time.Duration, open func(string) (*os.File, error)) ([]byte, fs.FileInfo, error) {
	got := make(chan result, 1)
	go func() {
		text, info, err := readNow(path, most, open)
		got <- result{text, info, err}
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case r := <-got:
		return r.text, r.info, r.err
	case <-late.C:
		return nil, nil, fmt.Errorf("%s: %w within %v", path, ErrTooSlow, limit)
	}
}

func readNow(path string, most int64, open func(string) (*os.File, error)) (text []byte, info fs.FileInfo, err error) {
	f, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, info, fmt.Errorf("%s is %w (%v)", path, ErrNotRegular, info.Mode().Type())
	case info.Size() > most:
		return nil, info, fmt.Errorf("%s: %w: %d bytes; want at most %d", path, ErrTooLarge, info.Size(), most)
	}
	if text, err = io.ReadAll(io.LimitReader(f, most+1)); err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: %w: want at most %d bytes", path, ErrTooLarge, most)
	}
	return text, info, err
}
