package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestComplement(t *testing.T) {
	for a := range colour(colours) {
		for b := range colour(colours) {
			c := complement(a, b)
			assert.Equal(t, c, complement(b, a))
			assert.Equal(t, a == b, c == a)
			assert.Less(t, c, colour(colours))
		}
	}
}

func TestStddev(t *testing.T) {
	assert.Zero(t, stddev([]int{3, 3, 3}))
	assert.Equal(t, 2.0, stddev([]int{2, 4, 4, 4, 5, 5, 7, 9}))
}
