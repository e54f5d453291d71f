package conformance

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

func TestAppliesMutationsInOrder(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f", "g")
	mutation := bigtable.NewMutation()
	mutation.Set("f", "q", 1000, []byte("masked"))
	mutation.DeleteRow()
	mutation.Set("f", "q", 2000, []byte("kept"))
	mutation.Set("f", "q", 3000, []byte("overwritten"))
	mutation.Set("f", "q", 3000, []byte("last"))
	mutation.Set("g", "", 0, nil)
	check(t, table.Apply(f.ctx, "r", mutation))
	expect(t, "row", f.readAll(table), `
r f:q @3 "last"
r f:q @2 "kept"
r g: @0 ""`)
}

func TestDeletes(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f", "g")
	apply := func(change func(*bigtable.Mutation)) {
		t.Helper()
		mutation := bigtable.NewMutation()
		change(mutation)
		check(t, table.Apply(f.ctx, "r", mutation))
	}
	for ms := int64(1); ms <= 5; ms++ {
		f.write(table, cell{"r", "f", "a", ms, "v"}, cell{"r", "f", "b", ms, "v"})
	}
	f.write(table, cell{"r", "g", "a", 1, "v"})

	apply(func(m *bigtable.Mutation) { m.DeleteTimestampRange("f", "a", 2000, 4000) })
	expect(t, "range of a column", f.readAll(table, bigtable.RowFilter(bigtable.ColumnFilter("a"))), `
r f:a @5 "v"
r f:a @4 "v"
r f:a @1 "v"
r g:a @1 "v"`)
	apply(func(m *bigtable.Mutation) { m.DeleteTimestampRange("f", "a", 5000, 0) })
	expect(t, "range without an end", f.readAll(table, bigtable.RowFilter(bigtable.ColumnFilter("a"))), `
r f:a @4 "v"
r f:a @1 "v"
r g:a @1 "v"`)
	apply(func(m *bigtable.Mutation) { m.DeleteCellsInColumn("f", "b") })
	expect(t, "column", f.keysAndColumns(table), "r f:a f:a g:a")
	apply(func(m *bigtable.Mutation) { m.DeleteCellsInFamily("f") })
	expect(t, "family", f.keysAndColumns(table), "r g:a")
	apply(func(m *bigtable.Mutation) { m.DeleteRow() })
	expect(t, "row", f.keysAndColumns(table), "")
	f.write(table, cell{"r", "f", "a", 1, "back"})
	expect(t, "a cell under an old delete", f.readAll(table), `r f:a @1 "back"`)
}

func (f *fixture) keysAndColumns(table *bigtable.Table) string {
	f.t.Helper()
	var words []string
	err := table.ReadRows(f.ctx, bigtable.InfiniteRange(""), func(row bigtable.Row) bool {
		words = append(words, row.Key())
		for _, family := range []string{"f", "g"} {
			for _, item := range row[family] {
				words = append(words, item.Column)
			}
		}
		return true
	})
	check(f.t, err)
	return strings.Join(words, " ")
}

func TestUnknownFamilyIsNotFoundAndNothingIsApplied(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	mutation := bigtable.NewMutation()
	mutation.Set("f", "q", 1000, []byte("v"))
	mutation.Set("absent", "q", 1000, []byte("v"))
	err := table.Apply(f.ctx, "row-1", mutation)
	expectError(t, "apply", err, codes.NotFound, fmt.Sprintf(
		"Error while mutating the row 'row-1' (%s) : Requested column family not found.", f.tableName("t")))
	expect(t, "rows", f.readAll(table), "")
}

func TestServerTimeIsNowInMilliseconds(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	before := time.Now().UnixMilli() * 1000
	mutation := bigtable.NewMutation()
	mutation.Set("f", "q", bigtable.ServerTime, []byte("v"))
	check(t, table.Apply(f.ctx, "r", mutation))
	after := time.Now().UnixMicro()
	row, err := table.ReadRow(f.ctx, "r")
	check(t, err)
	got := int64(row["f"][0].Timestamp)
	if got < before || got > after || got%1000 != 0 {
		t.Errorf("timestamp %d, written between %d and %d", got, before, after)
	}
}

func TestBytesSurviveAsTheyAre(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	bytes := "\x00\x01#\xff\xfe☃\n\x00"
	f.write(table, cell{bytes, "f", bytes, 1, bytes}, cell{bytes + "\x00", "f", "", 1, ""})
	row, err := table.ReadRow(f.ctx, bytes)
	check(t, err)
	if item := row["f"][0]; item.Row != bytes || item.Column != "f:"+bytes || string(item.Value) != bytes {
		t.Errorf("got %q %q %q", item.Row, item.Column, item.Value)
	}
	expect(t, "keys", fmt.Sprintf("%q", f.keys(table, bigtable.InfiniteRange(""))), fmt.Sprintf("%q", bytes+" "+bytes+"\x00"))
}

