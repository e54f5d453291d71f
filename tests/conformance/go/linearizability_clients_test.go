package conformance

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"sort"
	"time"

	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"github.com/anishathalye/porcupine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// A client, one call at a time.  The generated stubs, because the wrapper tries again what failed.
type historian struct {
	trial  *trial
	id     int
	random *rand.Rand
	data   btpb.BigtableClient
	tokens int
	seen   map[string]string // of a row: a value that column a had
}

func (r *trial) newHistorian(id int, address string, seed int64) *historian {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: time.Second,
			Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1, MaxDelay: 10 * time.Millisecond}}),
		// A call that finds no server has not begun: it waits for one.
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	check(r.t, err)
	r.t.Cleanup(func() { _ = connection.Close() })
	return &historian{trial: r, id: id, random: rand.New(rand.NewSource(seed)), data: btpb.NewBigtableClient(connection),
		seen: map[string]string{}}
}

func (h *historian) work() {
	for !h.trial.over.Load() {
		e := h.trial.enter()
		h.trial.leave(e, h.once(e.rows))
	}
}

// once makes one call, and returns what it did to each row that it was about.
func (h *historian) once(rows []string) []porcupine.Operation {
	row := rows[h.random.Intn(len(rows))]
	switch dice := h.random.Intn(100); {
	case dice < 5: // MutateRows, an entry for each row
		var writes []operation
		for _, row := range rows {
			writes = append(writes, h.write(row))
		}
		return h.record(writes, func(ctx context.Context) ([]answer, error) { return h.mutateRows(ctx, writes) })
	case dice < 10:
		return h.read(rows, -1)
	case dice < 25:
		return h.read([]string{row}, h.random.Intn(columnCount+1)-1)
	case dice < 45: // after a look, so that some match
		events := h.read([]string{row}, columnA)
		in := h.check(row)
		return append(events, h.record([]operation{in},
			func(ctx context.Context) ([]answer, error) { return h.checkAndMutateRow(ctx, in) })...)
	case dice < 75:
		in := h.modify(row)
		return h.record([]operation{in}, func(ctx context.Context) ([]answer, error) { return h.readModifyWriteRow(ctx, in) })
	}
	in := h.write(row)
	return h.record([]operation{in}, func(ctx context.Context) ([]answer, error) { return h.mutateRow(ctx, in) })
}

// record makes the call, and notes when it began and ended.
func (h *historian) record(inputs []operation, call func(context.Context) ([]answer, error)) []porcupine.Operation {
	ctx, cancel := context.WithTimeout(context.Background(), h.trial.callTimeout)
	defer cancel()
	sent := time.Now()
	answers, err := call(ctx)
	received := time.Now()
	ended := received
	if err != nil {
		// The connection ends with the server's process, all of whose threads are gone then: nothing more will happen.
		if code := status.Code(err); code != codes.Unavailable && !(h.trial.losesAnswers && code == codes.Unknown) {
			h.trial.fail("%s: %v", inputs[0].describe(answer{unknown: true}), err)
			return nil
		}
		h.trial.unknown.Add(1)
		if inputs[0].kind == kindRead {
			return nil
		}
		answers = slices.Repeat([]answer{{unknown: true}}, len(inputs))
		if *late {
			ended = received.Add(lateMax)
		}
	}
	var events []porcupine.Operation
	for i, in := range inputs {
		in.sent, answers[i].received = sent.UnixMicro(), received.UnixMicro()
		events = append(events, porcupine.Operation{ClientId: h.id, Input: in, Output: answers[i],
			Call: sent.Sub(h.trial.start).Nanoseconds(), Return: ended.Sub(h.trial.start).Nanoseconds()})
		h.count(in, answers[i])
	}
	return events
}

func (h *historian) count(in operation, out answer) {
	h.trial.kinds[in.kind].Add(1)
	switch {
	case out.unknown:
	case out.refused:
		h.trial.refused.Add(1)
	case in.kind == kindCheck && out.matched:
		h.trial.matched.Add(1)
	case in.kind == kindCheck:
		h.trial.unmatched.Add(1)
	}
	for _, cell := range out.cells {
		if cell.column == columnA {
			h.seen[in.row] = cell.value
		}
	}
}

