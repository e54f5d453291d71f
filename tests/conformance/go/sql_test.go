package conformance

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	adminpb "cloud.google.com/go/bigtable/admin/apiv2/adminpb"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// What a server says of a query: PrepareQuery's answer.
func (f *fixture) prepare(query string, types map[string]*btpb.Type) (*btpb.PrepareQueryResponse, error) {
	return f.data.PrepareQuery(f.ctx, &btpb.PrepareQueryRequest{
		InstanceName: f.instanceName(), Query: query, ParamTypes: types,
		DataFormat: &btpb.PrepareQueryRequest_ProtoFormat{ProtoFormat: &btpb.ProtoFormat{}}})
}

func (f *fixture) mustPrepare(query string, types map[string]*btpb.Type) *btpb.PrepareQueryResponse {
	f.t.Helper()
	prepared, err := f.prepare(query, types)
	check(f.t, err)
	return prepared
}

// The messages of one stream of results, and how it ended.
func (f *fixture) query(request *btpb.ExecuteQueryRequest) (messages []*btpb.ExecuteQueryResponse, err error) {
	f.t.Helper()
	request.InstanceName = f.instanceName()
	stream, err := f.data.ExecuteQuery(f.ctx, request)
	check(f.t, err)
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return messages, nil
		}
		if err != nil {
			return messages, err
		}
		messages = append(messages, message)
	}
}

// A reader of streams that follows the comments of PartialResultSet, and holds the server to them.
type resultReader struct {
	t       *testing.T
	columns int
	batch   []byte
	waiting []string // rows that no token has given out
	rows    []string // rows that were given out
	tokens  [][]byte // and for each of them, how many rows were out then
	rowsAt  []int
}

func (r *resultReader) take(message *btpb.ExecuteQueryResponse, isFirst bool) {
	r.t.Helper()
	results := message.GetResults()
	if results == nil {
		r.t.Fatalf("a message without results: %v", message)
	}
	if results.GetEstimatedBatchSize() != 0 {
		r.t.Errorf("estimated_batch_size is %d; the Node client fails unless it is 0", results.GetEstimatedBatchSize())
	}
	if results.GetReset_() != isFirst {
		r.t.Errorf("reset is %v, and the message is the first: %v", results.GetReset_(), isFirst)
	}
	if results.GetReset_() {
		r.batch, r.waiting = nil, nil
	}
	r.batch = append(r.batch, results.GetProtoRowsBatch().GetBatchData()...)
	if results.BatchChecksum != nil {
		r.endBatch(results.GetBatchChecksum())
	}
	if len(results.GetResumeToken()) == 0 {
		return
	}
	if len(r.batch) > 0 {
		r.t.Error("a token stands within a batch")
	}
	r.rows = append(r.rows, r.waiting...)
	r.waiting = nil
	r.tokens = append(r.tokens, results.GetResumeToken())
	r.rowsAt = append(r.rowsAt, len(r.rows))
}

func (r *resultReader) endBatch(checksum uint32) {
	r.t.Helper()
	if got := crc32.Checksum(r.batch, crc32.MakeTable(crc32.Castagnoli)); got != checksum || got == 0 {
		r.t.Errorf("the checksum of a batch is %x, its bytes have %x", checksum, got)
	}
	var rows btpb.ProtoRows
	check(r.t, proto.Unmarshal(r.batch, &rows))
	r.batch = nil
	if len(rows.Values)%r.columns != 0 {
		r.t.Fatalf("a batch of %d values of %d columns", len(rows.Values), r.columns)
	}
	for i := 0; i < len(rows.Values); i += r.columns {
		var texts []string
		for _, value := range rows.Values[i : i+r.columns] {
			texts = append(texts, render1(value))
		}
		r.waiting = append(r.waiting, strings.Join(texts, " "))
	}
}