func TestBulkWriteReportsEachEntry(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	set := func(families ...string) *bigtable.Mutation {
		mutation := bigtable.NewMutation()
		for _, family := range families {
			mutation.Set(family, "q", 1000, []byte("v"))
		}
		return mutation
	}
	keys := []string{"a", "b", "c", "d"}
	errs, err := table.ApplyBulk(f.ctx, keys, []*bigtable.Mutation{set("f"), set("f", "absent"), set("f"), set("absent")})
	check(t, err)
	if len(errs) != 4 {
		t.Fatalf("got %v", errs)
	}
	for i, err := range errs {
		if i%2 == 0 && err != nil {
			t.Errorf("entry %d: %v", i, err)
		}
		if i%2 == 1 {
			expectError(t, keys[i], err, codes.NotFound, fmt.Sprintf(
				"Error while mutating the row '%s' (%s) : Requested column family not found.", keys[i], f.tableName("t")))
		}
	}
	expect(t, "rows", f.keys(table, bigtable.InfiniteRange("")), "a c")
}

func TestBulkWriteAnswersEveryIndexOnce(t *testing.T) {
	f := newFixture(t)
	f.createTable("t", "f")
	request := &btpb.MutateRowsRequest{TableName: f.tableName("t")}
	const entries = 5000
	for i := 0; i < entries; i++ {
		request.Entries = append(request.Entries, &btpb.MutateRowsRequest_Entry{
			RowKey:    []byte(fmt.Sprintf("row%d", i%1000)), // each row five times
			Mutations: []*btpb.Mutation{setCell("f", fmt.Sprint(i), 1000, "v")}})
	}
	f.expectEach(request, codes.OK)
	count := 0
	check(t, f.client.Open("t").ReadRows(f.ctx, bigtable.InfiniteRange(""), func(row bigtable.Row) bool {
		count += len(row["f"])
		return true
	}))
	if count != entries {
		t.Errorf("%d cells of %d were written", count, entries)
	}
}

// expectEach fails unless each entry is answered once, with this code, and returns the messages' sizes.
func (f *fixture) expectEach(request *btpb.MutateRowsRequest, code codes.Code) []int {
	f.t.Helper()
	stream, err := f.data.MutateRows(f.ctx, request)
	check(f.t, err)
	seen := make([]int, len(request.Entries))
	var sizes []int
	for {
		answer, err := stream.Recv()
		if err == io.EOF {
			break
		}
		check(f.t, err)
		sizes = append(sizes, proto.Size(answer))
		for _, entry := range answer.Entries {
			seen[entry.Index]++
			if entry.Status.GetCode() != int32(code) {
				f.t.Fatalf("entry %d: %v", entry.Index, entry.Status)
			}
		}
	}
	for i, count := range seen {
		if count != 1 {
			f.t.Fatalf("entry %d was answered %d times", i, count)
		}
	}
	return sizes
}

// A client may take 4 MiB a message, and no more.
func TestBulkWriteAnswersInMessagesOfBoundedSize(t *testing.T) {
	f := newFixture(t)
	f.createTable("t", "f")
	request := &btpb.MutateRowsRequest{TableName: f.tableName("t")}
	for i := 0; i < 10_000; i++ {
		request.Entries = append(request.Entries, &btpb.MutateRowsRequest_Entry{
			RowKey:    []byte(fmt.Sprintf("%s%05d", strings.Repeat("\xff", 600), i)),
			Mutations: []*btpb.Mutation{setCell("absent", "q", 1000, "v")}})
	}
	sizes := f.expectEach(request, codes.NotFound)
	if len(sizes) < 2 {
		t.Errorf("%d messages", len(sizes))
	}
	for _, size := range sizes {
		if size > 2<<20 {
			t.Errorf("a message of %d bytes", size)
		}
	}
}

func setCell(family, qualifier string, micros int64, value string) *btpb.Mutation {
	return &btpb.Mutation{Mutation: &btpb.Mutation_SetCell_{SetCell: &btpb.Mutation_SetCell{
		FamilyName: family, ColumnQualifier: []byte(qualifier), TimestampMicros: micros, Value: []byte(value)}}}
}

