package proc

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"
)

const stateZombie = 5 // SZOMB of <sys/proc.h>

func statFrom(k *unix.KinfoProc) procStat {
	comm := k.Proc.P_comm[:]
	if i := bytes.IndexByte(comm, 0); i >= 0 {
		comm = comm[:i]
	}
	return procStat{
		pid:    int(k.Proc.P_pid),
		ppid:   int(k.Eproc.Ppid),
		pgrp:   int(k.Eproc.Pgid),
		comm:   string(comm),
		start:  fmt.Sprintf("%d-%d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec),
		zombie: k.Proc.P_stat == stateZombie,
	}
}

func statOf(pid int) (procStat, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return procStat{}, false
	}
	return statFrom(k), true
}

// processes lists those of our user.
func processes() []procStat {
	ks, err := unix.SysctlKinfoProcSlice("kern.proc.uid", unix.Getuid())
	if err != nil {
		return nil
	}
	out := make([]procStat, 0, len(ks))
	for i := range ks {
		out = append(out, statFrom(&ks[i]))
	}
	return out
}

// markerOf reads a process's arguments and environment, which the system shows to the same user except for its own
// protected programs.
func markerOf(pid int) (string, bool) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return "", false
	}
	return markerIn(b)
}
