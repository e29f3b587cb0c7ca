package bias

import "syscall"

// pause leaves the processor to others for a moment. It is no time.Sleep, for who calls
// it may hold a mutex: in a bubble of testing/synctest, where time stands still while
// anybody waits for one, that would never end.
func pause() {
	moment := syscall.Timespec{Nsec: 20_000}
	_ = syscall.Nanosleep(&moment, nil) // a signal that ends it early does no harm
}
