// Package regular reads files named in a configuration. Such a path may lead anywhere: to a pipe without a writer, an
// endless device, an unreachable file server. A program that waits for these neither starts nor stops.
//
// # Invariants
//
//  1. Read returns within Limit for any path.
//  2. It reads only regular files, up to the given size.
//
// # Goroutines
//
// One for each Read. It ends when the file system has responded, which may be after Read has returned.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Limit is the maximum time for reading a file.
const Limit = 5 * time.Second

// MaxConfig is the maximum size of a configuration, a tree or a certificate, in bytes.
const MaxConfig = 16 << 20

// Errors in addition to those of package os.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("too large")
	ErrTooSlow    = errors.New("the file system does not answer")
)

// Read returns the contents and the info of a file of at most most bytes. The error wraps fs.ErrNotExist if the file does
// not exist; info is nil if it was not opened.
func Read(path string, most int64) (text []byte, info fs.FileInfo, err error) {
	return read(path, most, Limit, open)
}

// File is Read with the signature of os.ReadFile and at most MaxConfig bytes.
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
