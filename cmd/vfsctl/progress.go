package main

import (
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/vfsd/vfsd/internal/control"
)

// unit is what a progress counts.
type unit int

const (
	countEntries unit = iota
	countBytes
)

// progress is a bar on a terminal and nothing elsewhere.
type progress struct {
	container *mpb.Progress
	bar       *mpb.Bar
}

func newProgress(s streams, label string, u unit) *progress {
	if !isTerminal(s.Err) {
		return &progress{}
	}
	c := mpb.New(mpb.WithOutput(s.Err), mpb.WithWidth(60))
	counters := decor.CurrentNoUnit("%d entries")
	if u == countBytes {
		counters = decor.CountersKibiByte("% .1f / % .1f")
	}
	bar := c.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(label+" ")),
		mpb.AppendDecorators(counters))
	return &progress{c, bar}
}

func (p *progress) update(x control.Progress) {
	if p.bar == nil {
		return
	}
	if x.Total > 0 {
		p.bar.SetTotal(x.Total, false)
	}
	p.bar.SetCurrent(x.Done)
}

// end takes the bar away and leaves the line to what comes next.
func (p *progress) end(complete bool) {
	if p.bar == nil {
		return
	}
	if complete {
		p.bar.SetTotal(-1, true)
	} else {
		p.bar.Abort(true)
	}
	p.container.Wait()
}