func (h *historian) token() string {
	h.tokens++
	return fmt.Sprintf("%d.%d%s", h.id, h.tokens, tokenEnd)
}

func (h *historian) write(row string) operation {
	token := h.token()
	both := []rowChange{{column: columnA, value: token}, {column: columnB, value: token}}
	var changes []rowChange
	switch dice := h.random.Intn(10); {
	case dice < 6:
		changes = both
	case dice < 7:
		changes = []rowChange{{column: -1, delete: true}}
	case dice < 8:
		changes = append([]rowChange{{column: -1, delete: true}}, both...)
	case dice < 9:
		changes = append([]rowChange{{column: columnT, delete: true}}, both...)
	default:
		changes = []rowChange{{column: columnN, delete: true}, {column: columnT, value: token}}
	}
	return operation{kind: kindWrite, row: row, token: token, changes: changes}
}

func (h *historian) check(row string) operation {
	token := h.token()
	return operation{kind: kindCheck, row: row, token: token, column: columnA, value: h.seen[row],
		changes:   []rowChange{{column: columnA, value: token}, {column: columnB, value: token}},
		otherwise: []rowChange{{column: columnB, value: token}}}
}

func (h *historian) modify(row string) operation {
	token := h.token()
	in := operation{kind: kindModify, row: row, token: token, rules: []rule{{column: columnT, append: token}}}
	switch dice := h.random.Intn(10); {
	case dice < 4:
		in.rules = append(in.rules, rule{column: columnN, increment: 1 + h.random.Int63n(9)})
	case dice < 7:
		in.rules = []rule{{column: columnN, increment: 1 + h.random.Int63n(9)}}
	case dice < 8: // mostly no number: then nothing of it may be applied
		in.rules = append(in.rules, rule{column: columnB, increment: 1})
	}
	return in
}

func (h *historian) read(rows []string, column int) []porcupine.Operation {
	var reads []operation
	for _, row := range rows {
		reads = append(reads, operation{kind: kindRead, row: row, column: column})
	}
	return h.record(reads, func(ctx context.Context) ([]answer, error) { return h.readRows(ctx, rows, column) })
}

func mutationsOf(changes []rowChange) []*btpb.Mutation {
	var mutations []*btpb.Mutation
	for _, change := range changes {
		switch {
		case change.delete && change.column < 0:
			mutations = append(mutations, &btpb.Mutation{
				Mutation: &btpb.Mutation_DeleteFromRow_{DeleteFromRow: &btpb.Mutation_DeleteFromRow{}}})
		case change.delete:
			mutations = append(mutations, &btpb.Mutation{
				Mutation: &btpb.Mutation_DeleteFromColumn_{DeleteFromColumn: &btpb.Mutation_DeleteFromColumn{
					FamilyName: "f", ColumnQualifier: []byte(columnNames[change.column])}}})
		default:
			mutations = append(mutations, setCell("f", columnNames[change.column], -1, change.value))
		}
	}
	return mutations
}

func (h *historian) mutateRow(ctx context.Context, in operation) ([]answer, error) {
	_, err := h.data.MutateRow(ctx, &btpb.MutateRowRequest{TableName: h.trial.table, RowKey: []byte(in.row),
		Mutations: mutationsOf(in.changes)})
	return make([]answer, 1), err
}

func (h *historian) mutateRows(ctx context.Context, writes []operation) ([]answer, error) {
	request := &btpb.MutateRowsRequest{TableName: h.trial.table}
	for _, in := range writes {
		request.Entries = append(request.Entries, &btpb.MutateRowsRequest_Entry{
			RowKey: []byte(in.row), Mutations: mutationsOf(in.changes)})
	}
	stream, err := h.data.MutateRows(ctx, request)
	if err != nil {
		return nil, err
	}
	answered := 0
	for {
		message, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range message.Entries {
			if entry.Status.GetCode() != 0 {
				return nil, status.ErrorProto(entry.Status)
			}
			answered++
		}
	}
	if answered != len(writes) {
		return nil, fmt.Errorf("%d entries of %d were answered", answered, len(writes))
	}
	return make([]answer, len(writes)), nil
}