// render1 is a value as text.
func render1(value *btpb.Value) string {
	if value.GetType() != nil {
		return "a value with a type"
	}
	switch kind := value.Kind.(type) {
	case nil:
		return "NULL"
	case *btpb.Value_BytesValue:
		return string(kind.BytesValue)
	case *btpb.Value_StringValue:
		return fmt.Sprintf("%q", kind.StringValue)
	case *btpb.Value_IntValue:
		return fmt.Sprint(kind.IntValue)
	case *btpb.Value_BoolValue:
		return fmt.Sprint(kind.BoolValue)
	case *btpb.Value_FloatValue:
		return fmt.Sprint(kind.FloatValue)
	case *btpb.Value_TimestampValue:
		return fmt.Sprint(kind.TimestampValue.AsTime().UnixMicro())
	case *btpb.Value_ArrayValue:
		var items []string
		for _, item := range kind.ArrayValue.Values {
			items = append(items, render1(item))
		}
		return "[" + strings.Join(items, " ") + "]"
	}
	return fmt.Sprint(value)
}

func (f *fixture) results(prepared *btpb.PrepareQueryResponse, params map[string]*btpb.Value, resume []byte) *resultReader {
	f.t.Helper()
	reader := &resultReader{t: f.t, columns: len(prepared.Metadata.GetProtoSchema().Columns)}
	messages, err := f.query(&btpb.ExecuteQueryRequest{
		PreparedQuery: prepared.PreparedQuery, Params: params, ResumeToken: resume})
	check(f.t, err)
	for i, message := range messages {
		reader.take(message, i == 0)
	}
	if len(reader.batch) > 0 || len(reader.waiting) > 0 {
		f.t.Error("the stream ended without a token behind its last row")
	}
	return reader
}

// ask gives all rows of a query without parameters, one a line.
func (f *fixture) ask(query string) string {
	f.t.Helper()
	return strings.Join(f.results(f.mustPrepare(query, nil), nil, nil).rows, "\n")
}

// fill writes `count` rows r00000, r00001, ... with f:n, the number, and f:pad, some bytes.
func (f *fixture) fill(table *bigtable.Table, count, padBytes int) {
	f.t.Helper()
	const rowsPerRequest = 1000
	pad := []byte(strings.Repeat("x", padBytes))
	for first := 0; first < count; first += rowsPerRequest {
		var keys []string
		var mutations []*bigtable.Mutation
		for i := first; i < min(first+rowsPerRequest, count); i++ {
			mutation := bigtable.NewMutation()
			mutation.Set("f", "n", 1000, []byte(fmt.Sprint(i)))
			if padBytes > 0 {
				mutation.Set("f", "pad", 1000, pad)
			}
			keys, mutations = append(keys, fmt.Sprintf("r%05d", i)), append(mutations, mutation)
		}
		errs, err := table.ApplyBulk(f.ctx, keys, mutations)
		check(f.t, err)
		for _, err := range errs {
			check(f.t, err)
		}
	}
}

func TestSqlPreparedQueriesSayTheirColumns(t *testing.T) {
	f := newFixture(t)
	f.createTable("t", "f", "g")
	prepared := f.mustPrepare("SELECT *, 1 + 1, f['q'] AS q FROM t;", nil)
	var columns []string
	for _, column := range prepared.Metadata.GetProtoSchema().Columns {
		columns = append(columns, fmt.Sprintf("%s %T", column.Name, column.Type.Kind))
	}
	expect(t, "columns", strings.Join(columns, "\n"), `
_key *bigtablepb.Type_BytesType
f *bigtablepb.Type_MapType
g *bigtablepb.Type_MapType
$col4 *bigtablepb.Type_Int64Type
q *bigtablepb.Type_BytesType`)
	if seconds := prepared.ValidUntil.Seconds; len(prepared.PreparedQuery) == 0 || seconds < 1_700_000_000 {
		t.Errorf("no query, or one that is valid until %d", seconds)
	}
}

func TestSqlStreamsKeepTheirPromises(t *testing.T) {
	f := newFixture(t)
	f.fill(f.createTable("t", "f"), 3000, 200)
	prepared := f.mustPrepare("SELECT _key, f['n'], f['pad'] FROM t", nil)
	whole := f.results(prepared, nil, nil)
	if len(whole.rows) != 3000 || len(whole.tokens) < 5 {
		t.Fatalf("%d rows with %d tokens", len(whole.rows), len(whole.tokens))
	}
	// From each token on come the rows that are not out yet, and nothing twice.
	for i, token := range whole.tokens {
		rest := f.results(prepared, nil, token)
		if got, want := strings.Join(rest.rows, "\n"), strings.Join(whole.rows[whole.rowsAt[i]:], "\n"); got != want {
			t.Errorf("after token %d, behind %d rows, come %d rows", i, whole.rowsAt[i], len(rest.rows))
		}
	}
	// The last token comes again, without rows.
	last := f.results(prepared, nil, whole.tokens[len(whole.tokens)-1])
	if len(last.rows) != 0 || len(last.tokens) != 1 {
		t.Errorf("behind the end: %d rows, %d tokens", len(last.rows), len(last.tokens))
	}
}

