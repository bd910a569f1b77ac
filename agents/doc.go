// Package agents is the model of a coding agent at work: what an agent is asked for (Setup), what it does (Event,
// Trajectory) and what may go wrong (Error). It knows nothing of evals. Adapters for particular agents live in folders
// below; package agenttest is the suite that each of them passes.
//
//	session, err := agent.Open(ctx, agents.Setup{Dir: dir, Home: home, Temp: temp})
//	if err != nil {
//		return err
//	}
//	defer session.Close()
//	var tr agents.Trajectory
//	for event, err := range session.Send(ctx, "Make the tests pass.") {
//		if err != nil {
//			return err
//		}
//		if err := tr.Append(event); err != nil {
//			log.Print(err)
//		}
//		if tr.Tally(edits, isEdit).Ran() > 10 {
//			break // interrupts the agent
//		}
//	}
//
// A trajectory is judged while it grows. What a judge needs to remember belongs to the trajectory (Fold, FoldPrefixes,
// Trajectory.Tally, Trajectory.View), keyed by a value that determines the computation, so that judges keep no state and
// the next event costs the same at every length. A key that is a pointer or another single word is looked up without
// allocation.
package agents
