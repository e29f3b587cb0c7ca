package isolation_test

import (
	"fmt"

	"github.com/actornode/actornode/node/isolation"
)

// A process keeps a value in an Editor and gives it away as a Shared. The copies that others have do not change.
func Example() {
	prices := isolation.Share(map[string]int{"tea": 3})
	mine := prices.Edit()
	if err := mine.Edit(func(m *map[string]int) { (*m)["tea"] = 4 }); err != nil { // copies
		fmt.Println(err)
	}
	sent := mine.Share()
	if err := mine.Edit(func(m *map[string]int) { (*m)["tea"] = 5 }); err != nil { // copies, as sent is out
		fmt.Println(err)
	}
	fmt.Println(prices.Get()["tea"], sent.Get()["tea"], mine.Get()["tea"])
	// Output: 3 4 5
}

// The error names what cannot be copied.
func ExampleCopy() {
	type job struct {
		Args []string
		Then func()
	}
	_, err := isolation.Copy([]job{{Args: []string{"a"}}, {Then: func() {}}})
	fmt.Println(err)
	// Output: isolation: cannot copy: [1].Then is a func(): a function may have captured anything
}
