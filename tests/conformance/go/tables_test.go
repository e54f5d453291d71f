package conformance

import (
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	adminpb "cloud.google.com/go/bigtable/admin/apiv2/adminpb"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc/codes"
)

func TestCreatesTableWithFamiliesAndRules(t *testing.T) {
	f := newFixture(t)
	versions := bigtable.MaxVersionsPolicy(3)
	age := bigtable.MaxAgePolicy(36 * time.Hour)
	check(t, f.admin.CreateTableFromConf(f.ctx, &bigtable.TableConf{
		TableID: "weather",
		Families: map[string]bigtable.GCPolicy{
			"all":          bigtable.NoGcPolicy(),
			"versions":     versions,
			"age":          age,
			"either":       bigtable.UnionPolicy(versions, age),
			"both":         bigtable.IntersectionPolicy(versions, age),
			"nested":       bigtable.UnionPolicy(bigtable.MaxVersionsPolicy(9), bigtable.IntersectionPolicy(versions, age)),
			"Dots.and-_09": versions,
		},
	}))
	info, err := f.admin.TableInfo(f.ctx, "weather")
	check(t, err)
	var lines []string
	for _, family := range info.FamilyInfos {
		policy := strings.TrimPrefix(family.GCPolicy, "<never>") // an absent rule and an empty one say the same
		lines = append(lines, strings.TrimSpace(family.Name+" "+policy))
	}
	sort.Strings(lines)
	expect(t, "families", strings.Join(lines, "\n"), `
Dots.and-_09 versions() > 3
age age() > 36h
all
both (versions() > 3 && age() > 36h)
either (versions() > 3 || age() > 36h)
nested (versions() > 9 || (versions() > 3 && age() > 36h))
versions versions() > 3`)
}

func TestCreateOfAnExistingTableFails(t *testing.T) {
	f := newFixture(t)
	f.createTable("twice", "f")
	expectError(t, "create", f.admin.CreateTable(f.ctx, "twice"), codes.AlreadyExists, "twice")
}

func TestListsTablesSortedAndPaged(t *testing.T) {
	f := newFixture(t)
	for _, id := range []string{"pear", "apple", "fig", "Zebra", "quince"} {
		check(t, f.admin.CreateTable(f.ctx, id))
	}
	all, err := f.admin.Tables(f.ctx)
	check(t, err)
	expect(t, "tables", strings.Join(all, " "), "Zebra apple fig pear quince")

	var pages []string
	token := ""
	for {
		page, err := f.tables.ListTables(f.ctx, &adminpb.ListTablesRequest{
			Parent: f.instanceName(), PageSize: 2, PageToken: token})
		check(t, err)
		var ids []string
		for _, table := range page.Tables {
			ids = append(ids, strings.TrimPrefix(table.Name, f.instanceName()+"/tables/"))
			if len(table.ColumnFamilies) > 0 {
				t.Errorf("%s: the default view holds names only", table.Name)
			}
		}
		pages = append(pages, strings.Join(ids, " "))
		if token = page.NextPageToken; token == "" {
			break
		}
		if len(pages) > 9 {
			t.Fatal("the pages do not end")
		}
	}
	expect(t, "pages", strings.Join(pages, " | "), "Zebra apple | fig pear | quince")

	_, err = f.tables.ListTables(f.ctx, &adminpb.ListTablesRequest{Parent: f.instanceName(), PageSize: -1})
	expectError(t, "negative page size", err, codes.InvalidArgument, "")
}

func TestTablesOfOtherInstancesAreOutOfSight(t *testing.T) {
	one, two := newFixture(t), newFixture(t)
	one.createTable("mine", "f")
	tables, err := two.admin.Tables(two.ctx)
	check(t, err)
	if len(tables) != 0 {
		t.Errorf("got %v", tables)
	}
}

