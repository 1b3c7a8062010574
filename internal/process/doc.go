// Package process runs "plural serve", or a program that prints the same line when it is
// ready, as a child process. The crash harness and the benchmark use it, on Linux.
package process
