package values

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"

	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/epmd"
	"github.com/actornode/actornode/wire/etf"
	"github.com/actornode/actornode/wire/pickle"
)

// sentinels are the errors that all nodes know, by their texts.
var sentinels = struct {
	names  map[error]string
	errors map[string]error
}{map[error]string{}, map[string]error{}}

// Enter makes errors known to all nodes by their texts. Only init functions may call it. It panics if two errors have the
// same text.
func Enter(all ...error) {
	for _, err := range all {
		name := err.Error()
		if other, ok := sentinels.errors[name]; ok && other != err {
			panic(fmt.Sprintf("failure: two errors that all nodes know say %q", name))
		}
		sentinels.names[err], sentinels.errors[name] = name, err
	}
}

func init() {
	Enter(context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe,
		fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, errors.ErrUnsupported,
		dist.ErrBusy, dist.ErrCookie, dist.ErrFull, dist.ErrLater, dist.ErrNotAllowed, dist.ErrPeerName, dist.ErrPeerProtocol,
		epmd.ErrNotFound, epmd.ErrRefused, epmd.ErrUnreachable,
		etf.ErrCut, etf.ErrLimit, etf.ErrMalformed, etf.ErrMismatch, etf.ErrNoTerm, pickle.ErrMismatch)
}

// SentinelName returns the name of an error that all nodes know, or "" if it is not one.
func SentinelName(err error) string {
	if !reflect.ValueOf(err).Comparable() {
		return ""
	}
	return sentinels.names[err]
}

// Sentinel returns the error that all nodes know by a name, or nil if there is none.
func Sentinel(name string) error { return sentinels.errors[name] }
