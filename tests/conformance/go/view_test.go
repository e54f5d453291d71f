package conformance

import (
	"fmt"
	"strings"
	"testing"

	"cloud.google.com/go/bigtable"
	adminpb "cloud.google.com/go/bigtable/admin/apiv2/adminpb"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc/codes"
)

func (f *fixture) createView(id string, prefixes []string, families map[string]bigtable.FamilySubset) *bigtable.AuthorizedViewConf {
	f.t.Helper()
	subset := &bigtable.SubsetViewConf{FamilySubsets: families}
	for _, prefix := range prefixes {
		subset.AddRowPrefix([]byte(prefix))
	}
	conf := &bigtable.AuthorizedViewConf{TableID: "t", AuthorizedViewID: id, AuthorizedView: subset,
		DeletionProtection: bigtable.Unprotected}
	check(f.t, f.admin.CreateAuthorizedView(f.ctx, conf))
	return conf
}

func columns(qualifiers ...string) bigtable.FamilySubset {
	var subset bigtable.FamilySubset
	for _, qualifier := range qualifiers {
		if prefix, found := strings.CutSuffix(qualifier, "*"); found {
			subset.QualifierPrefixes = append(subset.QualifierPrefixes, []byte(prefix))
		} else {
			subset.Qualifiers = append(subset.Qualifiers, []byte(qualifier))
		}
	}
	return subset
}

func TestAuthorizedViewsShowAndTakeTheirSubset(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f", "g")
	f.createView("v", []string{"r1"}, map[string]bigtable.FamilySubset{"f": columns("col1", "x#*"), "g": columns("*")})
	view := f.client.OpenAuthorizedView("t", "v")
	f.write(table, cell{"r1", "f", "col1", 1, "a"}, cell{"r1", "f", "col2", 1, "b"}, cell{"r1", "f", "x#1", 1, "c"},
		cell{"r1", "g", "any", 1, "d"}, cell{"r12", "f", "col1", 1, "e"}, cell{"r2", "f", "col1", 1, "f"})
	read := func(options ...bigtable.ReadOption) string {
		var text strings.Builder
		check(t, view.ReadRows(f.ctx, bigtable.InfiniteRange(""), func(row bigtable.Row) bool {
			text.WriteString(render(row))
			return true
		}, options...))
		return text.String()
	}
	expect(t, "all of it", read(), `
r1 f:col1 @1 "a"
r1 f:x#1 @1 "c"
r1 g:any @1 "d"
r12 f:col1 @1 "e"`)
	expect(t, "filtered", read(bigtable.RowFilter(bigtable.CellsPerRowOffsetFilter(1))), `
r1 f:x#1 @1 "c"
r1 g:any @1 "d"`)
	row, err := view.ReadRow(f.ctx, "r2")
	check(t, err)
	if row != nil {
		t.Errorf("a row outside is %v", row)
	}

	denied := fmt.Sprintf("Cannot mutate from %s/authorizedViews/v because the mutation contains cells outside the Authorized View.", f.tableName("t"))
	set := func(family, qualifier string) *bigtable.Mutation {
		mutation := bigtable.NewMutation()
		mutation.Set(family, qualifier, 2000, []byte("new"))
		return mutation
	}
	deleteRow, deleteFamily := bigtable.NewMutation(), bigtable.NewMutation()
	deleteRow.DeleteRow()
	deleteFamily.DeleteCellsInFamily("f")
	for _, test := range []struct {
		name, row string
		mutation  *bigtable.Mutation
	}{
		{"another row", "r2", set("f", "col1")}, {"another column", "r1", set("f", "col2")},
		{"an unknown family", "r1", set("absent", "col1")}, {"the row", "r1", deleteRow},
		{"a family of which it has some columns", "r1", deleteFamily},
		{"under a condition", "r1", bigtable.NewCondMutation(bigtable.PassAllFilter(), set("f", "col1"), set("f", "col2"))},
	} {
		expectError(t, test.name, view.Apply(f.ctx, test.row, test.mutation), codes.PermissionDenied, denied)
	}
	appendTo := func(qualifier string) *bigtable.ReadModifyWrite {
		change := bigtable.NewReadModifyWrite()
		change.AppendValue("f", qualifier, []byte("+"))
		return change
	}
	_, err = view.ApplyReadModifyWrite(f.ctx, "r1", appendTo("col2"))
	expectError(t, "append", err, codes.PermissionDenied, denied)
	errs, err := view.ApplyBulk(f.ctx, []string{"r1", "r2", "r1"}, []*bigtable.Mutation{set("f", "x#2"), set("f", "x#2"), set("f", "col2")})
	check(t, err)
	if len(errs) != 3 || errs[0] != nil {
		t.Fatalf("in bulk: %v", errs)
	}
	expectError(t, "in bulk, another row", errs[1], codes.PermissionDenied, denied)
	expectError(t, "in bulk, another column", errs[2], codes.PermissionDenied, denied)
	deleteG := bigtable.NewMutation()
	deleteG.DeleteCellsInFamily("g")
	check(t, view.Apply(f.ctx, "r1", deleteG))
	_, err = view.ApplyReadModifyWrite(f.ctx, "r1", appendTo("col1"))
	check(t, err)
	check(t, view.Apply(f.ctx, "r1", bigtable.NewCondMutation(bigtable.ColumnFilter("col2"), nil, set("f", "x#3"))))
	latest := bigtable.ChainFilters(bigtable.LatestNFilter(1), bigtable.StripValueFilter(), bigtable.TimestampRangeFilterMicros(0, 1_000_000))
	expect(t, "after it all", f.read(table, bigtable.SingleRow("r1"), bigtable.RowFilter(latest)), `
r1 f:col2 @1 ""
r1 f:x#1 @1 ""
r1 f:x#2 @2 ""
r1 f:x#3 @2 ""`)
	_, err = f.client.OpenAuthorizedView("t", "absent").ReadRow(f.ctx, "r1")
	expectError(t, "an unknown view", err, codes.NotFound, "absent")
	_, err = f.stream(f.ctx, &btpb.ReadRowsRequest{TableName: f.tableName("t"), AuthorizedViewName: f.tableName("t") + "/authorizedViews/v"})
	expectError(t, "a table and a view", err, codes.InvalidArgument, "Only one of")
	_, err = f.stream(f.ctx, &btpb.ReadRowsRequest{AuthorizedViewName: f.tableName("t")})
	expectError(t, "a table for a view", err, codes.InvalidArgument, "authorizedViews")
}

