package native

import (
	"errors"

	"github.com/actornode/actornode/wire/dist"
)

// code says why a node ends a handshake or a link. It is sent to the peer in a
// refusal or a goodbye, with a text for people. The list is closed: a number is never
// given another meaning, new ones are appended.
type code byte

const (
	codeProtocol   code = 1  // what came does not belong to the protocol
	codeVersion    code = 2  // no version that both speak
	codeName       code = 3  // a name that was not asked for, or is none
	codeBusy       code = 4  // another connection goes on
	codeNotAllowed code = 5  // not wanted
	codeCookie     code = 6  // the cookie is not known
	codeSession    code = 7  // the link to go on with has ended
	codeLimit      code = 8  // beyond the receiver's limits
	codeTerm       code = 9  // what came is no term
	codeClosed     code = 10 // nothing is wrong: the link is closed
	codeFull       code = 11 // no more connections for now
)

// errSession: the peer has given up the link that was to go on.
var errSession = errors.New("native: the interrupted link has ended")

// kinds are what the codes are here; a code that is not known is codeProtocol.
var kinds = [...]error{codeProtocol: dist.ErrPeerProtocol, codeVersion: dist.ErrNotAllowed, codeName: dist.ErrPeerName,
	codeBusy: dist.ErrBusy, codeNotAllowed: dist.ErrNotAllowed, codeCookie: dist.ErrCookie,
	codeLimit: dist.ErrPeerProtocol, codeTerm: dist.ErrPeerProtocol,
	codeFull: dist.ErrFull}

// kind returns what errors.Is finds in an error of this code.
func (c code) kind() error {
	if int(c) < len(kinds) && kinds[c] != nil {
		return kinds[c]
	}
	return dist.ErrPeerProtocol
}