func columnFilter(column int) *btpb.RowFilter {
	return &btpb.RowFilter{Filter: &btpb.RowFilter_ColumnQualifierRegexFilter{
		ColumnQualifierRegexFilter: []byte(columnNames[column])}}
}

func (h *historian) checkAndMutateRow(ctx context.Context, in operation) ([]answer, error) {
	value := &btpb.ValueRange{StartValue: &btpb.ValueRange_StartValueClosed{StartValueClosed: []byte(in.value)},
		EndValue: &btpb.ValueRange_EndValueClosed{EndValueClosed: []byte(in.value)}}
	predicate := &btpb.RowFilter{Filter: &btpb.RowFilter_Chain_{Chain: &btpb.RowFilter_Chain{Filters: []*btpb.RowFilter{
		columnFilter(in.column), {Filter: &btpb.RowFilter_ValueRangeFilter{ValueRangeFilter: value}}}}}}
	got, err := h.data.CheckAndMutateRow(ctx, &btpb.CheckAndMutateRowRequest{TableName: h.trial.table,
		RowKey: []byte(in.row), PredicateFilter: predicate, TrueMutations: mutationsOf(in.changes),
		FalseMutations: mutationsOf(in.otherwise)})
	return []answer{{matched: got.GetPredicateMatched()}}, err
}

func (h *historian) readModifyWriteRow(ctx context.Context, in operation) ([]answer, error) {
	request := &btpb.ReadModifyWriteRowRequest{TableName: h.trial.table, RowKey: []byte(in.row)}
	for _, rule := range in.rules {
		asked := &btpb.ReadModifyWriteRule{FamilyName: "f", ColumnQualifier: []byte(columnNames[rule.column]),
			Rule: &btpb.ReadModifyWriteRule_IncrementAmount{IncrementAmount: rule.increment}}
		if rule.append != "" {
			asked.Rule = &btpb.ReadModifyWriteRule_AppendValue{AppendValue: []byte(rule.append)}
		}
		request.Rules = append(request.Rules, asked)
	}
	got, err := h.data.ReadModifyWriteRow(ctx, request)
	if status.Code(err) == codes.FailedPrecondition {
		return []answer{{refused: true}}, nil
	}
	var out answer
	for _, family := range got.GetRow().GetFamilies() {
		for _, column := range family.Columns {
			for _, cell := range column.Cells {
				out.cells = append(out.cells, seenCell{slices.Index(columnNames[:], string(column.Qualifier)),
					string(cell.Value), cell.TimestampMicros})
			}
		}
	}
	sort.Slice(out.cells, func(i, j int) bool { return out.cells[i].column < out.cells[j].column })
	return []answer{out}, err
}

// All values are short: a chunk is a cell.
func (h *historian) readRows(ctx context.Context, rows []string, column int) ([]answer, error) {
	request := &btpb.ReadRowsRequest{TableName: h.trial.table, Rows: &btpb.RowSet{}}
	for _, row := range rows {
		request.Rows.RowKeys = append(request.Rows.RowKeys, []byte(row))
	}
	if column >= 0 {
		request.Filter = columnFilter(column)
	}
	stream, err := h.data.ReadRows(ctx, request)
	if err != nil {
		return nil, err
	}
	answers := make([]answer, len(rows))
	row, qualifier := -1, ""
	for {
		message, err := stream.Recv()
		if err == io.EOF {
			return answers, nil
		}
		if err != nil {
			return nil, err
		}
		for _, chunk := range message.Chunks {
			if len(chunk.RowKey) > 0 {
				row = slices.Index(rows, string(chunk.RowKey))
			}
			if chunk.Qualifier != nil {
				qualifier = string(chunk.Qualifier.Value)
			}
			if row < 0 || chunk.ValueSize != 0 || chunk.GetResetRow() {
				return nil, fmt.Errorf("a chunk that was not expected: %v", chunk)
			}
			answers[row].cells = append(answers[row].cells,
				seenCell{slices.Index(columnNames[:], qualifier), string(chunk.Value), chunk.TimestampMicros})
		}
	}
}
