package conformance

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	adminpb "cloud.google.com/go/bigtable/admin/apiv2/adminpb"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
)

// The generated stubs send what the wrapper would refuse or cannot say.

func (f *fixture) mutate(key string, mutations ...*btpb.Mutation) error {
	_, err := f.data.MutateRow(f.ctx, &btpb.MutateRowRequest{
		TableName: f.tableName("t"), RowKey: []byte(key), Mutations: mutations})
	return err
}

func (f *fixture) scan(request *btpb.ReadRowsRequest) error {
	if request.TableName == "" {
		request.TableName = f.tableName("t")
	}
	stream, err := f.data.ReadRows(f.ctx, request)
	for err == nil {
		_, err = stream.Recv()
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func (f *fixture) filter(filter *btpb.RowFilter) error {
	return f.scan(&btpb.ReadRowsRequest{Filter: filter})
}

func limitsFixture(t *testing.T) *fixture {
	f := newFixture(t)
	f.createTable("t", "f")
	return f
}

type limitCase struct {
	name string
	err  error
	code codes.Code
	text string
}

func run(t *testing.T, cases []limitCase) {
	t.Helper()
	for _, c := range cases {
		expectError(t, c.name, c.err, c.code, c.text)
	}
}

func repeat(mutation *btpb.Mutation, count int) []*btpb.Mutation {
	mutations := make([]*btpb.Mutation, count)
	for i := range mutations {
		mutations[i] = mutation
	}
	return mutations
}

func TestRefusesWritesPastTheLimits(t *testing.T) {
	f := limitsFixture(t)
	set := setCell("f", "q", 1000, "v")
	const invalid = codes.InvalidArgument
	run(t, []limitCase{
		{"empty key", f.mutate("", set), invalid, "Row keys must be non-empty"},
		{"long key", f.mutate(strings.Repeat("k", 4097), set), invalid, "4096"},
		{"no mutations", f.mutate("r"), invalid, "No mutations provided"},
		{"a mutation without a kind", f.mutate("r", &btpb.Mutation{}), invalid, ""},
		{"too many mutations", f.mutate("r", repeat(set, 100_001)...), invalid, "Too many mutations: 100001 provided; limit 100000"},
		{"unknown family", f.mutate("row-1", set, setCell("absent", "q", 0, "")), codes.NotFound,
			fmt.Sprintf("Error while mutating the row 'row-1' (%s) : Requested column family not found.", f.tableName("t"))},
		{"long qualifier", f.mutate("r", setCell("f", strings.Repeat("q", 16*1024+1), 0, "")), invalid, "16384"},
		{"timestamp -2", f.mutate("r", setCell("f", "q", -2, "")), invalid, "-2"},
		{"timestamp between milliseconds", f.mutate("r", setCell("f", "q", 1001, "")), invalid, "1001"},
		{"the greatest timestamp, between milliseconds", f.mutate("r", setCell("f", "q", math.MaxInt64, "")), invalid, ""},
		{"delete of an empty time range", f.mutate("r", deleteRange(2000, 2000)), invalid, ""},
		{"delete of a reversed time range", f.mutate("r", deleteRange(2000, 1000)), invalid, ""},
		{"delete of an unknown family", f.mutate("r", &btpb.Mutation{Mutation: &btpb.Mutation_DeleteFromFamily_{
			DeleteFromFamily: &btpb.Mutation_DeleteFromFamily{FamilyName: "absent"}}}), codes.NotFound,
			"Requested column family not found."},
	})
	_, err := f.data.MutateRow(f.ctx, &btpb.MutateRowRequest{TableName: f.tableName("absent"), RowKey: []byte("r"),
		Mutations: []*btpb.Mutation{set}})
	expectError(t, "unknown table", err, codes.NotFound, "absent")
	_, err = f.data.MutateRow(f.ctx, &btpb.MutateRowRequest{TableName: "t", RowKey: []byte("r"), Mutations: []*btpb.Mutation{set}})
	expectError(t, "not a table's name", err, codes.InvalidArgument, "")
	expect(t, "rows", f.keys(f.client.Open("t"), bigtable.InfiniteRange("")), "")

	check(t, f.mutate(strings.Repeat("k", 4096), setCell("f", strings.Repeat("q", 16*1024), math.MaxInt64-math.MaxInt64%1000, "")))
	check(t, f.mutate("r", repeat(set, 100_000)...))
}

func TestRefusesBulkWritesPastTheLimits(t *testing.T) {
	f := limitsFixture(t)
	set := setCell("f", "q", 1000, "v")
	bulk := func(entries ...*btpb.MutateRowsRequest_Entry) (map[int64]codes.Code, error) {
		stream, err := f.data.MutateRows(f.ctx, &btpb.MutateRowsRequest{TableName: f.tableName("t"), Entries: entries})
		check(t, err)
		answers := map[int64]codes.Code{}
		for {
			answer, err := stream.Recv()
			if err == io.EOF {
				return answers, nil
			}
			if err != nil {
				return nil, err
			}
			for _, entry := range answer.Entries {
				answers[entry.Index] = codes.Code(entry.Status.GetCode())
			}
		}
	}
	_, err := bulk()
	expectError(t, "no entries", err, codes.InvalidArgument, "")
	_, err = bulk(&btpb.MutateRowsRequest_Entry{RowKey: []byte("a"), Mutations: repeat(set, 60_000)},
		&btpb.MutateRowsRequest_Entry{RowKey: []byte("b"), Mutations: repeat(set, 60_000)})
	expectError(t, "too many mutations", err, codes.InvalidArgument, "Too many mutations: 120000 provided; limit 100000")
	expect(t, "rows", f.keys(f.client.Open("t"), bigtable.InfiniteRange("")), "")
}

func TestRefusesReadModifyWritesPastTheLimits(t *testing.T) {
	f := limitsFixture(t)
	check := func(name, key, family string, rules int, code codes.Code, text string) {
		t.Helper()
		request := &btpb.ReadModifyWriteRowRequest{TableName: f.tableName("t"), RowKey: []byte(key)}
		for i := 0; i < rules; i++ {
			request.Rules = append(request.Rules, &btpb.ReadModifyWriteRule{FamilyName: family, ColumnQualifier: []byte("q"),
				Rule: &btpb.ReadModifyWriteRule_IncrementAmount{IncrementAmount: 1}})
		}
		_, err := f.data.ReadModifyWriteRow(f.ctx, request)
		expectError(t, name, err, code, text)
	}
	check("empty key", "", "f", 1, codes.InvalidArgument, "Row keys must be non-empty")
	check("no rules", "r", "f", 0, codes.InvalidArgument, "")
	check("too many rules", "r", "f", 100_001, codes.InvalidArgument, "100000")
	check("unknown family", "r", "absent", 1, codes.NotFound, "Requested column family not found.")

	mutate := func(request *btpb.CheckAndMutateRowRequest) error {
		request.TableName = f.tableName("t")
		_, err := f.data.CheckAndMutateRow(f.ctx, request)
		return err
	}
	set := setCell("f", "q", 1000, "v")
	run(t, []limitCase{
		{"empty key", mutate(&btpb.CheckAndMutateRowRequest{TrueMutations: repeat(set, 1)}), codes.InvalidArgument,
			"Row keys must be non-empty"},
		{"no mutations", mutate(&btpb.CheckAndMutateRowRequest{RowKey: []byte("r")}), codes.InvalidArgument, "No mutations provided"},
		{"too many", mutate(&btpb.CheckAndMutateRowRequest{RowKey: []byte("r"), FalseMutations: repeat(set, 100_001)}),
			codes.InvalidArgument, "Too many mutations: 100001 provided; limit 100000"},
	})
}

func TestRefusesRowSetsThatMakeNoSense(t *testing.T) {
	f := limitsFixture(t)
	rows := func(ranges ...*btpb.RowRange) error {
		return f.scan(&btpb.ReadRowsRequest{Rows: &btpb.RowSet{RowRanges: ranges}})
	}
	closedOpen := func(start, end string) *btpb.RowRange {
		return &btpb.RowRange{StartKey: &btpb.RowRange_StartKeyClosed{StartKeyClosed: []byte(start)},
			EndKey: &btpb.RowRange_EndKeyOpen{EndKeyOpen: []byte(end)}}
	}
	openOpen := &btpb.RowRange{StartKey: &btpb.RowRange_StartKeyOpen{StartKeyOpen: []byte("k")},
		EndKey: &btpb.RowRange_EndKeyOpen{EndKeyOpen: []byte("k")}}
	openClosed := &btpb.RowRange{StartKey: &btpb.RowRange_StartKeyOpen{StartKeyOpen: []byte("k")},
		EndKey: &btpb.RowRange_EndKeyClosed{EndKeyClosed: []byte("k")}}
	keys := func(count int) [][]byte {
		var keys [][]byte
		for i := 0; i < count; i++ {
			keys = append(keys, []byte(fmt.Sprintf("%04096d", i)))
		}
		return keys
	}
	text := func(index int) string {
		return fmt.Sprintf("Error in field 'row_ranges' : Error in element #%d : start_key must be less than end_key", index)
	}
	const invalid = codes.InvalidArgument
	run(t, []limitCase{
		{"[k,k)", rows(closedOpen("k", "k")), invalid, text(0)},
		{"(k,k)", rows(openOpen), invalid, text(0)},
		{"(k,k]", rows(openClosed), invalid, text(0)},
		{"reversed", rows(closedOpen("b", "a")), invalid, text(0)},
		{"the second of two", rows(closedOpen("a", "b"), closedOpen("d", "c")), invalid, text(1)},
		{"empty key", f.scan(&btpb.ReadRowsRequest{Rows: &btpb.RowSet{RowKeys: [][]byte{{}}}}), invalid, "Row keys must be non-empty"},
		{"too many rows", f.scan(&btpb.ReadRowsRequest{Rows: &btpb.RowSet{RowKeys: keys(130)}}), invalid, "524288"},
		{"many rows", f.scan(&btpb.ReadRowsRequest{Rows: &btpb.RowSet{RowKeys: keys(127)}}), codes.OK, ""},
		{"negative limit", f.scan(&btpb.ReadRowsRequest{RowsLimit: -1}), invalid, "rows_limit"},
		{"unknown table", f.scan(&btpb.ReadRowsRequest{TableName: f.tableName("absent")}), codes.NotFound, "absent"},
		{"not a table's name", f.scan(&btpb.ReadRowsRequest{TableName: "tables/t"}), invalid, ""},
	})
}

func TestRefusesFiltersThatMakeNoSense(t *testing.T) {
	f := limitsFixture(t)
	pass := &btpb.RowFilter{Filter: &btpb.RowFilter_PassAllFilter{PassAllFilter: true}}
	chain := func(filters ...*btpb.RowFilter) *btpb.RowFilter {
		return &btpb.RowFilter{Filter: &btpb.RowFilter_Chain_{Chain: &btpb.RowFilter_Chain{Filters: filters}}}
	}
	nested := func(depth int) *btpb.RowFilter {
		filter := pass
		for i := 0; i < depth; i++ {
			filter = chain(pass, filter)
		}
		return filter
	}
	large := func(bytes int) *btpb.RowFilter {
		return &btpb.RowFilter{Filter: &btpb.RowFilter_ColumnQualifierRegexFilter{
			ColumnQualifierRegexFilter: []byte(strings.Repeat("q", bytes))}}
	}
	sample := func(p float64) *btpb.RowFilter {
		return &btpb.RowFilter{Filter: &btpb.RowFilter_RowSampleFilter{RowSampleFilter: p}}
	}
	label := &btpb.RowFilter{Filter: &btpb.RowFilter_ApplyLabelTransformer{ApplyLabelTransformer: "ok"}}
	const invalid = codes.InvalidArgument
	run(t, []limitCase{
		{"too large", f.filter(large(20_480)), invalid, "Row filter exceeds maximum size of 20480 bytes"},
		{"too deep", f.filter(nested(21)), invalid, "20"},
		{"chain of none", f.filter(chain()), invalid, ""},
		{"chain of one", f.filter(chain(pass)), invalid, ""},
		{"interleave of one", f.filter(&btpb.RowFilter{Filter: &btpb.RowFilter_Interleave_{
			Interleave: &btpb.RowFilter_Interleave{Filters: []*btpb.RowFilter{pass}}}}), invalid, ""},
		{"pass false", f.filter(&btpb.RowFilter{Filter: &btpb.RowFilter_PassAllFilter{}}), invalid, ""},
		{"block false", f.filter(&btpb.RowFilter{Filter: &btpb.RowFilter_BlockAllFilter{}}), invalid, ""},
		{"sample 0", f.filter(sample(0)), invalid, ""},
		{"sample 1", f.filter(sample(1)), invalid, ""},
		{"sample NaN", f.filter(sample(math.NaN())), invalid, ""},
		{"limit 0", f.filter(&btpb.RowFilter{Filter: &btpb.RowFilter_CellsPerRowLimitFilter{}}), invalid, ""},
		{"offset 0", f.filter(&btpb.RowFilter{Filter: &btpb.RowFilter_CellsPerRowOffsetFilter{}}), invalid, ""},
		{"latest -1", f.filter(&btpb.RowFilter{Filter: &btpb.RowFilter_CellsPerColumnLimitFilter{
			CellsPerColumnLimitFilter: -1}}), invalid, "-1"},
		{"invalid regex", f.filter(&btpb.RowFilter{Filter: &btpb.RowFilter_ValueRegexFilter{
			ValueRegexFilter: []byte("(")}}), invalid, "("},
		{"label", f.filter(&btpb.RowFilter{Filter: &btpb.RowFilter_ApplyLabelTransformer{
			ApplyLabelTransformer: "No Label"}}), invalid, ""},
		{"two labels in a chain", f.filter(chain(label, label)), invalid, ""},
		{"condition without predicate", f.filter(&btpb.RowFilter{Filter: &btpb.RowFilter_Condition_{
			Condition: &btpb.RowFilter_Condition{TrueFilter: pass}}}), invalid, ""},
	})
	check(t, f.filter(large(20_000)))
	check(t, f.filter(nested(19)))
}

func TestRefusesTablesPastTheLimits(t *testing.T) {
	f := newFixture(t)
	create := func(id string, table *adminpb.Table) error {
		_, err := f.tables.CreateTable(f.ctx, &adminpb.CreateTableRequest{Parent: f.instanceName(), TableId: id, Table: table})
		return err
	}
	family := func(name string, rule *adminpb.GcRule) *adminpb.Table {
		return &adminpb.Table{ColumnFamilies: map[string]*adminpb.ColumnFamily{name: {GcRule: rule}}}
	}
	versions := func(count int32) *adminpb.GcRule {
		return &adminpb.GcRule{Rule: &adminpb.GcRule_MaxNumVersions{MaxNumVersions: count}}
	}
	age := func(d time.Duration) *adminpb.GcRule {
		return &adminpb.GcRule{Rule: &adminpb.GcRule_MaxAge{MaxAge: durationpb.New(d)}}
	}
	var many []*adminpb.GcRule
	for i := 0; i < 200; i++ {
		many = append(many, versions(int32(i+1)))
	}
	const invalid = codes.InvalidArgument
	run(t, []limitCase{
		{"empty id", create("", &adminpb.Table{}), invalid, ""},
		{"long id", create(strings.Repeat("t", 51), &adminpb.Table{}), invalid, "50"},
		{"id with a slash", create("a/b", &adminpb.Table{}), invalid, "a/b"},
		{"id that starts with a dash", create("-a", &adminpb.Table{}), invalid, "-a"},
		{"family with a colon", create("t", family("a:b", nil)), invalid, "a:b"},
		{"empty family", create("t", family("", nil)), invalid, ""},
		{"long family", create("t", family(strings.Repeat("f", 65), nil)), invalid, "64"},
		{"no version", create("t", family("f", versions(0))), invalid, ""},
		{"negative versions", create("t", family("f", versions(-1))), invalid, "-1"},
		{"an age below a millisecond", create("t", family("f", age(time.Microsecond))), invalid, ""},
		{"large rule", create("t", family("f", &adminpb.GcRule{Rule: &adminpb.GcRule_Union_{
			Union: &adminpb.GcRule_Union{Rules: many}}})), invalid, "500"},
	})
	_, err := f.tables.CreateTable(f.ctx, &adminpb.CreateTableRequest{Parent: "instances/x", TableId: "t", Table: &adminpb.Table{}})
	expectError(t, "not an instance's name", err, invalid, "")
	tables, err := f.admin.Tables(f.ctx)
	check(t, err)
	if len(tables) != 0 {
		t.Errorf("refused, and there: %v", tables)
	}
	check(t, create(strings.Repeat("t", 50), family(strings.Repeat("f", 64), age(time.Millisecond))))
}
