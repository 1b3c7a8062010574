// Package generators has clients generated from an OpenAPI document by the generators that
// people use, and calls a server with them. make setup installs the packages of npm;
// oapi-codegen is a tool of the module in oapi. It has no code of its own.
package generators
