package conformance

import (
	encoding "encoding/binary"
	"fmt"
	"io"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func (f *fixture) createCounters() {
	f.t.Helper()
	check(f.t, f.admin.CreateTableFromConf(f.ctx, &bigtable.TableConf{TableID: "t", ColumnFamilies: map[string]bigtable.Family{
		"sum": {ValueType: bigtable.AggregateType{Input: bigtable.Int64Type{}, Aggregator: bigtable.SumAggregator{}}}}}))
}

func addOne() []*btpb.Mutation {
	raw := func(value string) *btpb.Value {
		return &btpb.Value{Kind: &btpb.Value_RawValue{RawValue: []byte(value)}}
	}
	return []*btpb.Mutation{{Mutation: &btpb.Mutation_AddToCell_{AddToCell: &btpb.Mutation_AddToCell{
		FamilyName: "sum", ColumnQualifier: raw("q"),
		Timestamp: &btpb.Value{Kind: &btpb.Value_RawTimestampMicros{}},
		Input:     &btpb.Value{Kind: &btpb.Value_IntValue{IntValue: 1}}}}}}
}

func (f *fixture) addOnce(row string, idempotency *btpb.Idempotency) error {
	_, err := f.data.MutateRow(f.ctx, &btpb.MutateRowRequest{TableName: f.tableName("t"), RowKey: []byte(row),
		Mutations: addOne(), Idempotency: idempotency})
	return err
}

func (f *fixture) expectSum(row string, want int64) {
	f.t.Helper()
	found, err := f.client.Open("t").ReadRow(f.ctx, row)
	check(f.t, err)
	if got := int64(encoding.BigEndian.Uint64(found["sum"][0].Value)); got != want {
		f.t.Errorf("%s: got %d, want %d", row, got, want)
	}
}

func TestIdempotencyTokens(t *testing.T) {
	f := newFixture(t)
	f.createCounters()
	token := func(n int) *btpb.Idempotency { return &btpb.Idempotency{Token: []byte(fmt.Sprintf("token %02d", n))} }
	for i := 0; i < 3; i++ {
		check(t, f.addOnce("a", token(1)))
	}
	f.expectSum("a", 1)
	check(t, f.addOnce("a", token(2)))
	check(t, f.addOnce("a", nil))
	check(t, f.addOnce("a", nil))
	f.expectSum("a", 4)
	expect(t, "tokens are no rows", f.keys(f.client.Open("t"), bigtable.InfiniteRange("")), "a")

	entry := func(row string, idempotency *btpb.Idempotency) *btpb.MutateRowsRequest_Entry {
		return &btpb.MutateRowsRequest_Entry{RowKey: []byte(row), Mutations: addOne(), Idempotency: idempotency}
	}
	stream, err := f.data.MutateRows(f.ctx, &btpb.MutateRowsRequest{TableName: f.tableName("t"), Entries: []*btpb.MutateRowsRequest_Entry{
		entry("b", token(1)), entry("b", token(1)), entry("b", nil), entry("a", token(1)), entry("b", token(3)),
		entry("b", &btpb.Idempotency{Token: []byte("short")})}})
	check(t, err)
	statuses := map[int64]int32{}
	for {
		response, err := stream.Recv()
		if err == io.EOF {
			break
		}
		check(t, err)
		for _, entry := range response.Entries {
			statuses[entry.Index] = entry.Status.GetCode()
		}
	}
	expect(t, "statuses", fmt.Sprint(statuses), "map[0:0 1:0 2:0 3:0 4:0 5:3]")
	f.expectSum("a", 4)
	f.expectSum("b", 3)

	late := token(9)
	late.StartTime = timestamppb.New(time.Now().Add(-16 * time.Minute))
	expectError(t, "a first attempt of long ago", f.addOnce("a", late), codes.FailedPrecondition, "idempotency.start_time")
	late.StartTime = timestamppb.New(time.Now().Add(-14 * time.Minute))
	check(t, f.addOnce("a", late))
	late.StartTime = &timestamppb.Timestamp{Seconds: -1}
	expectError(t, "no time", f.addOnce("a", late), codes.InvalidArgument, "idempotency.start_time")
	for _, bytes := range []int{0, 7, 257} {
		err := f.addOnce("a", &btpb.Idempotency{Token: make([]byte, bytes)})
		expectError(t, fmt.Sprint(bytes, " bytes"), err, codes.InvalidArgument, fmt.Sprint(bytes, " bytes"))
	}
	f.expectSum("a", 5)
}

// A token is there if and only if its write is: clients repeat what they do not know of until it is acknowledged,
// while the server is killed again and again.
func TestIdempotencyTokensSurviveKill(t *testing.T) {
	const rounds, writers = 3, 4
	directory := t.TempDir()
	sent := make([]int, writers) // writes that are acknowledged, and the one that may be under way
	for round := 0; round < rounds; round++ {
		s := startServer(t, serveArguments(directory, 0)...)
		f := newFixtureAt(t, s.address, "kill")
		if round == 0 {
			f.createCounters()
		}
		done := make(chan struct{})
		for w := 0; w < writers; w++ {
			go func() {
				defer func() { done <- struct{}{} }()
				for {
					token := &btpb.Idempotency{Token: []byte(fmt.Sprintf("writer %d, write %d", w, sent[w]))}
					for repeat := 0; repeat < 2; repeat++ {
						if f.addOnce(fmt.Sprint(w), token) != nil {
							return
						}
					}
					sent[w]++
				}
			}()
		}
		time.Sleep(500 * time.Millisecond)
		s.kill()
		for w := 0; w < writers; w++ {
			<-done
		}
	}
	s := startServer(t, serveArguments(directory, 0)...)
	f := newFixtureAt(t, s.address, "kill")
	for w := 0; w < writers; w++ {
		if sent[w] == 0 {
			t.Fatal("nothing was acknowledged")
		}
		token := &btpb.Idempotency{Token: []byte(fmt.Sprintf("writer %d, write %d", w, sent[w]))}
		check(t, f.addOnce(fmt.Sprint(w), token)) // what may be there already
		f.expectSum(fmt.Sprint(w), int64(sent[w]+1))
	}
	s.stop()
}
