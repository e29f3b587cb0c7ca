// Package erldist is the Erlang distribution protocol.
package erldist
