package refeval

import "golang.org/x/sys/unix"

// cpuSeconds is the processor time the process has had. The clock is finer than getrusage.
func cpuSeconds() float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return float64(t.Nano()) / 1e9
}
