// Package examples holds programs that one can start from: each has a folder with its README, its tests and a main.
package examples
