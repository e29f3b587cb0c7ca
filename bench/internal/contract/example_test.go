package contract_test

import (
	"fmt"
	"os"

	"github.com/actornode/actornode/bench/internal/contract"
)

func Example() {
	sum := contract.Bench{
		Name:   "sum",
		About:  "adds up what goes through a channel",
		Params: []contract.Param{contract.Int("messages", 1000)},
		Ops:    func(p contract.Params) int { return p.Int("messages") },
		Run: func(p contract.Params, m *contract.Meter) error {
			messages, total := p.Int("messages"), 0
			values := make(chan int, 16)
			m.Start()
			go func() { // ends when all are read
				for range messages {
					values <- 1
				}
			}()
			for range messages {
				total += <-values
			}
			m.Stop()
			if total != messages {
				return fmt.Errorf("the sum is %d", total)
			}
			return nil
		},
	}
	s := contract.System{Name: "example", Version: "dev", Benches: []contract.Bench{sum}}
	s.Main([]string{"list"}, os.Stdout, os.Stderr)
	status := s.Main([]string{"sum", "messages=0"}, os.Stdout, os.Stdout)
	fmt.Println("status", status)
	// Output:
	// sum  messages=1000  adds up what goes through a channel
	// sum: usage: messages wants a whole number of at least 1, not "0" (allowed: messages=1000)
	// status 2
}