func TestCheckAndMutate(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	set := func(value string) *bigtable.Mutation {
		mutation := bigtable.NewMutation()
		mutation.Set("f", "q", 1000, []byte(value))
		return mutation
	}
	run := func(filter bigtable.Filter, yes, no *bigtable.Mutation) bool {
		t.Helper()
		var matched bool
		check(t, table.Apply(f.ctx, "r", bigtable.NewCondMutation(filter, yes, no), bigtable.GetCondMutationResult(&matched)))
		return matched
	}
	any := bigtable.PassAllFilter()
	if run(any, set("yes"), set("no")) {
		t.Error("an absent row matched")
	}
	expect(t, "absent row", f.readAll(table), `r f:q @1 "no"`)
	if !run(bigtable.ValueFilter("no"), set("yes"), nil) {
		t.Error("a present value did not match")
	}
	expect(t, "present value", f.readAll(table), `r f:q @1 "yes"`)
	if run(bigtable.ValueFilter("n."), set("never"), nil) {
		t.Error("an absent value matched")
	}
	expect(t, "no false mutation", f.readAll(table), `r f:q @1 "yes"`)

	answer, err := f.data.CheckAndMutateRow(f.ctx, &btpb.CheckAndMutateRowRequest{TableName: f.tableName("t"),
		RowKey: []byte("r"), TrueMutations: []*btpb.Mutation{setCell("f", "q", 1000, "has a cell")}})
	check(t, err)
	if !answer.PredicateMatched {
		t.Error("without a predicate, a row with a cell matches")
	}
	expect(t, "no predicate", f.readAll(table), `r f:q @1 "has a cell"`)
}

func TestCheckAndMutateWithAnUnknownFamilyAppliesNothing(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	mutation := bigtable.NewMutation()
	mutation.Set("f", "q", 1000, []byte("v"))
	mutation.Set("absent", "q", 1000, []byte("v"))
	err := table.Apply(f.ctx, "r", bigtable.NewCondMutation(bigtable.PassAllFilter(), nil, mutation))
	expectError(t, "apply", err, codes.NotFound, "Requested column family not found.")
	expect(t, "rows", f.readAll(table), "")
}

func TestIncrementAndAppend(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	change := bigtable.NewReadModifyWrite()
	change.Increment("f", "count", 41)
	change.Increment("f", "count", 1)
	change.AppendValue("f", "text", []byte("a"))
	change.AppendValue("f", "text", []byte("b"))
	row, err := table.ApplyReadModifyWrite(f.ctx, "r", change)
	check(t, err)
	var values []string
	for _, item := range row["f"] {
		values = append(values, fmt.Sprintf("%s=%q", item.Column, item.Value))
	}
	expect(t, "answer", strings.Join(values, " "), `f:count="\x00\x00\x00\x00\x00\x00\x00*" f:text="ab"`)

	again := bigtable.NewReadModifyWrite()
	again.Increment("f", "count", -43)
	row, err = table.ApplyReadModifyWrite(f.ctx, "r", again)
	check(t, err)
	if len(row["f"]) != 1 || string(row["f"][0].Value) != "\xff\xff\xff\xff\xff\xff\xff\xff" {
		t.Errorf("42 - 43: got %v", row)
	}
}

func TestReadModifyWriteStaysAheadOfTheLatestCell(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	future := time.Now().Add(time.Hour).UnixMilli()
	f.write(table, cell{"r", "f", "q", future, "late"})
	change := bigtable.NewReadModifyWrite()
	change.AppendValue("f", "q", []byte("+"))
	_, err := table.ApplyReadModifyWrite(f.ctx, "r", change)
	check(t, err)
	expect(t, "row", f.readAll(table, bigtable.RowFilter(bigtable.LatestNFilter(1))), fmt.Sprintf(`r f:q @%d "late+"`, future))
}

func TestIncrementOfAnotherLengthFailsTheWholeRequest(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	f.write(table, cell{"r", "f", "short", 1, "seven.."})
	change := bigtable.NewReadModifyWrite()
	change.AppendValue("f", "other", []byte("x"))
	change.Increment("f", "short", 1)
	_, err := table.ApplyReadModifyWrite(f.ctx, "r", change)
	expectError(t, "increment", err, codes.FailedPrecondition, "")
	expect(t, "row", f.readAll(table), `r f:short @1 "seven.."`)
}

func TestConcurrentIncrementsAllCount(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	const workers, each = 8, 50
	errs := make(chan error, workers)
	for w := 0; w < workers; w++ {
		go func() {
			for i := 0; i < each; i++ {
				change := bigtable.NewReadModifyWrite()
				change.Increment("f", "n", 1)
				if _, err := table.ApplyReadModifyWrite(f.ctx, "r", change); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for w := 0; w < workers; w++ {
		check(t, <-errs)
	}
	row, err := table.ReadRow(f.ctx, "r", bigtable.RowFilter(bigtable.LatestNFilter(1)))
	check(t, err)
	if got := string(row["f"][0].Value); got != "\x00\x00\x00\x00\x00\x00\x01\x90" {
		t.Errorf("got %q, want 400", got)
	}
}
