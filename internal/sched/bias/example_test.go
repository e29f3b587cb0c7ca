package bias_test

import (
	"fmt"

	"github.com/actornode/actornode/internal/sched/bias"
)

// An Owned guards what one goroutine owns and others look at now and then.
func ExampleOwned() {
	var lock bias.Owned
	var log []string
	done := make(chan struct{})
	go func() { // the owner
		defer close(done)
		for i := range 3 {
			lock.Enter() // a store and a load
			log = append(log, fmt.Sprint("entry ", i))
			lock.Leave()
		}
	}()
	lock.Lock() // by anybody else: a barrier on all threads
	n := len(log)
	lock.Unlock()
	<-done
	fmt.Println(n <= 3, len(log))
	// Output: true 3
}
