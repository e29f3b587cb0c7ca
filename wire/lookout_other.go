//go:build !unix

package wire

import "errors"

func tryRead(uintptr, []byte) (n int, err error) { return 0, errors.ErrUnsupported }

func again(error) bool { return false }
