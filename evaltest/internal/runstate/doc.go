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
// All of it lies in a folder on a local disk. Who is at work, or waits, holds a lock of the operating system on a file of its
// own: the lock ends with its process, however that ends, and so a process that was killed holds no place and is under way
// with nothing. Nothing is synced to the disk: it is about processes that live.
package runstate
