package conformance

// Count counts the assertions and the cases of a run or of a group.
type Count struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	Differs int `json:"differs"` // failed as declared
	Cases   int `json:"cases"`   // cases, whatever became of them
}

// Summary is what a run came to. Its numbers count assertions, a skipped case
// as one.
type Summary struct {
	Count
	FS      string
	Kernel  string
	Root    bool
	Seconds float64
	Groups  map[string]Count
	// Reasons counts the cases that were skipped or differ, by reason.
	Reasons map[string]int
	// FailedCases names them.
	FailedCases []string
}

// OK reports whether nothing failed.
func (s *Summary) OK() bool { return s.Failed == 0 }

func newSummary() Summary {
	return Summary{Groups: make(map[string]Count), Reasons: make(map[string]int)}
}

func (s *Summary) add(r Result) {
	g := s.Groups[r.Group]
	for _, c := range []*Count{&s.Count, &g} {
		c.Cases++
		c.Passed += r.Passed
		switch r.Status {
		case Skipped:
			c.Skipped++
		case Differs:
			c.Differs += r.Failed
		default:
			c.Failed += r.Failed
		}
	}
	s.Groups[r.Group] = g
	if r.Reason != "" {
		s.Reasons[string(r.Status)+": "+r.Reason]++
	}
	if r.Status == Failed {
		s.FailedCases = append(s.FailedCases, r.Name)
	}
}
