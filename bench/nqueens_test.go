package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSolve(t *testing.T) {
	for size := 1; size <= 8; size++ {
		assert.Equal(t, solutions[size-1], solve(make([]int8, 0, size), size), size)
	}
}

func TestSafe(t *testing.T) {
	queens := []int8{3, 0}
	for column, want := range []bool{false, false, true, false, true} {
		assert.Equal(t, want, safe(queens, int8(column)), column)
	}
}
