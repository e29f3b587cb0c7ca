package command

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		err  error
		code exit
	}{
		{nil, exitOK},
		{errors.New("other"), exitFailed},
		{fail(exitRefused, context.Canceled, "said"), exitRefused},
		{dist.ErrCookie, exitCookie},
		{dist.ErrNotAllowed, exitRefused},
		{node.ErrNoName, exitNotFound},
		{&node.ExitError{Reason: node.NoProc}, exitNotFound},
		{&node.ExitError{Reason: node.NoConnection}, exitUnreachable},
		{&node.ExitError{Reason: node.Normal}, exitFailed},
		{&rpc.SpawnError{Reason: wire.Atom("undef")}, exitNotFound},
		{&rpc.SpawnError{Reason: wire.Atom("notsup")}, exitUnsupported},
		{&rpc.SpawnError{Reason: wire.Atom("system_limit")}, exitFailed},
		{context.DeadlineExceeded, exitTimeout},
		{node.ErrTimeout, exitTimeout},
		{context.Canceled, exitInterrupted},
		{admin.ErrNoService, exitUnsupported},
		{admin.ErrBusy, exitFailed},
		{&admin.Error{Code: "not_allowed"}, exitRefused},
		{&admin.Error{Code: "no_process"}, exitNotFound},
		{&admin.Error{Code: "bad_request"}, exitUsage},
		{&admin.Error{Code: "not_supported"}, exitUnsupported},
		{&admin.Error{Code: "timeout"}, exitTimeout},
		{&admin.Error{Code: "failed"}, exitFailed},
		{admin.ErrLost, exitUnreachable},
	} {
		assert.Equal(t, c.code, codeOf(c.err), "%v", c.err)
		if c.err != nil {
			assert.Equal(t, c.code, codeOf(fmt.Errorf("wrapped: %w", c.err)), "%v", c.err)
		}
	}
	assert.Equal(t, "said: context canceled", fail(1, context.Canceled, "said").Error())
	assert.Equal(t, "said", fail(1, nil, "said").Error())
	assert.Equal(t, "context canceled", fail(1, context.Canceled, "").Error())
}
