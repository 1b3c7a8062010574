package conform

import (
	"slices"
	"strings"
)

// The sources of rules. The seed is the first version of the convention; the interface
// (docs/interface.md, docs/errors.md) fills its gaps.
const (
	seedResources  = "seed: Resources"
	seedOperations = "seed: Operations"
	seedPayload    = "seed: Request payload"
	seedEnvelope   = "seed: Response envelope"
	seedStatus     = "seed: Response by status"
	seedParameters = "seed: Collection query parameters"
	seedPagination = "seed: Pagination rules"

	ourResources  = "interface: Resources"
	ourOperations = "interface: Operations"
	ourChildren   = "interface: Sub-collections"
	ourPaths      = "interface: Paths"
	ourBodies     = "interface: Request bodies"
	ourResponses  = "interface: Responses"
	ourRanges     = "interface: Ranges"
	ourFilters    = "interface: Filters"
	ourSorting    = "interface: Sorting"
	ourConditions = "interface: Conditional requests"
	ourKeys       = "interface: Idempotency"
	ourAsync      = "interface: Asynchronous operations"
	ourRelated    = "interface: Related resources"
	ourFields     = "interface: Selected attributes"
	ourSearch     = "interface: Search"
	ourGroups     = "interface: Groups"
	ourMany       = "interface: Writing many resources"
	ourErrors     = "errors: Errors"
)

// Checks lists every check, in the order in which they are run: first those
// that look at the collection as it is, then those that change it.
func Checks() []Check {
	all := slices.Concat(
		readChecks, envelopeChecks, representationChecks, rangeChecks, cursorChecks, parameterChecks,
		filterChecks, filterMoreChecks, searchChecks, sortChecks, fieldChecks, groupChecks, totalChecks, linkChecks, pathChecks, methodChecks, errorChecks,
		createChecks, writtenEnvelopeChecks, patchChecks, putChecks, deleteChecks, bodyChecks, childChecks, cursorWriteChecks,
		etagChecks, conditionalReadChecks, conditionalWriteChecks, onceChecks, asyncChecks, operationChecks, changeChecks,
		includeChecks, upsertChecks, dryRunChecks, transactionChecks, rangeWriteChecks,
	)
	for i := range all {
		all[i].Seed = strings.HasPrefix(all[i].Source, "seed")
	}
	return all
}
