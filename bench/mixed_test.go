package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFactors(t *testing.T) {
	for n, want := range map[uint64][]uint64{1: nil, 2: {2}, 360: {2, 2, 2, 3, 3, 5}, 391: {17, 23}} {
		assert.Equal(t, want, factorsOf(n), n)
		assert.True(t, isFactorisation(factorsOf(n), n), n)
	}
	assert.False(t, isFactorisation([]uint64{3, 2}, 6))
	assert.False(t, isFactorisation([]uint64{2, 2}, 6))
}