func TestGetTableGivesTheViewAskedFor(t *testing.T) {
	f := newFixture(t)
	f.createTable("views", "f")
	get := func(view adminpb.Table_View) *adminpb.Table {
		table, err := f.tables.GetTable(f.ctx, &adminpb.GetTableRequest{Name: f.tableName("views"), View: view})
		check(t, err)
		return table
	}
	for _, view := range []adminpb.Table_View{adminpb.Table_VIEW_UNSPECIFIED, adminpb.Table_SCHEMA_VIEW, adminpb.Table_FULL} {
		table := get(view)
		if table.Name != f.tableName("views") || len(table.ColumnFamilies) != 1 {
			t.Errorf("%v: got %v", view, table)
		}
		if table.Granularity != adminpb.Table_MILLIS {
			t.Errorf("%v: granularity %v", view, table.Granularity)
		}
	}
	if table := get(adminpb.Table_NAME_ONLY); len(table.ColumnFamilies) != 0 {
		t.Errorf("NAME_ONLY: got %v", table)
	}
	_, err := f.tables.GetTable(f.ctx, &adminpb.GetTableRequest{Name: f.tableName("absent")})
	expectError(t, "absent table", err, codes.NotFound, "absent")
}

func TestDeletedTableIsGoneAndItsNameIsFree(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("brief", "f")
	f.write(table, cell{"r", "f", "q", 1, "old"})
	check(t, f.admin.DeleteTable(f.ctx, "brief"))
	_, err := table.ReadRow(f.ctx, "r")
	expectError(t, "read", err, codes.NotFound, "brief")
	expectError(t, "delete", f.admin.DeleteTable(f.ctx, "brief"), codes.NotFound, "brief")
	table = f.createTable("brief", "f")
	expect(t, "rows", f.readAll(table), "")
}

func TestModifiesColumnFamiliesInOrder(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "a", "b")
	f.write(table, cell{"r", "a", "q", 1, "1"}, cell{"r", "b", "q", 1, "2"})
	check(t, f.admin.CreateColumnFamily(f.ctx, "t", "c"))
	check(t, f.admin.SetGCPolicy(f.ctx, "t", "c", bigtable.MaxVersionsPolicy(7)))
	check(t, f.admin.DeleteColumnFamily(f.ctx, "t", "b"))
	info, err := f.admin.TableInfo(f.ctx, "t")
	check(t, err)
	sort.Strings(info.Families)
	expect(t, "families", strings.Join(info.Families, " "), "a c")
	for _, family := range info.FamilyInfos {
		if family.Name == "c" && family.GCPolicy != "versions() > 7" {
			t.Errorf("c: got %s", family.GCPolicy)
		}
	}
	expect(t, "rows", f.readAll(table), `r a:q @1 "1"`)
	// A family made again under an old name starts empty.
	check(t, f.admin.CreateColumnFamily(f.ctx, "t", "b"))
	expect(t, "rows", f.readAll(table), `r a:q @1 "1"`)

	got, err := f.tables.ModifyColumnFamilies(f.ctx, &adminpb.ModifyColumnFamiliesRequest{
		Name: f.tableName("t"), Modifications: []*adminpb.ModifyColumnFamiliesRequest_Modification{
			{Id: "d", Mod: create()}, {Id: "d", Mod: drop()}, {Id: "e", Mod: create()}}})
	check(t, err)
	if len(got.ColumnFamilies) != 4 || got.ColumnFamilies["e"] == nil {
		t.Errorf("got %v", got.ColumnFamilies)
	}
}

func create() *adminpb.ModifyColumnFamiliesRequest_Modification_Create {
	return &adminpb.ModifyColumnFamiliesRequest_Modification_Create{Create: &adminpb.ColumnFamily{}}
}

func drop() *adminpb.ModifyColumnFamiliesRequest_Modification_Drop {
	return &adminpb.ModifyColumnFamiliesRequest_Modification_Drop{Drop: true}
}

