package conformance

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// stream reads to the end, and says how that was.
func (f *fixture) stream(ctx context.Context, request *btpb.ReadRowsRequest) ([]*btpb.ReadRowsResponse, error) {
	stream, err := f.data.ReadRows(ctx, request)
	if err != nil {
		return nil, err
	}
	var responses []*btpb.ReadRowsResponse
	for {
		response, err := stream.Recv()
		if err == io.EOF {
			return responses, nil
		}
		if err != nil {
			return responses, err
		}
		responses = append(responses, response)
	}
}

// writeRows writes one cell into each of many rows.
func (f *fixture) writeRows(table *bigtable.Table, rows int, key, value func(row int) string) {
	f.t.Helper()
	var keys []string
	var mutations []*bigtable.Mutation
	for i := 0; i < rows; i++ {
		mutation := bigtable.NewMutation()
		mutation.Set("f", "q", 0, []byte(value(i)))
		keys, mutations = append(keys, key(i)), append(mutations, mutation)
	}
	errs, err := table.ApplyBulk(f.ctx, keys, mutations)
	check(f.t, err)
	if errs != nil {
		f.t.Fatal(errs[0])
	}
}

func (f *fixture) withFeatures(features *btpb.FeatureFlags) context.Context {
	f.t.Helper()
	data, err := proto.Marshal(features)
	check(f.t, err)
	return metadata.AppendToOutgoingContext(f.ctx, "bigtable-features", base64.URLEncoding.EncodeToString(data))
}

func TestFullReadStats(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "follows")
	for row, names := range map[string][]string{
		"wmckinley": {"tjefferson"}, "gwashington": {"j§adams"},
		"tjefferson": {"gwashington", "j§adams", "wmckinley"}, "j§adams": {"gwashington", "tjefferson"},
	} {
		for _, name := range names {
			f.write(table, cell{row, "follows", name, 1, "1"})
		}
	}
	all := bigtable.InfiniteRange("")
	twice := bigtable.InterleaveFilters(bigtable.PassAllFilter(), bigtable.PassAllFilter())
	hasJ, hasG := bigtable.ColumnFilter(".*j.*"), bigtable.ColumnFilter(".*g.*")
	for _, test := range []struct {
		name                string
		set                 bigtable.RowSet
		options             []bigtable.ReadOption
		rows, cells         int64
		rowsSeen, cellsSeen int64 // a cell once, however often an interleave returns it
	}{
		{"all", all, nil, 4, 7, 4, 7},
		{"a range", bigtable.NewRange("gargamel", "hubbard"), nil, 1, 1, 1, 1},
		{"no row", bigtable.NewRange("zany", "zebra"), nil, 0, 0, 0, 0},
		{"an absent row", bigtable.SingleRow("absent"), nil, 0, 0, 0, 0},
		{"one row", bigtable.SingleRow("wmckinley"), nil, 1, 1, 1, 1},
		{"a column filter", all, []bigtable.ReadOption{bigtable.RowFilter(hasJ)}, 4, 4, 4, 7},
		{"a column filter and a limit", all, []bigtable.ReadOption{bigtable.RowFilter(hasJ), bigtable.LimitRows(2)}, 2, 2, 2, 3},
		{"a row key filter", all, []bigtable.ReadOption{bigtable.RowFilter(bigtable.RowKeyFilter(".*j§.*"))}, 1, 2, 4, 7},
		{"a filter that blocks", all, []bigtable.ReadOption{bigtable.RowFilter(bigtable.BlockAllFilter())}, 0, 0, 0, 0},
		{"a filter that nothing passes", all, []bigtable.ReadOption{bigtable.RowFilter(bigtable.ColumnFilter("j"))}, 0, 0, 0, 0},
		{"cells twice", all, []bigtable.ReadOption{bigtable.RowFilter(bigtable.InterleaveFilters(hasG, hasG))}, 2, 4, 4, 7},
		{"all cells twice", all, []bigtable.ReadOption{bigtable.RowFilter(twice)}, 4, 14, 4, 7},
		{"the first copy of a row", all, []bigtable.ReadOption{bigtable.RowFilter(bigtable.ChainFilters(twice, bigtable.CellsPerRowLimitFilter(1)))}, 4, 4, 4, 7},
		{"reversed", all, []bigtable.ReadOption{bigtable.ReverseScan()}, 4, 7, 4, 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls := 0
			options := append(test.options, bigtable.WithFullReadStats(func(stats *bigtable.FullReadStats) {
				calls++
				got := stats.ReadIterationStats
				if got.RowsReturnedCount != test.rows || got.CellsReturnedCount != test.cells {
					t.Errorf("returned %d rows, %d cells; want %d, %d", got.RowsReturnedCount, got.CellsReturnedCount, test.rows, test.cells)
				}
				if got.RowsSeenCount != test.rowsSeen || got.CellsSeenCount != test.cellsSeen {
					t.Errorf("saw %d rows, %d cells; want %d, %d", got.RowsSeenCount, got.CellsSeenCount, test.rowsSeen, test.cellsSeen)
				}
				if stats.RequestLatencyStats.FrontendServerLatency <= 0 {
					t.Errorf("latency %v", stats.RequestLatencyStats.FrontendServerLatency)
				}
			}))
			check(t, table.ReadRows(f.ctx, test.set, func(bigtable.Row) bool { return true }, options...))
			if calls != 1 {
				t.Errorf("stats came %d times", calls)
			}
		})
	}
	responses, err := f.stream(f.ctx, &btpb.ReadRowsRequest{TableName: f.tableName("t")})
	check(t, err)
	for _, response := range responses {
		if response.RequestStats != nil {
			t.Errorf("nobody asked for %v", response.RequestStats)
		}
	}
}

