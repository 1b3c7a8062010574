// Package checks has the rules of the convention, and how each is tested: one file for each subject.
package checks

import (
	"slices"

	"github.com/plural-go/plural/conform/internal/suite"
)

// All lists every check, in the order in which they are run: first those that look at the collection
// as it is, then those that change it.
func All() []suite.Check {
	return slices.Concat(
		readChecks, envelopeChecks, representationChecks, rangeChecks, cursorChecks, parameterChecks,
		filterChecks, filterMoreChecks, searchChecks, sortChecks, fieldChecks, groupChecks, askingChecks, totalChecks, linkChecks, pathChecks, methodChecks, queryChecks, errorChecks,
		createChecks, writtenEnvelopeChecks, patchChecks, putChecks, deleteChecks, bodyChecks, childChecks, cursorWriteChecks,
		etagChecks, conditionalReadChecks, conditionalWriteChecks, onceChecks, asyncChecks, operationChecks, changeChecks,
		includeChecks, relatedFilterChecks, upsertChecks, dryRunChecks, transactionChecks, rangeWriteChecks, ruleChecks,
	)
}
