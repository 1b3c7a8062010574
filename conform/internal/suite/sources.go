package suite

// The sources of rules. The seed is the first version of the convention; the interface
// (docs/interface.md, docs/errors.md) fills its gaps.
const (
	SeedResources  = "seed: Resources"
	SeedOperations = "seed: Operations"
	SeedPayload    = "seed: Request payload"
	SeedEnvelope   = "seed: Response envelope"
	SeedStatus     = "seed: Response by status"
	SeedParameters = "seed: Collection query parameters"
	SeedPagination = "seed: Pagination rules"

	OurResources  = "interface: Resources"
	OurOperations = "interface: Operations"
	OurChildren   = "interface: Sub-collections"
	OurPaths      = "interface: Paths"
	OurBodies     = "interface: Request bodies"
	OurResponses  = "interface: Responses"
	OurRanges     = "interface: Ranges"
	OurFilters    = "interface: Filters"
	OurSorting    = "interface: Sorting"
	OurConditions = "interface: Conditional requests"
	OurKeys       = "interface: Idempotency"
	OurAsync      = "interface: Asynchronous operations"
	OurRelated    = "interface: Related resources"
	OurFields     = "interface: Selected attributes"
	OurSearch     = "interface: Search"
	OurGroups     = "interface: Groups"
	OurMany       = "interface: Writing many resources"
	OurErrors     = "errors: Errors"
)
