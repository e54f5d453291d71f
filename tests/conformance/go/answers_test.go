package conformance

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"cloud.google.com/go/bigtable"
	adminpb "cloud.google.com/go/bigtable/admin/apiv2/adminpb"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What production answers to requests that name what is not there, say nothing, or lie at the ends of a range.

func familyFilter(pattern string) *btpb.RowFilter {
	return &btpb.RowFilter{Filter: &btpb.RowFilter_FamilyNameRegexFilter{FamilyNameRegexFilter: pattern}}
}

func rowKeyFilter(pattern string) *btpb.RowFilter {
	return &btpb.RowFilter{Filter: &btpb.RowFilter_RowKeyRegexFilter{RowKeyRegexFilter: []byte(pattern)}}
}

func chainOf(filters ...*btpb.RowFilter) *btpb.RowFilter {
	return &btpb.RowFilter{Filter: &btpb.RowFilter_Chain_{Chain: &btpb.RowFilter_Chain{Filters: filters}}}
}

func interleaveOf(filters ...*btpb.RowFilter) *btpb.RowFilter {
	return &btpb.RowFilter{Filter: &btpb.RowFilter_Interleave_{Interleave: &btpb.RowFilter_Interleave{Filters: filters}}}
}

func TestAFilterThatNamesAFamilyThatIsNotThereIsRefused(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f", "with-dash")
	f.write(table, cell{"r", "f", "q", 1, "v"})
	pass := &btpb.RowFilter{Filter: &btpb.RowFilter_PassAllFilter{PassAllFilter: true}}
	columns := &btpb.RowFilter{Filter: &btpb.RowFilter_ColumnRangeFilter{ColumnRangeFilter: &btpb.ColumnRange{FamilyName: "absent"}}}
	text := fmt.Sprintf("Error while reading table '%s' : Requested column family not found", f.tableName("t"))
	for _, missing := range []*btpb.RowFilter{
		familyFilter("absent"), familyFilter(`with\-dashes`), familyFilter(`\x61bsent`), chainOf(pass, familyFilter("absent")),
		interleaveOf(familyFilter("absent"), pass), chainOf(pass, interleaveOf(pass, chainOf(pass, familyFilter("absent")))), columns,
	} {
		err := f.filter(missing)
		expectError(t, missing.String(), err, codes.NotFound, text)
		if got := status.Convert(err).Message(); got != text {
			t.Errorf("%v: got the text %q, want %q", missing, got, text)
		}
	}
	for _, there := range []*btpb.RowFilter{familyFilter("f"), familyFilter(`with\-dash`), familyFilter(`\x66`),
		familyFilter("absent|f"), familyFilter("abs.*"), familyFilter("[g]")} {
		expectError(t, there.String(), f.filter(there), codes.OK, "")
	}
	// As the client writes it.
	err := table.ReadRows(f.ctx, bigtable.InfiniteRange(""), func(bigtable.Row) bool { return true },
		bigtable.RowFilter(bigtable.FamilyFilter("absent")))
	expectError(t, "FamilyFilter", err, codes.NotFound, text)
}

func TestFiltersThatNameNothingAreRefused(t *testing.T) {
	f := limitsFixture(t)
	pass := &btpb.RowFilter{Filter: &btpb.RowFilter_PassAllFilter{PassAllFilter: true}}
	columns := func(family string) *btpb.RowFilter {
		return &btpb.RowFilter{Filter: &btpb.RowFilter_ColumnRangeFilter{ColumnRangeFilter: &btpb.ColumnRange{FamilyName: family}}}
	}
	const invalid = codes.InvalidArgument
	const columnsText = "Error in field 'column_range_filter' : Invalid id for collection columnFamilies"
	run(t, []limitCase{
		{"row key", f.filter(rowKeyFilter("")), invalid, "Error in field 'row_key_regex_filter' : argument must not be empty"},
		{"row key in a chain", f.filter(chainOf(pass, rowKeyFilter(""))), invalid,
			"Error in field 'row_key_regex_filter' : argument must not be empty"},
		{"family", f.filter(familyFilter("")), invalid, "Error in field 'family_name_regex_filter' : argument must not be empty"},
		{"column range without a family", f.filter(columns("")), invalid, columnsText},
		{"column range of what is no family's name", f.filter(columns("a:b")), invalid, columnsText},
		{"empty bitmask", f.filter(&btpb.RowFilter{Filter: &btpb.RowFilter_ValueBitmaskFilter{
			ValueBitmaskFilter: &btpb.ValueBitmask{}}}), invalid, "Error in field 'value_bitmask_filter' : argument must not be empty"},
		{"statistics of a kind that there is not", f.scan(&btpb.ReadRowsRequest{RequestStatsView: 3}), invalid,
			"Error in field 'request_stats_view' : unknown value 3"},
	})
}

