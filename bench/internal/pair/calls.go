package pair

import (
	"errors"
	"fmt"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
)

// CallParams are those of a bench of calls. proto and style, which the benches of nodes have,
// are taken and mean nothing.
func CallParams() []contract.Param {
	return []contract.Param{contract.Int("calls", 20_000), contract.Int("callers", 1),
		contract.Word("proto", "its own", "native", "erlang"), contract.Style()}
}

// Calls makes the calls of a bench with [CallParams] from concurrent callers, each of which makes the next call when the
// last is answered. call makes the call with the given number, starting at 1, and returns the number in the answer, which
// must be number+1.
func Calls(p contract.Params, m *contract.Meter, call func(number int) (answer int, err error)) error {
	calls, callers := p.Int("calls"), p.Int("callers")
	totals, errs := make([]int, callers), make([]error, callers)
	var wg sync.WaitGroup
	m.Start()
	for i := range callers {
		wg.Go(func() { totals[i], errs[i] = callEach(call, i+1, callers, calls) })
	}
	wg.Wait()
	m.Stop()
	total := 0
	for _, t := range totals {
		total += t
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if want := calls*(calls+1)/2 + calls; total != want {
		return fmt.Errorf("the answers add up to %d, not %d", total, want)
	}
	return nil
}

// callEach calls with every step-th number up to the last.
func callEach(call func(int) (int, error), first, step, last int) (total int, err error) {
	for number := first; number <= last; number += step {
		answer, err := call(number)
		if err != nil {
			return 0, fmt.Errorf("call %d: %w", number, err)
		}
		total += answer
	}
	return total, nil
}