func TestChangesTheTypeOfAFamilyThatIsNoAggregate(t *testing.T) {
	f := newFixture(t)
	check(t, f.admin.CreateTableFromConf(f.ctx, &bigtable.TableConf{TableID: "t", ColumnFamilies: map[string]bigtable.Family{
		"plain": {GCPolicy: bigtable.MaxVersionsPolicy(2)},
		"sum":   {ValueType: bigtable.AggregateType{Input: bigtable.Int64Type{}, Aggregator: bigtable.SumAggregator{}}},
	}}))
	text := bigtable.Family{ValueType: bigtable.StringType{Encoding: bigtable.StringUtf8BytesEncoding{}}}
	check(t, f.admin.UpdateFamily(f.ctx, "t", "plain", text))
	expectError(t, "from an aggregate", f.admin.UpdateFamily(f.ctx, "t", "sum", text), codes.InvalidArgument,
		"Immutable fields 'value_type.aggregate_type' cannot be updated")
	expectError(t, "from one aggregate to another", f.admin.UpdateFamily(f.ctx, "t", "sum", bigtable.Family{
		ValueType: bigtable.AggregateType{Input: bigtable.Int64Type{}, Aggregator: bigtable.MaxAggregator{}}}),
		codes.InvalidArgument, "Immutable fields 'value_type.aggregate_type' cannot be updated")
	expectError(t, "to an aggregate", f.admin.UpdateFamily(f.ctx, "t", "plain", bigtable.Family{
		ValueType: bigtable.AggregateType{Input: bigtable.Int64Type{}, Aggregator: bigtable.MaxAggregator{}}}),
		codes.InvalidArgument, "value_type")
	table, err := f.tables.GetTable(f.ctx, &adminpb.GetTableRequest{Name: f.tableName("t")})
	check(t, err)
	plain := table.ColumnFamilies["plain"]
	if plain.GetValueType().GetStringType().GetEncoding().GetUtf8Bytes() == nil || plain.GetGcRule().GetMaxNumVersions() != 2 {
		t.Errorf("plain: got %v", plain)
	}
	if table.ColumnFamilies["sum"].GetValueType().GetAggregateType().GetSum() == nil {
		t.Errorf("sum: got %v", table.ColumnFamilies["sum"])
	}
}

func TestFailedModificationChangesNothing(t *testing.T) {
	f := newFixture(t)
	f.createTable("t", "a")
	modify := func(modifications ...*adminpb.ModifyColumnFamiliesRequest_Modification) error {
		_, err := f.tables.ModifyColumnFamilies(f.ctx, &adminpb.ModifyColumnFamiliesRequest{
			Name: f.tableName("t"), Modifications: modifications})
		return err
	}
	type modification = adminpb.ModifyColumnFamiliesRequest_Modification
	expectError(t, "drop of a missing family", modify(&modification{Id: "new", Mod: create()},
		&modification{Id: "absent", Mod: drop()}), codes.NotFound, "absent")
	expectError(t, "create of an existing family", modify(&modification{Id: "new", Mod: create()},
		&modification{Id: "a", Mod: create()}), codes.AlreadyExists, "a")
	expectError(t, "update of a missing family", modify(&modification{Id: "absent",
		Mod: &adminpb.ModifyColumnFamiliesRequest_Modification_Update{Update: &adminpb.ColumnFamily{}}}),
		codes.NotFound, "absent")
	info, err := f.admin.TableInfo(f.ctx, "t")
	check(t, err)
	expect(t, "families", strings.Join(info.Families, " "), "a")
}

func TestDropsRows(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	for _, row := range []string{"a", "ab#1", "ab#2", "ab\xff\xff", "ac", "b"} {
		f.write(table, cell{row, "f", "q", 1, "v"})
	}
	check(t, f.admin.DropRowRange(f.ctx, "t", "ab"))
	expect(t, "rows", f.keys(table, bigtable.InfiniteRange("")), "a ac b")
	f.write(table, cell{"ab#1", "f", "q", 1, "again"})
	expect(t, "rows", f.read(table, bigtable.PrefixRange("ab")), `ab#1 f:q @1 "again"`)
	check(t, f.admin.DropAllRows(f.ctx, "t"))
	expect(t, "rows", f.keys(table, bigtable.InfiniteRange("")), "")
	f.write(table, cell{"b", "f", "q", 1, "after"})
	expect(t, "rows", f.readAll(table), `b f:q @1 "after"`)

	expectError(t, "missing table", f.admin.DropRowRange(f.ctx, "absent", "x"), codes.NotFound, "absent")
	_, err := f.tables.DropRowRange(f.ctx, &adminpb.DropRowRangeRequest{Name: f.tableName("t"),
		Target: &adminpb.DropRowRangeRequest_RowKeyPrefix{}})
	expectError(t, "empty prefix", err, codes.InvalidArgument, "")
}

