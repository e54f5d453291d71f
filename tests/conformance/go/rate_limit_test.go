package conformance

import (
	"fmt"
	"io"
	"testing"
	"time"

	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// writeMegabytes sends one MutateRows request of so many rows of a megabyte, and returns its messages.
func (f *fixture) writeMegabytes(features *btpb.FeatureFlags, rows int) []*btpb.MutateRowsResponse {
	f.t.Helper()
	responses, err := f.tryMegabytes(features, rows)
	check(f.t, err)
	return responses
}

func (f *fixture) tryMegabytes(features *btpb.FeatureFlags, rows int) ([]*btpb.MutateRowsResponse, error) {
	request := &btpb.MutateRowsRequest{TableName: f.tableName("t")}
	value := string(make([]byte, 1<<20))
	for row := range rows {
		request.Entries = append(request.Entries, &btpb.MutateRowsRequest_Entry{
			RowKey: fmt.Appendf(nil, "row%d", row), Mutations: []*btpb.Mutation{setCell("f", "q", 1000, value)}})
	}
	stream, err := f.data.MutateRows(f.withFeatures(features), request)
	if err != nil {
		return nil, err
	}
	var responses []*btpb.MutateRowsResponse
	for {
		response, err := stream.Recv()
		if err == io.EOF {
			return responses, nil
		}
		if err != nil {
			return nil, err
		}
		responses = append(responses, response)
	}
}

// calm waits until no write buffer of the server is behind: that is pressure, too.
func (f *fixture) calm(features *btpb.FeatureFlags) {
	f.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		// The room of the request before may not be given back yet.
		responses, err := f.tryMegabytes(features, 1)
		asked := status.Code(err) == codes.Unavailable
		if !asked {
			check(f.t, err)
		}
		for _, response := range responses {
			asked = asked || response.RateLimitInfo != nil
		}
		if !asked {
			return
		}
	}
	f.t.Fatal("a server that has nothing to do asks for fewer writes")
}

// A server of 64 MiB has room for 8 MiB of writes at a time; from half of it on, clients are asked for fewer.
func TestRateLimitInfoUnderPressure(t *testing.T) {
	s := startServer(t, append(serveArguments(t.TempDir(), 0), "--memory", "64MiB")...)
	f := newFixtureAt(t, s.address, "rates")
	f.createTable("t", "f")
	announced := &btpb.FeatureFlags{MutateRowsRateLimit: true}
	last := 1.0
	for _, test := range []struct {
		rows     int
		min, max float64
	}{{5, 0.90, 0.99}, {6, 0.84, 0.90}, {7, 0.75, 0.84}, {9, 0.7, 0.7}} {
		for _, features := range []*btpb.FeatureFlags{announced, {MutateRowsRateLimit2: true}} {
			f.calm(features)
			var info *btpb.RateLimitInfo
			entries := 0
			for _, response := range f.writeMegabytes(features, test.rows) {
				entries += len(response.Entries)
				if response.RateLimitInfo != nil {
					info = response.RateLimitInfo
				}
			}
			expect(t, "entries", fmt.Sprint(entries), fmt.Sprint(test.rows))
			if info == nil {
				t.Fatalf("%d MiB of 8: no rate_limit_info", test.rows)
			}
			expect(t, "period", info.Period.AsDuration().String(), (10 * time.Second).String())
			if info.Factor < test.min-1e-9 || info.Factor > test.max+1e-9 {
				t.Errorf("%d MiB of 8: factor %v, not %v to %v", test.rows, info.Factor, test.min, test.max)
			}
			last = info.Factor
		}
	}
	expect(t, "the least factor", fmt.Sprintf("%.2f", last), "0.70")
	for _, test := range []struct {
		name     string
		features *btpb.FeatureFlags
		rows     int
	}{{"not announced", &btpb.FeatureFlags{}, 7}, {"no pressure", announced, 2}} {
		f.calm(announced)
		for _, response := range f.writeMegabytes(test.features, test.rows) {
			if response.RateLimitInfo != nil {
				t.Errorf("%s: %v", test.name, response.RateLimitInfo)
			}
		}
	}
	s.stop()
}
