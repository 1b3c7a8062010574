package main

import (
	"syscall"
	"testing"
)

const stockBefore = `
collections:
  things:
    attributes:
      name: {type: string}
      state: {type: string}
`

const stockAfter = `
collections:
  things:
    attributes:
      name: {type: string}
      state: {type: string, enum: [new, used, lost], default: new, transitions: {new: [used]}}
      label: {type: string, computed: resource.name + '!'}
    checks:
      - {rule: size(resource.name) > 1, message: A name needs two letters., attribute: name}
`

// TestMigrateRules: the plan shows what a check refuses, what is computed, and states that nothing leads to.
func TestMigrateRules(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, stockBefore)
	p := serveIn(t, dir)
	const one, two = "00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"
	post(t, p.base+"/things", `{"id":"`+one+`","name":"Lamp","state":"lost"}`)
	post(t, p.base+"/things", `{"id":"`+two+`","name":"A","state":"used"}`)
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Fatalf("%v\n%s", err, p.log)
	}
	writeSchema(t, dir, stockAfter)
	const plan = `5 steps to fit the schema:

  rewriting  things: state is restricted by enum
             checks 2 resources
  rewriting  things: state becomes required; resources without a value get the default
             writes 0 resources
  rewriting  things: state gets a lifecycle
             checks 2 resources
             Warning: 1 resource is in a state that nothing leads to: ` + one + ` "lost"
  additive   things: new attribute label (string), computed for all resources
             computes the value of 2 resources
             ` + one + ` null -> "Lamp!"
             ` + two + ` null -> "A!"
  rewriting  things: new check: size(resource.name) > 1
             checks 2 resources
             1 resource violates this: ` + two + ` "A" (A name needs two letters)

`
	runs(t, dir, "", false, plan, "migrate", "--plan")
	runs(t, dir, "", true, plan+"plural: the migration is refused, and nothing was changed:\n"+
		"  - things: new check: size(resource.name) > 1: 1 resource violates this: "+two+" \"A\" (A name needs two letters)\nChange these resources first, or the schema.\n",
		"migrate", "--allow-loss", "--no-backup")
}
