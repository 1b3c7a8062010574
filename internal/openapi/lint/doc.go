// Package lint holds OpenAPI documents before the linters that people use, which are
// packages of npm: make setup installs them. It has no code of its own.
package lint
