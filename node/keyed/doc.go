// Package keyed is to be described.
package keyed
