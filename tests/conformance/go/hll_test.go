package conformance

import (
	"encoding/hex"
	"testing"

	adminpb "cloud.google.com/go/bigtable/admin/apiv2/adminpb"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc/codes"
)

// The states are those of ZetaSketch's Java library (com.google.zetasketch:zetasketch 0.1.0) for the same values.
const (
	sketchOf1        = "087010011802200882070b1001180f2014320396a32e"
	sketchOf0To9     = "0870100a18022008820723100a180f2014321ba3a605c1d102907eb88618f62aec840c8877c3e908966a92ab9801"
	sketchOfA        = "087010011802200b82070b1001180f20143203948f25"
	sketchOfNumberNo = "0870100018022008820706180f20143200"
)

func TestSketchesOfDistinctValues(t *testing.T) {
	f := newFixture(t)
	family := func(input *adminpb.Type) *adminpb.ColumnFamily {
		return &adminpb.ColumnFamily{ValueType: &adminpb.Type{Kind: &adminpb.Type_AggregateType{AggregateType: &adminpb.Type_Aggregate{
			InputType:  input,
			Aggregator: &adminpb.Type_Aggregate_HllppUniqueCount{HllppUniqueCount: &adminpb.Type_Aggregate_HyperLogLogPlusPlusUniqueCount{}}}}}}
	}
	create := func(id string, families map[string]*adminpb.ColumnFamily) error {
		_, err := f.tables.CreateTable(f.ctx, &adminpb.CreateTableRequest{Parent: f.instanceName(), TableId: id,
			Table: &adminpb.Table{ColumnFamilies: families}})
		return err
	}
	check(t, create("t", map[string]*adminpb.ColumnFamily{
		"numbers": family(&adminpb.Type{Kind: &adminpb.Type_Int64Type{Int64Type: &adminpb.Type_Int64{}}}),
		"names":   family(&adminpb.Type{Kind: &adminpb.Type_StringType{StringType: &adminpb.Type_String{}}}),
		"raw":     family(nil)}))
	expectError(t, "of another type", create("u", map[string]*adminpb.ColumnFamily{
		"times": family(&adminpb.Type{Kind: &adminpb.Type_TimestampType{TimestampType: &adminpb.Type_Timestamp{}}})}),
		codes.InvalidArgument, "hllpp_unique_count")

	raw := func(value string) *btpb.Value {
		return &btpb.Value{Kind: &btpb.Value_RawValue{RawValue: []byte(value)}}
	}
	number := func(value int64) *btpb.Value { return &btpb.Value{Kind: &btpb.Value_IntValue{IntValue: value}} }
	text := func(value string) *btpb.Value { return &btpb.Value{Kind: &btpb.Value_StringValue{StringValue: value}} }
	bytes := func(value string) *btpb.Value {
		return &btpb.Value{Kind: &btpb.Value_BytesValue{BytesValue: []byte(value)}}
	}
	time := &btpb.Value{Kind: &btpb.Value_RawTimestampMicros{}}
	add := func(family string, input *btpb.Value) *btpb.Mutation {
		return &btpb.Mutation{Mutation: &btpb.Mutation_AddToCell_{AddToCell: &btpb.Mutation_AddToCell{
			FamilyName: family, ColumnQualifier: raw("q"), Timestamp: time, Input: input}}}
	}
	merge := func(family, state string) *btpb.Mutation {
		return &btpb.Mutation{Mutation: &btpb.Mutation_MergeToCell_{MergeToCell: &btpb.Mutation_MergeToCell{
			FamilyName: family, ColumnQualifier: raw("q"), Timestamp: time, Input: bytes(state)}}}
	}
	mutate := func(row string, mutations ...*btpb.Mutation) error {
		_, err := f.data.MutateRow(f.ctx, &btpb.MutateRowRequest{TableName: f.tableName("t"), RowKey: []byte(row), Mutations: mutations})
		return err
	}
	state := func(row, family string) string {
		found, err := f.client.Open("t").ReadRow(f.ctx, row)
		check(t, err)
		return hex.EncodeToString(found[family][0].Value)
	}
	decoded := func(state string) string {
		data, err := hex.DecodeString(state)
		check(t, err)
		return string(data)
	}

	check(t, mutate("one", add("numbers", number(1))))
	expect(t, "1", state("one", "numbers"), sketchOf1)
	for _, input := range []*btpb.Value{text("a"), raw("a"), bytes("a")} {
		check(t, mutate("names", &btpb.Mutation{Mutation: &btpb.Mutation_DeleteFromRow_{DeleteFromRow: &btpb.Mutation_DeleteFromRow{}}},
			add("names", input), add("raw", input)))
		expect(t, "a", state("names", "names"), sketchOfA)
		expect(t, "a", state("names", "raw"), sketchOfA)
	}
	check(t, mutate("null", add("numbers", &btpb.Value{})))
	expect(t, "NULL", state("null", "numbers"), sketchOfNumberNo)

	// Five in one request, five one by one.
	var five []*btpb.Mutation
	for i := int64(0); i < 5; i++ {
		five = append(five, add("numbers", number(i)))
	}
	check(t, mutate("ten", five...))
	for i := int64(5); i < 10; i++ {
		check(t, mutate("ten", add("numbers", number(i))))
	}
	expect(t, "0 to 9", state("ten", "numbers"), sketchOf0To9)
	check(t, mutate("merged", merge("numbers", decoded(sketchOfNumberNo)), merge("numbers", decoded(sketchOf0To9))))
	expect(t, "merged", state("merged", "numbers"), sketchOf0To9)

	expectError(t, "text for a number", mutate("x", add("numbers", text("1"))), codes.InvalidArgument,
		"Error in field 'Mutation list' : Error in element #0 : Error in field 'input' : must use `int_value`")
	expectError(t, "a number for text", mutate("x", add("names", number(1))), codes.InvalidArgument, "must use `bytes_value`")
	expectError(t, "a sketch of text", mutate("x", merge("numbers", decoded(sketchOfA))), codes.InvalidArgument, "no HLL++ sketch")
	expectError(t, "no sketch", mutate("x", merge("numbers", "12345678")), codes.InvalidArgument, "no HLL++ sketch")
	expectError(t, "a value", mutate("x", &btpb.Mutation{Mutation: &btpb.Mutation_SetCell_{SetCell: &btpb.Mutation_SetCell{
		FamilyName: "numbers", ColumnQualifier: []byte("q"), Value: []byte("v")}}}), codes.InvalidArgument, "Column family type mismatch")
}
