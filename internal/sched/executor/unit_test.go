package executor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The unit is that of the quickest run, up to the most that a processor takes; if the clock stands still there is a
// unit, too.
func TestUnit(t *testing.T) {
	clock := func(runs ...time.Duration) func() time.Time {
		var at time.Time
		calls := 0
		return func() time.Time {
			if calls++; calls%2 == 0 && len(runs) > 0 {
				at, runs = at.Add(runs[0]*unitRounds), runs[1:]
			}
			return at
		}
	}
	assert.EqualValues(t, 5, measureUnit(clock(40, 9, 5, 100, 5, 7, 8, 6)))
	assert.EqualValues(t, 7, measureUnit(clock(0, 7)))
	assert.EqualValues(t, unitCoarse, measureUnit(clock()))
	assert.EqualValues(t, unitMost, measureUnit(clock(200, 300, 250, 200, 900, 200, 200, 200)))
	assert.Positive(t, unit)
	t.Log(unit, shareWorth, minWorkTurn)
}
