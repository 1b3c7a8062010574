// Package thirdparty has no code, only tests with programs of others: linters check OpenAPI documents, and generators make
// clients from one, which call a server. make setup installs those that are npm packages; oapi-codegen is a tool of the module
// in oapi.
package thirdparty