func TestSqlLimitsAreKeptAcrossResumption(t *testing.T) {
	f := newFixture(t)
	f.fill(f.createTable("t", "f"), 3000, 200)
	prepared := f.mustPrepare("SELECT _key, f['pad'] FROM t WHERE _key != 'r00007' LIMIT 2000 OFFSET 5", nil)
	whole := f.results(prepared, nil, nil)
	if len(whole.rows) != 2000 {
		t.Fatalf("%d rows", len(whole.rows))
	}
	for i, token := range whole.tokens {
		rest := f.results(prepared, nil, token)
		if len(rest.rows) != 2000-whole.rowsAt[i] {
			t.Errorf("after token %d, behind %d rows, come %d rows", i, whole.rowsAt[i], len(rest.rows))
		}
	}
}

func TestSqlTokensBelongToTheirRequest(t *testing.T) {
	f := newFixture(t)
	f.fill(f.createTable("t", "f"), 10, 0)
	types := map[string]*btpb.Type{"n": {Kind: &btpb.Type_Int64Type{Int64Type: &btpb.Type_Int64{}}}}
	params := func(n int64) map[string]*btpb.Value {
		return map[string]*btpb.Value{"n": {Kind: &btpb.Value_IntValue{IntValue: n}}}
	}
	prepared := f.mustPrepare("SELECT _key FROM t LIMIT @n", types)
	token := f.results(prepared, params(3), nil).tokens[0]
	_, err := f.query(&btpb.ExecuteQueryRequest{PreparedQuery: prepared.PreparedQuery, Params: params(4), ResumeToken: token})
	expectError(t, "another parameter", err, codes.InvalidArgument, "The request is not the one whose results the token is of")
	changed := append([]byte{}, token...)
	changed[len(changed)/2] ^= 1
	_, err = f.query(&btpb.ExecuteQueryRequest{PreparedQuery: prepared.PreparedQuery, Params: params(3), ResumeToken: changed})
	expectError(t, "a changed token", err, codes.InvalidArgument, "The bytes are no resume token of this server")
	changed = append([]byte{}, prepared.PreparedQuery...)
	changed[len(changed)/2] ^= 1
	_, err = f.query(&btpb.ExecuteQueryRequest{PreparedQuery: changed, Params: params(3)})
	expectError(t, "a changed query", err, codes.InvalidArgument, "The bytes are no prepared query of this server")
	_, err = f.query(&btpb.ExecuteQueryRequest{PreparedQuery: prepared.PreparedQuery})
	expectError(t, "no parameter", err, codes.InvalidArgument, "No value for parameter 'n'")
	extra := params(3)
	extra["m"] = extra["n"]
	_, err = f.query(&btpb.ExecuteQueryRequest{PreparedQuery: prepared.PreparedQuery, Params: extra})
	expectError(t, "a parameter too many", err, codes.InvalidArgument, "The query has no parameter 'm'")
}

func TestSqlPreparedQueriesExpireWithTheirTables(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	f.write(table, cell{"a", "f", "q", 1, "1"})
	prepared := f.mustPrepare("SELECT * FROM t", nil)
	f.results(prepared, nil, nil)
	check(t, f.admin.CreateColumnFamily(f.ctx, "t", "g"))
	_, err := f.query(&btpb.ExecuteQueryRequest{PreparedQuery: prepared.PreparedQuery})
	expectError(t, "a new family", err, codes.FailedPrecondition, "a table, view, schema bundle or series that it reads has changed")
	found := false
	for _, detail := range status.Convert(err).Details() {
		if failure, is := detail.(*errdetails.PreconditionFailure); is {
			found = failure.Violations[0].Type == "PREPARED_QUERY_EXPIRED"
		}
	}
	if !found {
		t.Errorf("no violation of type PREPARED_QUERY_EXPIRED: %v", status.Convert(err).Details())
	}
	check(t, f.admin.DeleteTable(f.ctx, "t"))
	_, err = f.query(&btpb.ExecuteQueryRequest{PreparedQuery: prepared.PreparedQuery})
	expectError(t, "a dropped table", err, codes.FailedPrecondition, "a table, view, schema bundle or series that it reads has changed")
	_, err = f.prepare("SELECT * FROM t", nil)
	expectError(t, "a dropped table", err, codes.NotFound, "Table not found: t")
}

