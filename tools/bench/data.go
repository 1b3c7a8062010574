package bench

import "fmt"

// The resources that are loaded. All texts have the same length, so that the
// length of every answer is known, and is checked.

const loadedAt = "2024-06-30T12:00:00.000Z"

// rowID is the id of a row. It is older than all that are made during a run, and
// ids follow each other as rows do.
func rowID(row int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012x", row) }

func rowActive(row int) bool { return row%2 == 0 }

func rowName(row int) string  { return fmt.Sprintf("User %08d", row) }
func rowEmail(row int) string { return fmt.Sprintf("user%08d@example.com", row) }

// rowBody is a row as it is sent to be created.
func rowBody(row int) string {
	return fmt.Sprintf(`{"id":%q,"name":%q,"email":%q,"active":%t}`, rowID(row), rowName(row), rowEmail(row), rowActive(row))
}

// newBody is what is created during a run. It is not active, so that a list of
// those who are does not change.
func newBody(dst []byte, serial int64) []byte {
	return fmt.Appendf(dst, `{"name":"Made %08d","email":"made%08d@example.com","active":false}`, serial, serial)
}

// renameBody changes a name to one that nobody had.
func renameBody(dst []byte, serial int64) []byte {
	return fmt.Appendf(dst, `{"name":"Name %08d"}`, serial)
}

// envelope is {"data":…}.
const envelope = len(`{"data":}`)

// userLength is the length of a user in JSON.
func userLength(active bool) int {
	const inactive = len(`{"id":"01900000-0000-7000-8000-000000000000","type":"users","name":"User 00000000",` +
		`"email":"user00000000@example.com","active":false,"created_at":"` + loadedAt + `","updated_at":"` + loadedAt + `"}`)
	if active {
		return inactive - 1
	}
	return inactive
}

// listLength is the length of a list of rows, from one to before another, all of
// them or those that are active.
func listLength(from, to int, onlyActive bool) int {
	length, rows := envelope+len("[]"), 0
	for row := from; row < to; row++ {
		if active := rowActive(row); active || !onlyActive {
			length += userLength(active)
			rows++
		}
	}
	return length + max(0, rows-1) // commas
}

// taskBody is a task as it is sent to be created.
func taskBody(row int) string {
	state := "open"
	if row%2 == 1 {
		state = "done"
	}
	return fmt.Sprintf(`{"id":%q,"title":"Task %08d","state":%q,"priority":%d}`, rowID(row), row, state, 100+row*7919%900)
}

// tasksLength is the length of a list of tasks, of which there is at least one.
func tasksLength(tasks int) int {
	const one = len(`{"id":"01900000-0000-7000-8000-000000000000","type":"tasks","title":"Task 00000000",` +
		`"state":"open","priority":100,"created_at":"` + loadedAt + `","updated_at":"` + loadedAt + `"}`)
	return envelope + len("[]") + tasks*one + tasks - 1
}

// issueBody is a child of a project.
func issueBody(project string, row int) string {
	return fmt.Sprintf(`{"project_id":%q,"title":"An issue with a title of usual length","estimate":%d}`, project, row%10)
}
