package conformance

import (
	"testing"

	"cloud.google.com/go/bigtable"
)

func TestFilters(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "sensor", "site")
	f.write(table,
		cell{"a#1", "sensor", "humidity", 1, "61"},
		cell{"a#1", "sensor", "pressure", 1, "94558"},
		cell{"a#1", "sensor", "pressure", 2, "94122"},
		cell{"a#1", "sensor", "pressure", 3, "95992"},
		cell{"a#1", "site", "name", 1, "us-west2"},
		cell{"b#2", "sensor", "humidity", 2, "62"},
		cell{"b#2", "site", "\xff\x00name\n", 2, "line\nbreak \xe2\x98\x83"},
	)
	const (
		aHumidity  = "a#1 sensor:humidity @1 \"61\"\n"
		aPressure3 = "a#1 sensor:pressure @3 \"95992\"\n"
		aPressure2 = "a#1 sensor:pressure @2 \"94122\"\n"
		aPressure1 = "a#1 sensor:pressure @1 \"94558\"\n"
		aName      = "a#1 site:name @1 \"us-west2\"\n"
		bHumidity  = "b#2 sensor:humidity @2 \"62\"\n"
		bName      = "b#2 site:\xff\x00name\n @2 \"line\\nbreak ☃\"\n"
		all        = aHumidity + aPressure3 + aPressure2 + aPressure1 + aName + bHumidity + bName
	)
	chain, interleave := bigtable.ChainFilters, bigtable.InterleaveFilters
	for _, test := range []struct {
		name   string
		filter bigtable.Filter
		want   string
	}{
		{"pass all", bigtable.PassAllFilter(), all},
		{"block all", bigtable.BlockAllFilter(), ""},

		{"row key regex", bigtable.RowKeyFilter("a.*"), aHumidity + aPressure3 + aPressure2 + aPressure1 + aName},
		{"row key regex matches whole keys", bigtable.RowKeyFilter("a"), ""},
		{"family regex", bigtable.FamilyFilter("s.te"), aName + bName},
		{"qualifier regex", bigtable.ColumnFilter("humidity|name"), aHumidity + aName + bHumidity},
		{"alternatives match whole names", bigtable.ColumnFilter("hum|idity"), ""},
		{"qualifier regex over bytes", bigtable.ColumnFilter("\\xff\\x00name\\C"), bName},
		{"a dot is no line break", bigtable.ColumnFilter("\\xff\\x00name."), ""},
		{"value regex", bigtable.ValueFilter("9[45].*"), aPressure3 + aPressure2 + aPressure1},
		{"value regex over UTF-8", bigtable.ValueFilter("line\\nbreak ☃"), bName},
		{"value regex counts bytes", bigtable.ValueFilter("line\\nbreak ..."), bName},

		{"column range", bigtable.ColumnRangeFilter("sensor", "i", "pressurf"), aPressure3 + aPressure2 + aPressure1},
		{"column range is open at its end", bigtable.ColumnRangeFilter("sensor", "humidity", "pressure"), aHumidity + bHumidity},
		{"column range of one family", bigtable.ColumnRangeFilter("site", "", ""), aName + bName},
		{"value range", bigtable.ValueRangeFilter([]byte("62"), []byte("94558")), aPressure2 + bHumidity},
		{"timestamp range", bigtable.TimestampRangeFilterMicros(2000, 3000), aPressure2 + bHumidity + bName},
		{"timestamp range without end", bigtable.TimestampRangeFilterMicros(3000, 0), aPressure3},

		{"cells per row limit", bigtable.CellsPerRowLimitFilter(2), aHumidity + aPressure3 + bHumidity + bName},
		{"cells per row offset", bigtable.CellsPerRowOffsetFilter(3), aPressure1 + aName},
		{"latest one", bigtable.LatestNFilter(1), aHumidity + aPressure3 + aName + bHumidity + bName},
		{"latest two", bigtable.LatestNFilter(2), aHumidity + aPressure3 + aPressure2 + aName + bHumidity + bName},

		{"strip value", chain(bigtable.FamilyFilter("sensor"), bigtable.LatestNFilter(1), bigtable.StripValueFilter()),
			"a#1 sensor:humidity @1 \"\"\na#1 sensor:pressure @3 \"\"\nb#2 sensor:humidity @2 \"\"\n"},
		{"label", chain(bigtable.ColumnFilter("name"), bigtable.LabelFilter("place")),
			"a#1 site:name @1 \"us-west2\" [place]\n"},

		{"chain", chain(bigtable.FamilyFilter("sensor"), bigtable.ColumnFilter("p.*"), bigtable.LatestNFilter(1)), aPressure3},
		{"a chain runs in order", chain(bigtable.LatestNFilter(1), bigtable.TimestampRangeFilterMicros(1000, 2000)),
			aHumidity + aName},
		{"interleave", interleave(bigtable.ColumnFilter("humidity"), bigtable.ColumnFilter("name")),
			aHumidity + aName + bHumidity},
		{"interleave keeps copies", interleave(bigtable.ColumnFilter("name"), bigtable.ValueFilter("us.*")), aName + aName},
		{"copies count", chain(interleave(bigtable.PassAllFilter(), bigtable.PassAllFilter()), bigtable.CellsPerRowLimitFilter(3),
			bigtable.RowKeyFilter("a.*")), aHumidity + aHumidity + aPressure3},
		{"condition", bigtable.ConditionFilter(bigtable.ColumnFilter("pressure"), bigtable.FamilyFilter("site"),
			bigtable.ColumnFilter("humidity")), aName + bHumidity},
		{"condition without false", bigtable.ConditionFilter(bigtable.ColumnFilter("pressure"), bigtable.FamilyFilter("site"), nil),
			aName},
		{"condition on a value", bigtable.ConditionFilter(chain(bigtable.ColumnFilter("humidity"), bigtable.ValueFilter("62")),
			bigtable.PassAllFilter(), bigtable.BlockAllFilter()), bHumidity + bName},
	} {
		expect(t, test.name, f.readAll(table, bigtable.RowFilter(test.filter)), test.want)
	}
}