func TestARangeBetweenNeighboursIsEmptyAndNoError(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	f.write(table, cell{"r", "f", "q", 1, "v"}, cell{"r", "f", "q\x00", 1, "v\x00"})
	columns := func(start, end []byte) *btpb.RowFilter {
		return &btpb.RowFilter{Filter: &btpb.RowFilter_ColumnRangeFilter{ColumnRangeFilter: &btpb.ColumnRange{FamilyName: "f",
			StartQualifier: &btpb.ColumnRange_StartQualifierOpen{StartQualifierOpen: start},
			EndQualifier:   &btpb.ColumnRange_EndQualifierOpen{EndQualifierOpen: end}}}}
	}
	values := func(start, end []byte) *btpb.RowFilter {
		return &btpb.RowFilter{Filter: &btpb.RowFilter_ValueRangeFilter{ValueRangeFilter: &btpb.ValueRange{
			StartValue: &btpb.ValueRange_StartValueOpen{StartValueOpen: start},
			EndValue:   &btpb.ValueRange_EndValueOpen{EndValueOpen: end}}}}
	}
	count := func(filter *btpb.RowFilter) int {
		stream, err := f.data.ReadRows(f.ctx, &btpb.ReadRowsRequest{TableName: f.tableName("t"), Filter: filter})
		check(t, err)
		chunks := 0
		for {
			answer, err := stream.Recv()
			if err != nil {
				if err.Error() != "EOF" {
					t.Errorf("%v: %v", filter, err)
				}
				return chunks
			}
			chunks += len(answer.Chunks)
		}
	}
	for _, empty := range []*btpb.RowFilter{columns([]byte("q"), []byte("q\x00")), values([]byte("v"), []byte("v\x00")),
		columns([]byte{}, []byte{0}), values([]byte{}, []byte{0})} {
		if got := count(empty); got != 0 {
			t.Errorf("%v: %d cells", empty, got)
		}
	}
	if got := count(columns([]byte("q"), []byte("q\x00\x00"))); got != 1 {
		t.Errorf("the neighbour alone: %d cells", got)
	}
	expectError(t, "(q, q)", f.filter(columns([]byte("q"), []byte("q"))), codes.InvalidArgument, "")
	expectError(t, "(v, v)", f.filter(values([]byte("v"), []byte("v"))), codes.InvalidArgument, "")
}

func TestABranchThatIsNotTakenMayNameAFamilyThatIsNotThere(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	f.write(table, cell{"r", "f", "q", 1, "v"})
	there, absent := setCell("f", "q", 1000, "taken"), setCell("absent", "q", 1000, "v")
	mutate := func(key string, ifTrue, ifFalse []*btpb.Mutation) (bool, error) {
		answer, err := f.data.CheckAndMutateRow(f.ctx, &btpb.CheckAndMutateRowRequest{TableName: f.tableName("t"),
			RowKey: []byte(key), TrueMutations: ifTrue, FalseMutations: ifFalse})
		return answer.GetPredicateMatched(), err
	}
	matched, err := mutate("r", repeat(there, 1), repeat(absent, 1))
	check(t, err)
	if !matched {
		t.Error("the row has a cell")
	}
	_, err = mutate("s", repeat(absent, 1), nil)
	check(t, err)
	_, err = mutate("s", repeat(absent, 1), repeat(absent, 1))
	expectError(t, "taken", err, codes.NotFound,
		fmt.Sprintf("Error while mutating the row 's' (%s) : Requested column family not found.", f.tableName("t")))
	expect(t, "rows", f.readAll(table), `r f:q @1 "taken"`)
}

func deleteRange(start, end int64) *btpb.Mutation {
	return &btpb.Mutation{Mutation: &btpb.Mutation_DeleteFromColumn_{DeleteFromColumn: &btpb.Mutation_DeleteFromColumn{
		FamilyName: "f", ColumnQualifier: []byte("q"),
		TimeRange: &btpb.TimestampRange{StartTimestampMicros: start, EndTimestampMicros: end}}}}
}

func (f *fixture) createMicrosTable(id string) *bigtable.Table {
	f.t.Helper()
	_, err := f.tables.CreateTable(f.ctx, &adminpb.CreateTableRequest{Parent: f.instanceName(), TableId: id, Table: &adminpb.Table{
		Granularity: adminpb.Table_MICROS, ColumnFamilies: map[string]*adminpb.ColumnFamily{"f": {}}}})
	check(f.t, err)
	return f.client.Open(id)
}

func TestADeletedRangeOfTimeHasTheTablesGranularity(t *testing.T) {
	f := limitsFixture(t)
	const text = "Timestamp granularity mismatch"
	run(t, []limitCase{
		{"start", f.mutate("r", deleteRange(1001, 3000)), codes.InvalidArgument, text},
		{"end", f.mutate("r", deleteRange(1000, 1001)), codes.InvalidArgument, text},
		{"milliseconds", f.mutate("r", deleteRange(1000, 2000)), codes.OK, ""},
	})
	micros := newFixture(t)
	micros.createMicrosTable("t")
	check(t, micros.mutate("r", deleteRange(1001, 1002)))
}

