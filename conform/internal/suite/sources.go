package suite

// The sources of rules. The interface (docs/interface.md, docs/errors.md) fills the gaps of the
// convention.
const (
	ConventionResources  = "convention: Resources"
	ConventionOperations = "convention: Operations"
	ConventionPayload    = "convention: Request payload"
	ConventionEnvelope   = "convention: Response envelope"
	ConventionStatus     = "convention: Response by status"
	ConventionParameters = "convention: Collection query parameters"
	ConventionPagination = "convention: Pagination rules"

	OurResources  = "interface: Resources"
	OurOperations = "interface: Operations"
	OurChildren   = "interface: Sub-collections"
	OurPaths      = "interface: Paths"
	OurQuery      = "interface: QUERY"
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
