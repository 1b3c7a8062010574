// Package lint has no code, only tests that check OpenAPI documents with common linters. These are
// npm packages, which make setup installs.
package lint
