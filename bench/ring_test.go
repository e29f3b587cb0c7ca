package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWalksAreEvenlySpacedAndAddUp(t *testing.T) {
	assert.Equal(t, []walk{{0, 3}, {3, 3}, {6, 4}}, walks(10, 3, 10))
}
