package native

import (
	"errors"

	"github.com/actornode/actornode/wire/dist"
)

// code is the reason why a node ends a handshake or a link. It is sent to the peer in a refusal or a goodbye, with a text
// for people. The list is append-only: the meaning of a number never changes.
type code byte

const (
	codeProtocol   code = 1  // the received data violates the protocol
	codeVersion    code = 2  // no common version
	codeName       code = 3  // an unexpected or invalid name
	codeBusy       code = 4  // another connection is used instead
	codeNotAllowed code = 5  // not allowed
	codeCookie     code = 6  // wrong cookie
	codeSession    code = 7  // the link to resume has ended
	codeLimit      code = 8  // beyond the receiver's limits
	codeTerm       code = 9  // the received data is not a term
	codeClosed     code = 10 // no error: the link was closed
	codeFull       code = 11 // no more connections for now
)

// errSession means that the peer has given up the link that was to be resumed.
var errSession = errors.New("native: the interrupted link has ended")

// kinds are the errors of the codes; an unknown code counts as codeProtocol.
var kinds = [...]error{codeProtocol: dist.ErrPeerProtocol, codeVersion: dist.ErrNotAllowed, codeName: dist.ErrPeerName,
	codeBusy: dist.ErrBusy, codeNotAllowed: dist.ErrNotAllowed, codeCookie: dist.ErrCookie,
	codeLimit: dist.ErrPeerProtocol, codeTerm: dist.ErrPeerProtocol,
	codeFull: dist.ErrFull}

// kind returns the error that errors.Is finds for this code.
func (c code) kind() error {
	if int(c) < len(kinds) && kinds[c] != nil {
		return kinds[c]
	}
	return dist.ErrPeerProtocol
}
