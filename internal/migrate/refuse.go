package migrate

import (
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/suggest"
)

// RefusedError says why a migration was refused.
type RefusedError struct {
	Steps []*Step // that are refused
	// Blocked: AllowLoss would not help.
	Blocked bool
	// Back says that the schema is an earlier one; empty if it is not.
	Back string
}

// Error lists the steps, with the violating resources.
func (e *RefusedError) Error() string {
	var b strings.Builder
	b.WriteString("the migration is refused, and nothing was changed:")
	for _, step := range e.Steps {
		b.WriteString("\n  - " + step.Text)
		if step.Violations > 0 {
			b.WriteString(": " + step.Complaint())
		} else {
			b.WriteString(": it " + step.Cost)
		}
	}
	if e.Back != "" {
		b.WriteString("\n" + e.Back + ". To continue, use the current schema.")
	}
	if e.Blocked {
		b.WriteString("\nChange these resources first, or the schema.")
	} else {
		b.WriteString("\n\"plural migrate --allow-loss\" permits it; values that would be invalid become null.")
	}
	return b.String()
}

// Complaint names the resources that violate the step, with their values, and the reason.
func (s *Step) Complaint() string {
	return fmt.Sprintf("%s this: %s (%s)", suggest.Counted(s.Violations, "resource")+db.Choose(s.Violations == 1, " violates", " violate"), s.named(s.Violations), s.Problem)
}

// Warning names the resources in a state of a lifecycle that nothing leads to; empty: there are none.
func (s *Step) Warning() string {
	if s.Unreached == 0 {
		return ""
	}
	return fmt.Sprintf("%s in a state that nothing leads to: %s", suggest.Counted(s.Unreached, "resource")+db.Choose(s.Unreached == 1, " is", " are"), s.named(s.Unreached))
}

// named lists the examples, of so many resources.
func (s *Step) named(all int64) string {
	examples := make([]string, len(s.Examples))
	for i, example := range s.Examples {
		examples[i] = strings.TrimSpace(example.ID.String() + " " + example.Value)
	}
	more := ""
	if rest := all - int64(len(examples)); rest > 0 {
		more = fmt.Sprintf(" and %d more", rest)
	}
	return strings.Join(examples, ", ") + more
}

// refusal returns nil if the steps may be applied. Steps that AllowLoss cannot permit are
// reported first.
func refusal(p *plan, allowLoss bool) error {
	var blocked, losing []*Step
	for _, step := range p.steps {
		if step.Blocked {
			blocked = append(blocked, step)
		} else if step.Loses() {
			losing = append(losing, step)
		}
	}
	switch {
	case len(blocked) > 0:
		return &RefusedError{Steps: blocked, Blocked: true, Back: p.earlierVersion()}
	case len(losing) > 0 && !allowLoss:
		return &RefusedError{Steps: losing, Back: p.earlierVersion()}
	}
	return nil
}
