package monitoring

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

const (
	alerts    = "../../packaging/prometheus-alerts.yaml"
	dashboard = "../../packaging/grafana-dashboard.json"
	metrics   = "../../docs/deploy.md" // whose table a test of internal/observe compares with the code
)

// labelsOf is the labels of each metric of a server. A histogram has three names.
func labelsOf(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(metrics)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, line := range strings.Split(string(text), "\n") {
		for _, match := range regexp.MustCompile("`(plural_[a-z_]+)(?:\\{([a-z,]+)\\})?`").FindAllStringSubmatch(line, -1) {
			name, labels := match[1], strings.FieldsFunc(match[2], func(r rune) bool { return r == ',' })
			if strings.HasSuffix(name, "_seconds") {
				found[name+"_bucket"], found[name+"_count"], found[name+"_sum"] = append(labels, "le"), labels, labels
			} else {
				found[name] = labels
			}
		}
	}
	if len(found) < 20 {
		t.Fatalf("%s has only the metrics %v", metrics, found)
	}
	// Of the client library and of Prometheus.
	for _, name := range []string{"up", "process_cpu_seconds_total", "process_resident_memory_bytes", "go_goroutines"} {
		found[name] = nil
	}
	return found
}

// problems returns what is wrong with the names of an expression, and notes the metrics that it uses.
func problems(expression string, known map[string][]string, used map[string]bool) (found []string) {
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
	if err != nil {
		return []string{err.Error()}
	}
	var labels []string // of all metrics of the expression
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		own, ok := known[selector.Name]
		if !ok {
			found = append(found, "there is no metric "+selector.Name)
		}
		used[selector.Name] = true
		labels = append(labels, own...)
		for _, matcher := range selector.LabelMatchers {
			if name := matcher.Name; !slices.Contains(append(own, "__name__", "job", "instance"), name) {
				found = append(found, selector.Name+" has no label "+name)
			}
		}
		return nil
	})
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if aggregate, ok := node.(*parser.AggregateExpr); ok {
			for _, name := range aggregate.Grouping {
				if !slices.Contains(append(labels, "job", "instance"), name) {
					found = append(found, "nothing has the label "+name)
				}
			}
		}
		return nil
	})
	return found
}

// TestAlerts: the rules are valid, and their metrics exist.
func TestAlerts(t *testing.T) {
	groups, errs := rulefmt.ParseFile(alerts, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	if len(errs) > 0 {
		return
	}
	known, rules := labelsOf(t), 0
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			rules++
			for _, problem := range problems(rule.Expr, known, map[string]bool{}) {
				t.Errorf("%s: %s", rule.Alert, problem)
			}
			if rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
				t.Errorf("%s has no severity or no summary", rule.Alert)
			}
		}
	}
	if rules == 0 {
		t.Error("there are no rules")
	}
}

// TestDashboard: each expression is valid, its metrics exist, and each metric of a server is shown.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Templating struct {
			List []struct{ Name string }
		}
		Panels []struct {
			ID      int
			Title   string
			Type    string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", "plural", "$instance", ".*")
	for _, variable := range read.Templating.List {
		if !slices.Contains([]string{"datasource", "job", "instance"}, variable.Name) {
			t.Errorf("the variable %s is unknown here", variable.Name)
		}
	}
	known, used, ids := labelsOf(t), map[string]bool{}, map[int]bool{}
	for _, panel := range read.Panels {
		if ids[panel.ID] {
			t.Errorf("%s: the id %d is there twice", panel.Title, panel.ID)
		}
		ids[panel.ID] = true
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("%s shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			for _, problem := range problems(variables.Replace(target.Expr), known, used) {
				t.Errorf("%s: %s", panel.Title, problem)
			}
		}
	}
	for name := range known {
		shown := used[name]
		for _, suffix := range []string{"_sum", "_count"} { // a quantile shows a histogram
			if base, ok := strings.CutSuffix(name, suffix); ok {
				shown = shown || used[base+"_bucket"]
			}
		}
		if !shown && name != "up" {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// TestProblems checks the check itself.
func TestProblems(t *testing.T) {
	known := map[string][]string{"plural_a_bucket": {"le", "route"}}
	for expression, want := range map[string]string{
		`sum by (le) (rate(plural_a_bucket{route="/"}[5m]))`: "[]",
		`rate(plural_b[5m])`:                "[there is no metric plural_b]",
		`plural_a_bucket{status="200"}`:     "[plural_a_bucket has no label status]",
		`sum by (status) (plural_a_bucket)`: "[nothing has the label status]",
		`sum by (route) (rate(plural_a_buc`: "[1:34: parse error: unclosed left parenthesis]",
	} {
		if got := fmt.Sprint(problems(expression, known, map[string]bool{})); got != want {
			t.Errorf("%s: got %s, want %s", expression, got, want)
		}
	}
}
