package conform

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// Status is how a check ended.
type Status string

// The ways a check ends. One that could not be run is skipped, never passed.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Failure is what a failed check received.
type Failure struct {
	Request  string `json:"request"` // method, URL, and on the next line the body
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// Result is a check with its outcome.
type Result struct {
	Check
	Status  Status        `json:"status"`
	Reason  string        `json:"reason,omitempty"`  // of a skipped check
	Failure *Failure      `json:"failure,omitempty"` // of a failed check
	Elapsed time.Duration `json:"elapsed_ns"`
}

// Report is the outcome of a run.
type Report struct {
	BaseURL        string        `json:"base_url"`
	Collection     string        `json:"collection"`
	ReadOnly       bool          `json:"read_only"`
	ConventionOnly bool          `json:"convention_only"`
	Async          bool          `json:"async"`
	Results        []Result      `json:"results"`
	Warnings       []string      `json:"warnings,omitempty"`  // of the run as a whole
	Created        int           `json:"created"`             // resources created by the run
	Leftovers      []string      `json:"leftovers,omitempty"` // those that could not be removed again
	Elapsed        time.Duration `json:"elapsed_ns"`
}

// Count is the number of checks with a status.
func (r *Report) Count(status Status) int { return len(r.IDs(status)) }

// IDs lists the checks with a status.
func (r *Report) IDs(status Status) []string {
	ids := []string{}
	for _, result := range r.Results {
		if result.Status == status {
			ids = append(ids, result.ID)
		}
	}
	return ids
}

// WriteTable writes the report for people: a line for each check, the details of each failure, and
// a summary.
func (r *Report) WriteTable(w io.Writer) error {
	width := 0
	for _, result := range r.Results {
		width = max(width, len(result.ID))
	}
	var text strings.Builder
	for _, result := range r.Results {
		mark := map[Status]string{Passed: "ok  ", Failed: "FAIL", Skipped: "skip"}[result.Status]
		fmt.Fprintf(&text, "%s  %-*s  %s\n", mark, width, result.ID, result.Title)
		if result.Status == Skipped {
			fmt.Fprintf(&text, "      %s\n", indented(result.Reason))
		}
		if f := result.Failure; f != nil {
			fmt.Fprintf(&text, "      rule      %s (%s)\n      request   %s\n      expected  %s\n      got       %s\n",
				result.Rule, result.Source, indented(f.Request), indented(f.Expected), indented(f.Got))
		}
	}
	fmt.Fprintf(&text, "\n%s, collection %s: %d passed, %d failed, %d skipped\n",
		r.BaseURL, r.Collection, r.Count(Passed), r.Count(Failed), r.Count(Skipped))
	for _, warning := range r.Warnings {
		fmt.Fprintf(&text, "warning: %s\n", warning)
	}
	for _, path := range r.Leftovers {
		fmt.Fprintf(&text, "left behind, as it could not be deleted: %s\n", path)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// indented indents the lines of a text after its first.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n                ") }

// WriteJSON writes the report as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		*Report
		Passed  int `json:"passed"`
		Failed  int `json:"failed"`
		Skipped int `json:"skipped"`
	}{r, r.Count(Passed), r.Count(Failed), r.Count(Skipped)})
}

type junitSuite struct {
	XMLName    xml.Name        `xml:"testsuite"`
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report in the XML that build servers read.
func (r *Report) WriteJUnit(w io.Writer) error {
	suite := junitSuite{
		Name: "conform", Tests: len(r.Results), Failures: r.Count(Failed), Skipped: r.Count(Skipped), Time: seconds(r.Elapsed),
		Properties: []junitProperty{{"base_url", r.BaseURL}, {"collection", r.Collection}},
	}
	for _, warning := range r.Warnings {
		suite.Properties = append(suite.Properties, junitProperty{"warning", warning})
	}
	for _, path := range r.Leftovers {
		suite.Properties = append(suite.Properties, junitProperty{"leftover", path})
	}
	for _, result := range r.Results {
		each := junitCase{Class: "conform." + result.Topic(), Name: result.ID, Time: seconds(result.Elapsed)}
		if result.Status == Skipped {
			each.Skipped = &junitMessage{Message: result.Reason}
		}
		if f := result.Failure; f != nil {
			each.Failure = &junitMessage{
				Message: result.Rule + " (" + result.Source + ")",
				Text:    "request: " + f.Request + "\nexpected: " + f.Expected + "\ngot: " + f.Got,
			}
		}
		suite.Cases = append(suite.Cases, each)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