func TestReversedScansAreForClientsThatAnnounceThem(t *testing.T) {
	f, _ := rowsFixture(t, "a", "b")
	request := &btpb.ReadRowsRequest{TableName: f.tableName("t"), Reversed: true}
	_, err := f.stream(f.ctx, request)
	expectError(t, "not announced", err, codes.Unimplemented, "reversed")
	_, err = f.stream(metadata.AppendToOutgoingContext(f.ctx, "bigtable-features", "not base64!"), request)
	expectError(t, "nothing that can be read", err, codes.Unimplemented, "reversed")
	_, err = f.stream(f.withFeatures(&btpb.FeatureFlags{LastScannedRowResponses: true}), request)
	expectError(t, "something else announced", err, codes.Unimplemented, "reversed")
	responses, err := f.stream(f.withFeatures(&btpb.FeatureFlags{ReverseScans: true}), request)
	check(t, err)
	if len(responses) != 1 || string(responses[0].Chunks[0].RowKey) != "b" {
		t.Errorf("announced: got %v", responses)
	}
}

func TestLastScannedRowsAreTold(t *testing.T) {
	const rows = 20_000
	f := newFixture(t)
	table := f.createTable("t", "f")
	key := func(i int) string { return fmt.Sprintf("r%06d", i) }
	f.writeRows(table, rows, key, func(i int) string {
		if i == 5 || i == rows-1 {
			return "yes"
		}
		return "no"
	})
	for _, reversed := range []bool{false, true} {
		request := &btpb.ReadRowsRequest{TableName: f.tableName("t"), Reversed: reversed,
			Filter: &btpb.RowFilter{Filter: &btpb.RowFilter_ValueRegexFilter{ValueRegexFilter: []byte("yes")}}}
		// Without the announcement: rows only.
		responses, err := f.stream(f.withFeatures(&btpb.FeatureFlags{ReverseScans: true}), request)
		check(t, err)
		for _, response := range responses {
			if len(response.LastScannedRowKey) != 0 {
				t.Errorf("not announced, and told %q", response.LastScannedRowKey)
			}
		}
		responses, err = f.stream(f.withFeatures(&btpb.FeatureFlags{ReverseScans: true, LastScannedRowResponses: true}), request)
		check(t, err)
		var found []string
		told, last := 0, ""
		ahead := func(row string) {
			if last != "" && (row > last) == reversed {
				t.Errorf("%q comes after %q (reversed: %v)", row, last, reversed)
			}
			last = row
		}
		for _, response := range responses {
			if len(response.LastScannedRowKey) != 0 {
				if len(response.Chunks) != 0 {
					t.Errorf("rows and a last scanned row in one message")
				}
				told++
				ahead(string(response.LastScannedRowKey))
			}
			for _, chunk := range response.Chunks {
				ahead(string(chunk.RowKey))
				found = append(found, string(chunk.RowKey))
			}
		}
		want := []string{key(5), key(rows - 1)}
		if reversed {
			want = []string{key(rows - 1), key(5)}
		}
		expect(t, "rows", strings.Join(found, " "), strings.Join(want, " "))
		if told == 0 {
			t.Errorf("no last scanned row in %d filtered rows", rows)
		}
	}
}

// Rows past what can be read whole name themselves, for clients that skip them; what came before them arrives.
// Scans that find nothing for a long time, and whose clients have enough of that: the server is there afterwards.
func TestScansThatEndEarly(t *testing.T) {
	const rows = 50_000
	f := newFixture(t)
	table := f.createTable("t", "f")
	f.writeRows(table, rows, func(i int) string { return fmt.Sprintf("r%06d", i) }, func(i int) string { return strings.Repeat("v", 100) })
	request := &btpb.ReadRowsRequest{TableName: f.tableName("t"),
		Filter: &btpb.RowFilter{Filter: &btpb.RowFilter_ValueRegexFilter{ValueRegexFilter: []byte("(v*w|[u-v]*x).*y")}}}
	for i := 0; i < 20; i++ {
		ctx, cancel := context.WithCancel(f.ctx)
		time.AfterFunc(5*time.Millisecond, cancel)
		_, err := f.stream(ctx, request)
		expectError(t, "a cancelled scan", err, codes.Canceled, "")
	}
	for i := 0; i < 20; i++ {
		ctx, cancel := context.WithTimeout(f.ctx, 5*time.Millisecond)
		_, err := f.stream(ctx, request)
		cancel()
		expectError(t, "a scan over its deadline", err, codes.DeadlineExceeded, "")
	}
	expect(t, "a row", f.keys(table, bigtable.SingleRow("r049999")), "r049999")
}