func TestRowSampleTakesAShare(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	const rows = 2000
	var keys []string
	var mutations []*bigtable.Mutation
	for i := 0; i < rows; i++ {
		mutation := bigtable.NewMutation()
		mutation.Set("f", "q", 1000, []byte("v"))
		keys, mutations = append(keys, "row"+string(rune('a'+i%26))+string(rune('a'+i/26))), append(mutations, mutation)
	}
	errs, err := table.ApplyBulk(f.ctx, keys, mutations)
	check(t, err)
	if errs != nil {
		t.Fatal(errs)
	}
	count := 0
	check(t, table.ReadRows(f.ctx, bigtable.InfiniteRange(""), func(bigtable.Row) bool {
		count++
		return true
	}, bigtable.RowFilter(bigtable.RowSampleFilter(0.5))))
	if count < rows*4/10 || count > rows*6/10 { // nine standard deviations
		t.Errorf("half of %d rows is not %d", rows, count)
	}
}

func TestConditionDecidesRowByRow(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	f.write(table, cell{"1", "f", "flag", 1, "on"}, cell{"1", "f", "q", 1, "a"}, cell{"2", "f", "q", 1, "b"},
		cell{"3", "f", "flag", 1, "on"}, cell{"3", "f", "q", 1, "c"})
	expect(t, "rows", f.readAll(table, bigtable.RowFilter(bigtable.ConditionFilter(bigtable.ColumnFilter("flag"),
		bigtable.ColumnFilter("q"), bigtable.ChainFilters(bigtable.ColumnFilter("q"), bigtable.StripValueFilter())))), `
1 f:q @1 "a"
2 f:q @1 ""
3 f:q @1 "c"`)
}
