// Answers PromQL with Prometheus' own engine over samples in memory, for the comparison with Sonde's.
//
// Each line of the input is a JSON document: either {"series": [...]}, which takes the place of all series, or one query.
// Each query gets one line of output.  Values are the sixteen hexadecimal digits of their bits, times are milliseconds.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

type seriesLine struct {
	Labels map[string]string `json:"labels"`
	Times  []int64           `json:"t"`
	Values []string          `json:"v"`
}

type inputLine struct {
	Series []seriesLine `json:"series"`
	Query  string       `json:"query"`
	Start  int64        `json:"start"`
	End    int64        `json:"end"`
	Step   int64        `json:"step"` // 0: an instant query at start
}

type outputLine struct {
	Error    string       `json:"error,omitempty"`
	Type     string       `json:"type,omitempty"`
	Text     string       `json:"text,omitempty"` // of a string
	Printed  string       `json:"printed,omitempty"`
	Lines    string       `json:"lines,omitempty"`
	Samples  int64        `json:"samples"` // that steps have used
	Series   []seriesLine `json:"series,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	Infos    []string     `json:"infos,omitempty"`
}

type sample struct {
	time  int64
	value float64
}

func (s sample) ST() int64                     { return 0 }
func (s sample) T() int64                      { return s.time }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

type memory struct {
	samples [][]chunks.Sample
	labels  []labels.Labels
}

func (m *memory) Querier(_, _ int64) (storage.Querier, error) { return m, nil }
func (m *memory) Close() error                                { return nil }

func (m *memory) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (m *memory) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

type found struct {
	entries []*storage.SeriesEntry
	next    int
}

func (f *found) Next() bool {
	f.next++
	return f.next <= len(f.entries)
}
func (f *found) At() storage.Series                { return f.entries[f.next-1] }
func (f *found) Err() error                        { return nil }
func (f *found) Warnings() annotations.Annotations { return nil }

// As Prometheus' own store does, it gives the samples between the times of the hints, and no others.
func (m *memory) Select(_ context.Context, _ bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	result := &found{}
	for i := range m.samples {
		all := true
		for _, matcher := range matchers {
			all = all && matcher.Matches(m.labels[i].Get(matcher.Name))
		}
		if all {
			result.entries = append(result.entries, within(m.samples[i], m.labels[i], hints))
		}
	}
	return result
}

func within(samples []chunks.Sample, of labels.Labels, hints *storage.SelectHints) *storage.SeriesEntry {
	if hints == nil {
		return storage.NewListSeries(of, samples)
	}
	first := sort.Search(len(samples), func(i int) bool { return samples[i].T() >= hints.Start })
	end := sort.Search(len(samples), func(i int) bool { return samples[i].T() > hints.End })
	return storage.NewListSeries(of, samples[first:max(first, end)])
}

func load(lines []seriesLine) (*memory, error) {
	result := &memory{}
	order := make([]int, 0, len(lines))
	sets := make([]labels.Labels, 0, len(lines))
	for i, line := range lines {
		order = append(order, i)
		sets = append(sets, labels.FromMap(line.Labels))
	}
	sort.SliceStable(order, func(a, b int) bool { return labels.Compare(sets[order[a]], sets[order[b]]) < 0 })
	for _, i := range order {
		samples := make([]chunks.Sample, 0, len(lines[i].Times))
		for k, time := range lines[i].Times {
			bits, err := strconv.ParseUint(lines[i].Values[k], 16, 64)
			if err != nil {
				return nil, err
			}
			samples = append(samples, sample{time, math.Float64frombits(bits)})
		}
		result.labels = append(result.labels, sets[i])
		result.samples = append(result.samples, samples)
	}
	return result, nil
}

func bits(value float64) string { return fmt.Sprintf("%016x", math.Float64bits(value)) }

func answer(engine *promql.Engine, expressions parser.Parser, store *memory, line inputLine) (out outputLine) {
	var query promql.Query
	var err error
	ctx := context.Background()
	if expression, err := expressions.ParseExpr(line.Query); err == nil {
		out.Printed = expression.String()
		out.Lines = expression.Pretty(0)
	}
	if line.Step == 0 {
		query, err = engine.NewInstantQuery(ctx, store, nil, line.Query, time.UnixMilli(line.Start))
	} else {
		query, err = engine.NewRangeQuery(ctx, store, nil, line.Query, time.UnixMilli(line.Start), time.UnixMilli(line.End), time.Duration(line.Step)*time.Millisecond)
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	defer query.Close()
	result := query.Exec(ctx)
	out.Warnings, out.Infos = result.Warnings.AsStrings(line.Query, 0, 0)
	if result.Err != nil {
		out.Error = result.Err.Error()
		return out
	}
	out.Samples = query.Stats().Samples.TotalSamples
	out.Type = string(result.Value.Type())
	switch value := result.Value.(type) {
	case promql.Scalar:
		out.Series = []seriesLine{{Times: []int64{value.T}, Values: []string{bits(value.V)}}}
	case promql.String:
		out.Text = value.V
	case promql.Vector:
		for _, one := range value {
			out.Series = append(out.Series, seriesLine{one.Metric.Map(), []int64{one.T}, []string{bits(one.F)}})
		}
	case promql.Matrix:
		for _, one := range value {
			series := seriesLine{Labels: one.Metric.Map()}
			for _, point := range one.Floats {
				series.Times = append(series.Times, point.T)
				series.Values = append(series.Values, bits(point.F))
			}
			out.Series = append(out.Series, series)
		}
	}
	return out
}

func main() {
	expressions := parser.NewParser(parser.Options{EnableExperimentalFunctions: true, ExperimentalDurationExpr: true, EnableExtendedRangeSelectors: true, EnableBinopFillModifiers: true})
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 50_000_000, Timeout: 2 * time.Minute, LookbackDelta: 5 * time.Minute,
		EnableAtModifier: true, EnableNegativeOffset: true, Parser: expressions,
		NoStepSubqueryIntervalFn: func(int64) int64 { return 60_000 },
	})
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	store := &memory{}
	for {
		text, err := input.ReadBytes('\n')
		if err != nil {
			break
		}
		var line inputLine
		if err := json.Unmarshal(text, &line); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if line.Query == "" && line.Series != nil {
			if store, err = load(line.Series); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			continue
		}
		encoded, err := json.Marshal(answer(engine, expressions, store, line))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		output.Write(append(encoded, '\n'))
		output.Flush()
	}
}
