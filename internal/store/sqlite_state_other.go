//go:build !unix

package store

// sharedState is not known here: nothing is kept in memory.
type sharedState struct{}

func openSharedState(string) *sharedState { return nil }

func (*sharedState) read() (state fileState, ok bool) { return state, false }

func (*sharedState) close() {}
