// Package workspace makes the folders that an agent works in, says what changed in them, and keeps or removes them.
//
//	w, err := workspace.New()
//	if err != nil {
//		return err
//	}
//	defer w.Remove()
//	if err := w.CopyFS(os.DirFS("testdata/starter")); err != nil {
//		return err
//	}
//	before, err := w.Snapshot(ctx)
//	// … the agent works in w.Dir(), with w.Home() as its HOME and w.Temp() as its TMPDIR …
//	after, err := w.Snapshot(ctx)
//	changes := before.Diff(after)
//
// A workspace lies in the system's folder for temporary files, outside of any module and repository, so that neither the
// agent nor its tools find the project under test by walking up:
//
//	/tmp/evaltest-4711-k3f9q2xa/
//	  owner.json   whose it is, for [Sweep]
//	  work/ home/ tmp/
package workspace
