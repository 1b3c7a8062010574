// What the Makefile runs. A module of its own, without dependencies.
module github.com/plural-go/plural/tools/make

go 1.26.0