func TestRowsTooLargeToReadNameThemselves(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 270 MiB")
	}
	const large = "large\xff\x00"
	f, table := rowsFixture(t, "a", "z")
	for i := 0; i < 3; i++ {
		mutation := bigtable.NewMutation()
		mutation.Set("f", fmt.Sprint(i), 0, bytes.Repeat([]byte{'v'}, 90<<20))
		check(t, table.Apply(f.ctx, large, mutation))
	}
	var rows []string
	err := table.ReadRows(f.ctx, bigtable.InfiniteRange(""), func(row bigtable.Row) bool {
		rows = append(rows, row.Key())
		return true
	})
	expectError(t, "a row of 270 MiB", err, codes.FailedPrecondition,
		"Read returned 270MiB from row 'large\\xff\\x00' which exceeds the limit of 256MiB")
	expect(t, "rows before it", strings.Join(rows, " "), "a")
	_, err = f.stream(f.ctx, &btpb.ReadRowsRequest{TableName: f.tableName("t")})
	var info *errdetails.ErrorInfo
	for _, detail := range status.Convert(err).Details() {
		info, _ = detail.(*errdetails.ErrorInfo)
	}
	if info == nil || info.Reason != "LargeRowReadError" || info.Domain != "bigtable.googleapis.com" {
		t.Fatalf("the details are %v", status.Convert(err).Details())
	}
	expect(t, "key", info.Metadata["rowKeyBase64Encoded"], base64.StdEncoding.EncodeToString([]byte(large)))
	expect(t, "with a filter", f.keys(table, bigtable.InfiniteRange(""), bigtable.RowFilter(bigtable.StripValueFilter())),
		"a "+large+" z")
}

func TestSamplesOfARange(t *testing.T) {
	f := newFixture(t)
	check(t, f.admin.CreatePresplitTable(f.ctx, "t", []string{"b", "d", "f"}))
	sample := func(r *btpb.RowRange) (string, error) {
		stream, err := f.data.SampleRowKeys(f.ctx, &btpb.SampleRowKeysRequest{TableName: f.tableName("t"), RowRange: r})
		check(t, err)
		var keys []string
		for {
			response, err := stream.Recv()
			if err == io.EOF {
				return strings.Join(keys, " "), nil
			}
			if err != nil {
				return "", err
			}
			keys = append(keys, fmt.Sprintf("%q", response.RowKey))
		}
	}
	from := func(key string) *btpb.RowRange {
		return &btpb.RowRange{StartKey: &btpb.RowRange_StartKeyClosed{StartKeyClosed: []byte(key)}}
	}
	until := func(r *btpb.RowRange, key string) *btpb.RowRange {
		r.EndKey = &btpb.RowRange_EndKeyOpen{EndKeyOpen: []byte(key)}
		return r
	}
	through := func(r *btpb.RowRange, key string) *btpb.RowRange {
		r.EndKey = &btpb.RowRange_EndKeyClosed{EndKeyClosed: []byte(key)}
		return r
	}
	after := func(key string) *btpb.RowRange {
		return &btpb.RowRange{StartKey: &btpb.RowRange_StartKeyOpen{StartKeyOpen: []byte(key)}}
	}
	for _, test := range []struct {
		name string
		r    *btpb.RowRange
		want string
	}{
		{"no range", nil, `"b" "d" "f" ""`},
		{"everything", &btpb.RowRange{}, `"b" "d" "f" ""`},
		{"a start", from("b"), `"d" "f" ""`},
		{"an end", until(&btpb.RowRange{}, "e"), `"b" "d" "e"`},
		{"both", until(from("a"), "d"), `"b" "d"`},
		{"between two splits", until(from("bb"), "cc"), `"cc"`},
		{"an end that is in it", through(after("a"), "e"), `"b" "d" "e"`},
		{"an end that is in it, and a split", through(after("b"), "d"), `"d"`},
		{"a row", through(from("e"), "e"), `"e"`},
		{"an end that is the table's", through(from("e"), ""), `"f" ""`},
	} {
		got, err := sample(test.r)
		check(t, err)
		expect(t, test.name, got, test.want)
	}
	_, err := sample(until(from("c"), "b"))
	expectError(t, "reversed", err, codes.InvalidArgument, "row_range")
}