func TestSqlPreparedQueriesExpireWithTheirViews(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f")
	f.write(table, cell{"a", "f", "q", 1, "1"})
	create := func(id, query string) {
		_, err := f.instances.CreateLogicalView(f.ctx, &adminpb.CreateLogicalViewRequest{
			Parent: f.instanceName(), LogicalViewId: id, LogicalView: &adminpb.LogicalView{Query: query}})
		check(t, err)
	}
	create("v", "SELECT _key, f['q'] AS q FROM t WHERE f['q'] != CAST(VIEW_PARAMETERS('not') AS BYTES)")
	create("w", "SELECT q FROM v")
	prepared := f.mustPrepare("SELECT * FROM w", nil)
	rowsWithout := func(value string) int {
		messages, err := f.query(&btpb.ExecuteQueryRequest{PreparedQuery: prepared.PreparedQuery, ViewParameters: map[string]*btpb.Value{
			"not": {Type: &btpb.Type{Kind: &btpb.Type_StringType{StringType: &btpb.Type_String{}}}, Kind: &btpb.Value_StringValue{StringValue: value}}}})
		check(t, err)
		reader := &resultReader{t: t, columns: 1}
		for i, message := range messages {
			reader.take(message, i == 0)
		}
		return len(reader.rows)
	}
	if without0, without1 := rowsWithout("0"), rowsWithout("1"); without0 != 1 || without1 != 0 {
		t.Errorf("%d and %d rows with these view parameters", without0, without1)
	}
	_, err := f.instances.UpdateLogicalView(f.ctx, &adminpb.UpdateLogicalViewRequest{
		LogicalView: &adminpb.LogicalView{Name: f.instanceName() + "/logicalViews/v", Query: "SELECT 1 AS q"}})
	check(t, err)
	_, err = f.query(&btpb.ExecuteQueryRequest{PreparedQuery: prepared.PreparedQuery})
	expectError(t, "an altered view", err, codes.FailedPrecondition, "a table, view, schema bundle or series that it reads has changed")
	_, err = f.instances.DeleteLogicalView(f.ctx, &adminpb.DeleteLogicalViewRequest{Name: f.instanceName() + "/logicalViews/w"})
	check(t, err)
	_, err = f.prepare("SELECT * FROM w", nil)
	expectError(t, "a deleted view", err, codes.NotFound, "Table not found: w")
}

func TestSqlPreparedQueriesAndTokensOutliveARestart(t *testing.T) {
	directory := t.TempDir()
	s := startServer(t, serveArguments(directory, 0)...)
	instance := fmt.Sprintf("restart%d", time.Now().UnixNano()) // a store that is not of this server alone may have others
	f := newFixtureAt(t, s.address, instance)
	f.fill(f.createTable("t", "f"), 2000, 200)
	prepared := f.mustPrepare("SELECT _key, f['pad'] FROM t", nil)
	whole := f.results(prepared, nil, nil)
	s.kill()
	s = startServer(t, serveArguments(directory, 0)...)
	f = newFixtureAt(t, s.address, instance)
	rest := f.results(prepared, nil, whole.tokens[1])
	if len(rest.rows) != 2000-whole.rowsAt[1] {
		t.Errorf("%d rows after a restart", len(rest.rows))
	}
}

// The deprecated way: the query in ExecuteQuery itself.
func TestSqlWithoutPreparation(t *testing.T) {
	f := newFixture(t)
	f.write(f.createTable("t", "f"), cell{"a", "f", "q", 1, "1"})
	messages, err := f.query(&btpb.ExecuteQueryRequest{Query: "SELECT _key FROM t"})
	check(t, err)
	if len(messages) < 2 || messages[0].GetMetadata().GetProtoSchema().Columns[0].Name != "_key" {
		t.Fatalf("no metadata first: %v", messages)
	}
	if messages[1].GetResults() == nil {
		t.Errorf("no results behind it: %v", messages[1])
	}
}

