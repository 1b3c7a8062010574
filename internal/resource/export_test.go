package resource

// MinByLink is set by tests from outside.
var MinByLink = &minByLink
