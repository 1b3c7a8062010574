// Package generators has no code, only tests that generate clients from an OpenAPI document with
// common generators, and call a server with them. make setup installs those that are npm packages;
// oapi-codegen is a tool of the module in oapi.
package generators