func TestSamplesTheInitialSplits(t *testing.T) {
	f := newFixture(t)
	check(t, f.admin.CreatePresplitTable(f.ctx, "split", []string{"d", "m", "t"}))
	keys, err := f.client.Open("split").SampleRowKeys(f.ctx)
	check(t, err)
	expect(t, "samples", strings.Join(keys, " "), "d m t")

	stream, err := f.data.SampleRowKeys(f.ctx, &btpb.SampleRowKeysRequest{TableName: f.tableName("split")})
	check(t, err)
	last, offset := "none", int64(0)
	for {
		sample, err := stream.Recv()
		if err != nil {
			break
		}
		if sample.OffsetBytes < offset {
			t.Errorf("offsets go down: %d after %d", sample.OffsetBytes, offset)
		}
		last, offset = string(sample.RowKey), sample.OffsetBytes
	}
	expect(t, "last sample", last, "")
}

func TestSampleOffsetsGrowWithTheData(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	value := strings.Repeat("0123456789abcdef", 4096)
	for i := 0; i < 64; i++ {
		f.write(table, cell{fmt.Sprintf("row%02d", i), "f", "q", 1, value})
	}
	// Where the rows lie in another store, their sizes come some seconds late.
	offset := int64(-1)
	for begin := time.Now(); offset <= 0 && time.Since(begin) < time.Minute; time.Sleep(100 * time.Millisecond) {
		stream, err := f.data.SampleRowKeys(f.ctx, &btpb.SampleRowKeysRequest{TableName: f.tableName("t")})
		check(t, err)
		for {
			sample, err := stream.Recv()
			if err != nil {
				break
			}
			offset = sample.OffsetBytes
		}
	}
	if offset <= 0 {
		t.Errorf("4 MiB were written, and the last offset is %d", offset)
	}
}

func TestConsistencyIsImmediate(t *testing.T) {
	f := newFixture(t)
	f.createTable("t", "f")
	token, err := f.tables.GenerateConsistencyToken(f.ctx, &adminpb.GenerateConsistencyTokenRequest{Name: f.tableName("t")})
	check(t, err)
	answer, err := f.tables.CheckConsistency(f.ctx, &adminpb.CheckConsistencyRequest{
		Name: f.tableName("t"), ConsistencyToken: token.ConsistencyToken})
	check(t, err)
	if !answer.Consistent {
		t.Error("one server is not consistent with itself")
	}
	_, err = f.tables.CheckConsistency(f.ctx, &adminpb.CheckConsistencyRequest{
		Name: f.tableName("t"), ConsistencyToken: "dummy"})
	expectError(t, "foreign token", err, codes.InvalidArgument, "")
}

func TestAnswersUnimplementedForWhatIsNotBuilt(t *testing.T) {
	f := newFixture(t)
	_, err := f.tables.CreateTableFromSnapshot(f.ctx, &adminpb.CreateTableFromSnapshotRequest{
		Parent: f.instanceName(), TableId: "t", SourceSnapshot: "s"})
	expectError(t, "snapshots", err, codes.Unimplemented,
		"google.bigtable.admin.v2.BigtableTableAdmin/CreateTableFromSnapshot is not built; docs/compatibility.md")
}

func TestUndeletesTable(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("back", "f")
	f.write(table, cell{"r", "f", "q", 1, "v"})
	before := f.readAll(table)
	undelete := func(id string) error {
		operation, err := f.tables.UndeleteTable(f.ctx, &adminpb.UndeleteTableRequest{Name: f.tableName(id)})
		if err == nil && !operation.Done {
			t.Error("the operation is not done")
		}
		return err
	}
	expectError(t, "undelete of a table that is there", undelete("back"), codes.AlreadyExists, "back")
	check(t, f.admin.DeleteTable(f.ctx, "back"))
	check(t, undelete("back"))
	expect(t, "rows", f.readAll(table), before)
	expectError(t, "delete of a protected table", f.admin.DeleteTable(f.ctx, "back"), codes.FailedPrecondition, "")
	info, err := f.admin.TableInfo(f.ctx, "back")
	check(t, err)
	if info.DeletionProtection != bigtable.Protected {
		t.Error("the table is not protected")
	}
	expectError(t, "undelete of a table that never was", undelete("never"), codes.NotFound, "never")
}
