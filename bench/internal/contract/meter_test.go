package contract

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ticker is a clock that a test moves.
type ticker struct{ at time.Time }

func (c *ticker) now() time.Time { return c.at }

func (c *ticker) pass(d time.Duration) { c.at = c.at.Add(d) }

func TestMeterTimesWhatIsBetweenStartAndStop(t *testing.T) {
	var clock ticker
	m := newMeter(clock.now)
	clock.pass(time.Hour)
	m.Start()
	clock.pass(2 * time.Second)
	m.Stop()
	clock.pass(time.Hour)
	m.Start()
	clock.pass(time.Second)
	m.Stop()
	assert.Equal(t, 3*time.Second, m.Spent())
	assert.NoError(t, m.check())
}

func TestMeterHasToBeStartedAndStopped(t *testing.T) {
	m := newMeter(time.Now)
	assert.Error(t, m.check())
	assert.Panics(t, m.Stop)
	m.Start()
	assert.Panics(t, m.Start)
	assert.Error(t, m.check())
	m.Stop()
	assert.NoError(t, m.check())
}

func TestMeterRefusesExtrasThatAreNoNumbers(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1)} {
		m := newMeter(time.Now)
		m.Start()
		m.Stop()
		m.Extra("stddev", f)
		require.ErrorContains(t, m.check(), "stddev is")
	}
}

func TestMeterIsCharged(t *testing.T) {
	m := newMeter(time.Now)
	m.Charge(time.Second)
	m.Charge(time.Minute)
	assert.Equal(t, time.Minute+time.Second, m.Spent())
	assert.NoError(t, m.check())
}

func TestQuantiles(t *testing.T) {
	m := newMeter(time.Now)
	var times []time.Duration
	for k := range 200 {
		times = append(times, time.Duration(200-k)*time.Second)
	}
	m.Quantiles("answer", times)
	m.Quantiles("one", times[:1])
	assert.Equal(t, Fields{{"answer_p50_s", 100.0}, {"answer_p99_s", 198.0}, {"answer_max_s", 200.0},
		{"one_p50_s", 1.0}, {"one_p99_s", 1.0}, {"one_max_s", 1.0}}, m.extra)
}
