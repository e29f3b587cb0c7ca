// Package attack attacks a running daemon: see package raw for the clients.
package attack
