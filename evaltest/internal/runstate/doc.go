// Package runstate is what the test processes of one run share while they are at work: how many agents may be so at once,
// and whether the run still spends on an agent and its provider.
//
//	s, err := runstate.Open(dir)
//	if err != nil {
//		return err
//	}
//	release, err := s.Acquire(ctx, 4, nil) // one of four places
//	if err != nil {
//		return err
//	}
//	defer release()
//	trial, opened, err := s.Enter(ctx, "claude api.anthropic.com", nil)
//	switch {
//	case err != nil:
//		return err
//	case opened != nil:
//		return fmt.Errorf("not run: %d errors in a row", opened.Errors)
//	}
//	result := run()
//	trial.Done(result)
//
// Whoever holds a place in Enter while the breaker is held keeps it from those under way who may need one again: where these
// give theirs back between attempts, give the place back in Enter's waiting, and acquire one again after.
//
// # On disk
//
// All of it lies in one folder:
//
//	places.lock  places/NUMBER-TEXT              who is at work, or waits to be, in the order of the numbers
//	breaker-KEY.lock  breaker-KEY/trial-TEXT     who is under way on a key (by its hash)
//	breaker-KEY.json  breaker-KEY.json.next      what the trials of that key came to; the second while it is replaced
//
// Who is at work, waits, or is under way holds a lock of the operating system on a file of its own, its ticket. The lock ends
// with its process, however that ends: one that was killed holds no place, keeps nobody in the queue, and is under way with
// nothing. The files named .lock guard the rest; they are held for microseconds, and for nobody who is dead. A ticket is
// removed by its owner, or by the first who finds its owner dead, so that the folder does not grow with what is over. Nothing
// is synced to the disk: it is about processes that live. A file that makes no sense counts as empty.
//
// The folder has to be on a local disk. Network file systems carry these locks out in ways of their own, some across one
// machine only, some not at all. What differs between systems:
//
//   - Linux, macOS, the BSDs, illumos: flock(2). A lock belongs to the open file, so that it also holds between two Opens of
//     one process. A child process that is being started may hold a copy for the moment between fork and exec: a dead
//     owner's ticket then ends a moment later.
//   - Windows: LockFileEx, which belongs to the handle: the same. When a process is killed the system frees its locks soon,
//     not at once. A file that is open cannot be removed: a ticket goes when it is closed, or when it is next looked at.
//   - Solaris, AIX: fcntl(2) locks, which belong to the process; the flock module keeps the handles of one process apart.
package runstate
