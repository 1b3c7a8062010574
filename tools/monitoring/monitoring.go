// Package monitoring checks what packaging has for Prometheus and Grafana, with the parsers of Prometheus: those of
// promtool check rules. It has tests only.
package monitoring
