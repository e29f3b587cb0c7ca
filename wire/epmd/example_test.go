package epmd_test

import (
	"fmt"

	"github.com/actornode/actornode/wire/epmd"
)

// The port mapper is found where OTP's programs look for it, too.
func ExampleConfigFromEnv() {
	env := map[string]string{"ERL_EPMD_PORT": "4370", "ERL_EPMD_ADDRESS": "10.0.0.7"}
	cfg, err := epmd.ConfigFromEnv(func(key string) (string, bool) { // os.LookupEnv in a program
		v, ok := env[key]
		return v, ok
	})
	fmt.Println(cfg.Port, cfg.Addresses, err)
	// Output:
	// 4370 [10.0.0.7] <nil>
}