func TestSqlValues(t *testing.T) {
	f := newFixture(t)
	table := f.createTable("t", "f", "g")
	f.write(table, cell{"a", "f", "p", 1, "old"}, cell{"a", "f", "p", 2, "new"}, cell{"a", "f", "q", 1, "7"},
		cell{"b", "g", "x", 3, "y"})
	expect(t, "maps", f.ask("SELECT * FROM t"), "a [[p new] [q 7]] []\nb [] [[x y]]")
	expect(t, "cells", f.ask("SELECT f['p'], f['absent'] FROM t"), "new NULL\nNULL NULL")
	expect(t, "history", f.ask("SELECT f['p'] FROM t(with_history => TRUE) WHERE _key = 'a'"), "[[2000 new] [1000 old]]")
	expect(t, "unpacked", f.ask("SELECT _key, p, _timestamp FROM UNPACK((SELECT _key, f['p'] AS p FROM t(with_history => TRUE)))"),
		"a new 2000\na old 1000")
	expect(t, "as of", f.ask("SELECT f['p'] FROM t(as_of => TIMESTAMP_MILLIS(1))"), "old")
	expect(t, "numbers", f.ask("SELECT CAST(CAST(f['q'] AS STRING) AS INT64) + 1 FROM t WHERE f['q'] IS NOT NULL"), "8")
	expect(t, "no rows", f.ask("SELECT _key FROM t WHERE _key = 'c'"), "")
	expect(t, "an aggregate of no rows", f.ask("SELECT COUNT(*), MAX(_key) FROM t WHERE _key = 'c'"), "0 NULL")
}

// The bytes of this row have the checksum 0 as protobuf would write them, which one client takes for none (endBatch).
func TestSqlChecksumOfARowIsNot0(t *testing.T) {
	f := newFixture(t)
	expect(t, "one row", f.ask(`SELECT b'\xb7\xe2\x2f\x8b'`), "\xb7\xe2\x2f\x8b")
	statement, err := f.client.PrepareStatement(f.ctx, `SELECT b'\xb7\xe2\x2f\x8b' AS v`, nil)
	check(t, err)
	bound, err := statement.Bind(nil)
	check(t, err)
	check(t, bound.Execute(f.ctx, func(row bigtable.ResultRow) bool {
		var value []byte
		check(t, row.GetByName("v", &value))
		expect(t, "by the client", string(value), "\xb7\xe2\x2f\x8b")
		return true
	}))
}

func TestSqlErrors(t *testing.T) {
	f := newFixture(t)
	f.write(f.createTable("t", "f"), cell{"a", "f", "q", 1, "1"})
	for _, c := range []struct {
		query string
		code  codes.Code
		text  string
	}{
		{"SELECT", codes.InvalidArgument, "Syntax error: Unexpected end of statement"},
		{"SELECT nope FROM t", codes.InvalidArgument, "Unrecognized name: nope [at 1:8]"},
		{"SELECT FOO(1) FROM t", codes.InvalidArgument, "Function not found: FOO"},
		{"SELECT * FROM t WHERE _key = @p", codes.InvalidArgument, "Query parameter 'p' not found"},
		{"SELECT * FROM t WHERE _key = CAST(f['q'] AS STRING)", codes.InvalidArgument, "No matching signature for operator ="},
		{"SELECT * FROM absent", codes.NotFound, "Table not found: absent"},
		{"DELETE FROM t WHERE TRUE", codes.InvalidArgument, "Statement not supported: DeleteStatement"},
		{"SELECT ST_AREA(f['q']) FROM t", codes.Unimplemented, "ST_AREA"},
		{strings.Repeat("(", 200) + "SELECT 1" + strings.Repeat(")", 200), codes.InvalidArgument, ""},
		{"SELECT 1" + strings.Repeat(" ", 1<<20), codes.InvalidArgument, ""},
	} {
		_, err := f.prepare(c.query, nil)
		expectError(t, c.query[:min(len(c.query), 60)], err, c.code, c.text)
	}
	prepared := f.mustPrepare("SELECT 1 / 0 FROM t", nil)
	_, err := f.query(&btpb.ExecuteQueryRequest{PreparedQuery: prepared.PreparedQuery})
	expectError(t, "1 / 0", err, codes.OutOfRange, "division by zero: 1 / 0")
}