func TestSamplesOfAnAuthorizedView(t *testing.T) {
	f := newFixture(t)
	check(t, f.admin.CreatePresplitTable(f.ctx, "t", []string{"r0", "r11", "r12", "r2"}))
	f.createView("v", []string{"r1"}, nil)
	f.createView("all", []string{""}, nil)
	f.createView("two", []string{"r2", "r0"}, nil)
	f.createView("row", []string{"r125"}, nil)
	for id, want := range map[string]string{"v": "r11 r12 r2", "all": "r0 r11 r12 r2 ", "two": "r1 r3", "row": "r126"} {
		keys, err := f.client.OpenAuthorizedView("t", id).SampleRowKeys(f.ctx)
		check(t, err)
		if got := strings.Join(keys, " "); got != want && got != strings.TrimSuffix(want, " ") {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
}

func TestAuthorizedViewsAreAdministered(t *testing.T) {
	f := newFixture(t)
	f.createTable("t", "f")
	f.createView("b", []string{"r"}, map[string]bigtable.FamilySubset{"f": columns("q", "p*")})
	f.createView("a", nil, nil)
	views, err := f.admin.AuthorizedViews(f.ctx, "t")
	check(t, err)
	expect(t, "views", strings.Join(views, " "), "a b")
	info, err := f.admin.AuthorizedViewInfo(f.ctx, "t", "b")
	check(t, err)
	if info.DeletionProtection != bigtable.Unprotected {
		t.Errorf("got %v", info)
	}
	name := f.tableName("t") + "/authorizedViews/b"
	full, err := f.tables.GetAuthorizedView(f.ctx, &adminpb.GetAuthorizedViewRequest{Name: name, View: adminpb.AuthorizedView_FULL})
	check(t, err)
	if subset := full.GetSubsetView(); string(subset.RowPrefixes[0]) != "r" || string(subset.FamilySubsets["f"].QualifierPrefixes[0]) != "p" {
		t.Errorf("got %v", full)
	}

	protect := func(protection bigtable.DeletionProtection) {
		check(t, f.admin.UpdateAuthorizedView(f.ctx, bigtable.UpdateAuthorizedViewConf{
			AuthorizedViewConf: bigtable.AuthorizedViewConf{TableID: "t", AuthorizedViewID: "b", DeletionProtection: protection}}))
	}
	protect(bigtable.Protected)
	expectError(t, "a protected view", f.admin.DeleteAuthorizedView(f.ctx, "t", "b"), codes.FailedPrecondition, "protected")
	expectError(t, "its table", f.admin.DeleteTable(f.ctx, "t"), codes.FailedPrecondition, "protected")
	_, err = f.tables.UpdateAuthorizedView(f.ctx, &adminpb.UpdateAuthorizedViewRequest{
		AuthorizedView: &adminpb.AuthorizedView{Name: name, Etag: full.Etag}})
	expectError(t, "an etag of before", err, codes.Aborted, "etag")
	_, err = f.tables.DeleteAuthorizedView(f.ctx, &adminpb.DeleteAuthorizedViewRequest{Name: name, Etag: full.Etag})
	expectError(t, "an etag of before", err, codes.Aborted, "etag")
	protect(bigtable.Unprotected)
	check(t, f.admin.DeleteAuthorizedView(f.ctx, "t", "b"))
	_, err = f.admin.AuthorizedViewInfo(f.ctx, "t", "b")
	expectError(t, "a deleted view", err, codes.NotFound, name)
	check(t, f.admin.DeleteTable(f.ctx, "t"))
	f.createTable("t", "f")
	views, err = f.admin.AuthorizedViews(f.ctx, "t")
	check(t, err)
	if len(views) != 0 {
		t.Errorf("a new table has the views %v", views)
	}
}
