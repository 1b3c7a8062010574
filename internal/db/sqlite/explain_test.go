package sqlite

import (
	"testing"

	"zombiezen.com/go/sqlite"
)

// TestExplainedErrors: what SQLite says in two words is said in a sentence.
func TestExplainedErrors(t *testing.T) {
	for code, want := range map[sqlite.ResultCode]string{
		sqlite.ResultBusy:         "others are using the database, so that it cannot be used for this now: try again, or stop them: ",
		sqlite.ResultBusySnapshot: "others are using the database, so that it cannot be used for this now: try again, or stop them: ",
		sqlite.ResultProtocol:     "others are using the database, so that it cannot be used for this now: try again, or stop them: ",
		sqlite.ResultIOErrSHMMap:  "a file of the database cannot be read or written: check its disk and file system, and try again: ",
		sqlite.ResultCorrupt:      "",
	} {
		if got := Explain(code.ToError()).Error(); got != want+code.ToError().Error() {
			t.Errorf("%v: got %s", code, got)
		}
	}
	if err := Explain(nil); err != nil {
		t.Error(err)
	}
}