// The timestamps of column f:q of row r, the newest first.
func (f *fixture) timestamps(table *bigtable.Table) string {
	f.t.Helper()
	row, err := table.ReadRow(f.ctx, "r")
	check(f.t, err)
	var times []string
	for _, item := range row["f"] {
		times = append(times, fmt.Sprint(int64(item.Timestamp)))
	}
	return strings.Join(times, " ")
}

func TestTheGreatestTimestamp(t *testing.T) {
	f := newFixture(t)
	table := f.createMicrosTable("t")
	check(t, f.mutate("r", setCell("f", "q", math.MaxInt64, "last"), setCell("f", "q", math.MaxInt64-1, "v"), setCell("f", "q", 1, "v")))
	expect(t, "all", f.timestamps(table), "9223372036854775807 9223372036854775806 1")
	check(t, f.mutate("r", deleteRange(1, math.MaxInt64)))
	expect(t, "up to the last", f.timestamps(table), "9223372036854775807")
	check(t, f.mutate("r", setCell("f", "q", 1, "v"), deleteRange(math.MaxInt64, 0)))
	expect(t, "the last", f.timestamps(table), "1")

	coarse := newFixture(t)
	millis := coarse.createTable("t", "f")
	last := setCell("f", "q", math.MaxInt64, "v")
	expectError(t, "a user's", coarse.mutate("r", last), codes.InvalidArgument, "9223372036854775807")
	last.TimestampOrigin = btpb.Mutation_CLIENT_AUTO_GENERATED
	check(t, coarse.mutate("r", last))
	expect(t, "a library's is cut", coarse.timestamps(millis), "9223372036854775000")
}

func TestATableWithoutFamiliesHasNoRowToDelete(t *testing.T) {
	f := newFixture(t)
	f.createTable("t")
	deletion := &btpb.Mutation{Mutation: &btpb.Mutation_DeleteFromRow_{DeleteFromRow: &btpb.Mutation_DeleteFromRow{}}}
	expectError(t, "delete", f.mutate("r", deletion), codes.NotFound,
		fmt.Sprintf("Error while mutating the row 'r' (%s) : Requested column family not found.", f.tableName("t")))
}

func TestEntriesThatAllLackMutationsAreRefusedAsAWhole(t *testing.T) {
	f := limitsFixture(t)
	bulk := func(entries ...*btpb.MutateRowsRequest_Entry) ([]codes.Code, error) {
		stream, err := f.data.MutateRows(f.ctx, &btpb.MutateRowsRequest{TableName: f.tableName("t"), Entries: entries})
		check(t, err)
		answer, err := stream.Recv()
		var answers []codes.Code
		for _, entry := range answer.GetEntries() {
			answers = append(answers, codes.Code(entry.Status.GetCode()))
		}
		return answers, err
	}
	empty, good := &btpb.MutateRowsRequest_Entry{RowKey: []byte("a")},
		&btpb.MutateRowsRequest_Entry{RowKey: []byte("b"), Mutations: repeat(setCell("f", "q", 0, "v"), 1)}
	_, err := bulk(empty, empty)
	expectError(t, "all", err, codes.InvalidArgument, "No mutations provided")
	answers, err := bulk(empty, good)
	check(t, err)
	expect(t, "one of two", fmt.Sprint(answers), "[InvalidArgument OK]")
}

func TestANewFamilyMayOnlyBeAnAggregate(t *testing.T) {
	f := limitsFixture(t)
	text := &adminpb.ColumnFamily{ValueType: &adminpb.Type{Kind: &adminpb.Type_StringType{StringType: &adminpb.Type_String{}}}}
	_, err := f.tables.CreateTable(f.ctx, &adminpb.CreateTableRequest{Parent: f.instanceName(), TableId: "u",
		Table: &adminpb.Table{ColumnFamilies: map[string]*adminpb.ColumnFamily{"f": text}}})
	expectError(t, "with its table", err, codes.InvalidArgument, "value_type")
	_, err = f.tables.ModifyColumnFamilies(f.ctx, &adminpb.ModifyColumnFamiliesRequest{Name: f.tableName("t"),
		Modifications: []*adminpb.ModifyColumnFamiliesRequest_Modification{{Id: "g",
			Mod: &adminpb.ModifyColumnFamiliesRequest_Modification_Create{Create: text}}}})
	expectError(t, "later", err, codes.InvalidArgument, "value_type")
}

func TestNotDeletingAllDataDeletesNone(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	f.write(table, cell{"r", "f", "q", 1, "v"})
	_, err := f.tables.DropRowRange(f.ctx, &adminpb.DropRowRangeRequest{Name: f.tableName("t"),
		Target: &adminpb.DropRowRangeRequest_DeleteAllDataFromTable{}})
	check(t, err)
	expect(t, "rows", f.readAll(table), `r f:q @1 "v"`)
}
