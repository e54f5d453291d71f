package conformance

import (
	"fmt"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
)

// Production collects within days; this server's promise is stronger: a cell that a rule forgets is never returned.

func gcFixture(t *testing.T, policy bigtable.GCPolicy) (*fixture, *bigtable.Table, int64) {
	f := newFixture(t)
	check(t, f.admin.CreateTableFromConf(f.ctx, &bigtable.TableConf{
		TableID: "t", Families: map[string]bigtable.GCPolicy{"f": policy}}))
	return f, f.client.Open("t"), time.Now().UnixMilli()
}

func TestHidesCellsPastMaxVersions(t *testing.T) {
	f, table, _ := gcFixture(t, bigtable.MaxVersionsPolicy(2))
	for _, ms := range []int64{3, 1, 5, 4, 2} {
		f.write(table, cell{"r", "f", "q", ms, "v"}, cell{"r", "f", "other", ms, "v"})
	}
	expect(t, "row", f.readAll(table), `
r f:other @5 "v"
r f:other @4 "v"
r f:q @5 "v"
r f:q @4 "v"`)
	// What is hidden is gone: it does not come back when the rule is relaxed or the newest cells are deleted.
	mutation := bigtable.NewMutation()
	mutation.DeleteCellsInColumn("f", "other")
	check(t, table.Apply(f.ctx, "r", mutation))
	expect(t, "row", f.readAll(table), "r f:q @5 \"v\"\nr f:q @4 \"v\"")
}

func TestHidesCellsPastMaxAge(t *testing.T) {
	f, table, now := gcFixture(t, bigtable.MaxAgePolicy(time.Hour))
	old, fresh := now-2*3600*1000, now-60*1000
	f.write(table, cell{"r", "f", "q", old, "old"}, cell{"r", "f", "q", fresh, "fresh"}, cell{"gone", "f", "q", old, "old"})
	expect(t, "rows", f.readAll(table), fmt.Sprintf(`r f:q @%d "fresh"`, fresh))
	row, err := table.ReadRow(f.ctx, "gone")
	check(t, err)
	if row != nil {
		t.Errorf("an expired row is %v", row)
	}
}

func TestCellVanishesAtItsTime(t *testing.T) {
	f, table, _ := gcFixture(t, bigtable.MaxAgePolicy(2*time.Second))
	written := time.Now()
	f.write(table, cell{"r", "f", "q", written.UnixMilli(), "brief"})
	if time.Since(written) < time.Second && f.keys(table, bigtable.InfiniteRange("")) != "r" && time.Since(written) < 2*time.Second {
		t.Error("the cell is gone too early")
	}
	time.Sleep(time.Until(written.Add(2100 * time.Millisecond)))
	expect(t, "rows", f.keys(table, bigtable.InfiniteRange("")), "")
}

func TestUnionForgetsWhatAnyRuleForgets(t *testing.T) {
	f, table, now := gcFixture(t, bigtable.UnionPolicy(bigtable.MaxVersionsPolicy(2), bigtable.MaxAgePolicy(time.Hour)))
	old := now - 2*3600*1000
	f.write(table, cell{"r", "f", "a", old, "old"}, cell{"r", "f", "a", now, "new"},
		cell{"r", "f", "b", now - 2, "1"}, cell{"r", "f", "b", now - 1, "2"}, cell{"r", "f", "b", now, "3"})
	expect(t, "row", f.readAll(table, bigtable.RowFilter(bigtable.StripValueFilter())),
		fmt.Sprintf("r f:a @%d \"\"\nr f:b @%d \"\"\nr f:b @%d \"\"", now, now, now-1))
}

func TestIntersectionForgetsWhatAllRulesForget(t *testing.T) {
	f, table, now := gcFixture(t, bigtable.IntersectionPolicy(bigtable.MaxVersionsPolicy(1), bigtable.MaxAgePolicy(time.Hour)))
	old := now - 2*3600*1000
	f.write(table, cell{"r", "f", "a", old, "the newest stays"},
		cell{"r", "f", "b", old, "old and not the newest"}, cell{"r", "f", "b", now - 1, "young"}, cell{"r", "f", "b", now, "new"})
	expect(t, "row", f.readAll(table, bigtable.RowFilter(bigtable.StripValueFilter())),
		fmt.Sprintf("r f:a @%d \"\"\nr f:b @%d \"\"\nr f:b @%d \"\"", old, now, now-1))
}

func TestRuleAppliesFromTheMomentItIsSet(t *testing.T) {
	f, table, _ := gcFixture(t, bigtable.NoGcPolicy())
	f.write(table, cell{"r", "f", "q", 1, "v"}, cell{"r", "f", "q", 2, "v"})
	check(t, f.admin.SetGCPolicy(f.ctx, "t", "f", bigtable.MaxVersionsPolicy(1)))
	expect(t, "row", f.readAll(table), `r f:q @2 "v"`)
}

func TestConditionsDoNotSeeForgottenCells(t *testing.T) {
	f, table, now := gcFixture(t, bigtable.MaxAgePolicy(time.Hour))
	f.write(table, cell{"r", "f", "lock", now - 2*3600*1000, "held"})
	mutation := bigtable.NewMutation()
	mutation.Set("f", "lock", bigtable.Timestamp(now*1000), []byte("mine"))
	var held bool
	check(t, table.Apply(f.ctx, "r", bigtable.NewCondMutation(bigtable.ColumnFilter("lock"), nil, mutation),
		bigtable.GetCondMutationResult(&held)))
	if held {
		t.Error("an expired lock is held")
	}
	expect(t, "row", f.readAll(table), fmt.Sprintf(`r f:lock @%d "mine"`, now))
}

func TestIncrementDoesNotSeeForgottenCells(t *testing.T) {
	f, table, now := gcFixture(t, bigtable.MaxAgePolicy(time.Hour))
	f.write(table, cell{"r", "f", "n", now - 2*3600*1000, "\x00\x00\x00\x00\x00\x00\x00\x07"})
	change := bigtable.NewReadModifyWrite()
	change.Increment("f", "n", 1)
	row, err := table.ApplyReadModifyWrite(f.ctx, "r", change)
	check(t, err)
	if got := string(row["f"][0].Value); got != "\x00\x00\x00\x00\x00\x00\x00\x01" {
		t.Errorf("got %q", got)
	}
}
