package conformance

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	adminpb "cloud.google.com/go/bigtable/admin/apiv2/adminpb"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const day = 24 * time.Hour

// createStreamed makes the table "t" with a change stream, and two plain families.
func (f *fixture) createStreamed(splits ...string) *bigtable.Table {
	f.t.Helper()
	check(f.t, f.admin.CreateTableFromConf(f.ctx, &bigtable.TableConf{TableID: "t", SplitKeys: splits,
		ChangeStreamRetention: day,
		ColumnFamilies: map[string]bigtable.Family{"f": {}, "g": {},
			"sum": {ValueType: bigtable.AggregateType{Input: bigtable.Int64Type{}, Aggregator: bigtable.SumAggregator{}}}}}))
	return f.client.Open("t")
}

func partition(start, end string) *btpb.StreamPartition {
	return &btpb.StreamPartition{RowRange: &btpb.RowRange{StartKey: &btpb.RowRange_StartKeyClosed{StartKeyClosed: []byte(start)},
		EndKey: &btpb.RowRange_EndKeyOpen{EndKeyOpen: []byte(end)}}}
}

func boundsOf(p *btpb.StreamPartition) string {
	return fmt.Sprintf("[%s,%s)", p.RowRange.GetStartKeyClosed(), p.RowRange.GetEndKeyOpen())
}

func renderMutation(m *btpb.Mutation) string {
	switch m := m.Mutation.(type) {
	case *btpb.Mutation_SetCell_:
		return fmt.Sprintf("set %s:%s@%d=%s", m.SetCell.FamilyName, m.SetCell.ColumnQualifier, m.SetCell.TimestampMicros, m.SetCell.Value)
	case *btpb.Mutation_AddToCell_:
		return fmt.Sprintf("add %s:%s@%d %d", m.AddToCell.FamilyName, m.AddToCell.ColumnQualifier.GetRawValue(),
			m.AddToCell.Timestamp.GetRawTimestampMicros(), m.AddToCell.Input.GetIntValue())
	case *btpb.Mutation_MergeToCell_:
		return fmt.Sprintf("merge %s:%s@%d %x", m.MergeToCell.FamilyName, m.MergeToCell.ColumnQualifier.GetRawValue(),
			m.MergeToCell.Timestamp.GetRawTimestampMicros(), m.MergeToCell.Input.GetBytesValue())
	case *btpb.Mutation_DeleteFromColumn_:
		r := m.DeleteFromColumn.TimeRange
		return fmt.Sprintf("delete %s:%s[%d,%d)", m.DeleteFromColumn.FamilyName, m.DeleteFromColumn.ColumnQualifier,
			r.GetStartTimestampMicros(), r.GetEndTimestampMicros())
	case *btpb.Mutation_DeleteFromFamily_:
		return "delete " + m.DeleteFromFamily.FamilyName
	}
	return fmt.Sprintf("%v", m)
}

// A change, put together again from its messages as the API's comments say.
type change struct {
	row, cluster, token string
	kind                btpb.ReadChangeStreamResponse_DataChange_Type
	commit, watermark   time.Time
	mutations           []*btpb.Mutation
}

func (c *change) String() string {
	var parts []string
	for _, m := range c.mutations {
		parts = append(parts, renderMutation(m))
	}
	return c.row + ": " + strings.Join(parts, "; ")
}

// A follower reads one stream, and fails the test when a message breaks a rule.
type follower struct {
	f          *fixture
	stream     btpb.Bigtable_ReadChangeStreamClient
	unfinished *change
	chunked    int32 // bytes of the value that is being put together
	watermark  time.Time
}

func (f *fixture) follow(ctx context.Context, request *btpb.ReadChangeStreamRequest) *follower {
	f.t.Helper()
	request.TableName = f.tableName("t")
	stream, err := f.data.ReadChangeStream(ctx, request)
	check(f.t, err)
	return &follower{f: f, stream: stream}
}

// next returns the next whole change, heartbeat or end of the stream.
func (l *follower) next() (*change, *btpb.ReadChangeStreamResponse_Heartbeat, *btpb.ReadChangeStreamResponse_CloseStream, error) {
	t := l.f.t
	for {
		message, err := l.stream.Recv()
		if err != nil {
			return nil, nil, nil, err
		}
		if beat := message.GetHeartbeat(); beat != nil {
			if l.unfinished != nil {
				t.Errorf("a heartbeat in the middle of a change")
			}
			l.raise(beat.EstimatedLowWatermark)
			return nil, beat, nil, nil
		}
		if end := message.GetCloseStream(); end != nil {
			return nil, nil, end, nil
		}
		if done := l.take(message.GetDataChange()); done != nil {
			return done, nil, nil, nil
		}
	}
}

func (l *follower) raise(watermark *timestamppb.Timestamp) {
	if watermark.AsTime().Before(l.watermark) {
		l.f.t.Errorf("the watermark went back from %v to %v", l.watermark, watermark.AsTime())
	}
	l.watermark = watermark.AsTime()
}

func (l *follower) take(data *btpb.ReadChangeStreamResponse_DataChange) *change {
	t := l.f.t
	if l.unfinished == nil {
		if data.Type == btpb.ReadChangeStreamResponse_DataChange_CONTINUATION {
			t.Fatalf("a change begins with a continuation")
		}
		l.unfinished = &change{row: string(data.RowKey), cluster: data.SourceClusterId, kind: data.Type, commit: data.CommitTimestamp.AsTime()}
		if !l.unfinished.commit.After(l.watermark) {
			t.Errorf("a change of %v came after the watermark %v", l.unfinished.commit, l.watermark)
		}
	} else if data.Type != btpb.ReadChangeStreamResponse_DataChange_CONTINUATION || data.RowKey != nil ||
		data.CommitTimestamp != nil || data.SourceClusterId != "" {
		t.Errorf("a later message of a change names it again: %v", data)
	}
	c := l.unfinished
	for _, chunk := range data.Chunks {
		info := chunk.ChunkInfo
		if info.GetChunkedValueOffset() != l.chunked {
			t.Fatalf("a chunk at %d follows %d bytes", info.GetChunkedValueOffset(), l.chunked)
		}
		if l.chunked == 0 {
			c.mutations = append(c.mutations, chunk.Mutation)
		} else {
			set := c.mutations[len(c.mutations)-1].GetSetCell()
			set.Value = append(set.Value, chunk.Mutation.GetSetCell().Value...)
		}
		if info == nil {
			continue
		}
		l.chunked += int32(len(chunk.Mutation.GetSetCell().GetValue()))
		if info.LastChunk {
			if l.chunked != info.ChunkedValueSize {
				t.Errorf("a value of %d bytes has %d", info.ChunkedValueSize, l.chunked)
			}
			l.chunked = 0
		}
	}
	if !data.Done {
		return nil
	}
	c.token = data.Token
	l.raise(data.EstimatedLowWatermark)
	c.watermark = l.watermark
	l.unfinished = nil
	return c
}

// change skips heartbeats.
func (l *follower) change() *change {
	l.f.t.Helper()
	for {
		c, _, end, err := l.next()
		check(l.f.t, err)
		if end != nil {
			l.f.t.Fatalf("the stream was closed: %v", end)
		}
		if c != nil {
			return c
		}
	}
}

// rest reads a stream that has an end, and renders its changes.
func (l *follower) rest() string {
	l.f.t.Helper()
	var text strings.Builder
	for {
		c, _, end, err := l.next()
		check(l.f.t, err)
		if c != nil {
			text.WriteString(c.String() + "\n")
		}
		if end == nil {
			continue
		}
		if end.Status.GetCode() != 0 || len(end.ContinuationTokens)+len(end.NewPartitions) != 0 {
			l.f.t.Errorf("the end of a stream: %v", end)
		}
		if _, _, _, err := l.next(); err != io.EOF {
			l.f.t.Errorf("after the end: %v", err)
		}
		return text.String()
	}
}

func at(t time.Time) *btpb.ReadChangeStreamRequest_StartTime {
	return &btpb.ReadChangeStreamRequest_StartTime{StartTime: timestamppb.New(t)}
}

func after(tokens ...*btpb.StreamContinuationToken) *btpb.ReadChangeStreamRequest_ContinuationTokens {
	return &btpb.ReadChangeStreamRequest_ContinuationTokens{ContinuationTokens: &btpb.StreamContinuationTokens{Tokens: tokens}}
}

func TestChangeStreamIsEnabledAlteredAndDisabled(t *testing.T) {
	f := newFixture(t)
	f.createTable("t", "f")
	retention := func() any {
		info, err := f.admin.TableInfo(f.ctx, "t")
		check(t, err)
		return info.ChangeStreamRetention
	}
	expectError(t, "a table without one", f.streamError(&btpb.ReadChangeStreamRequest{}), codes.FailedPrecondition, "change stream")
	partitions, err := f.data.GenerateInitialChangeStreamPartitions(f.ctx,
		&btpb.GenerateInitialChangeStreamPartitionsRequest{TableName: f.tableName("t")})
	check(t, err)
	_, err = partitions.Recv()
	expectError(t, "partitions of a table without one", err, codes.FailedPrecondition, "change stream")

	check(t, f.admin.UpdateTableWithChangeStream(f.ctx, "t", 2*day))
	if got := retention(); got != 2*day {
		t.Errorf("got a retention of %v", got)
	}
	check(t, f.admin.UpdateTableWithChangeStream(f.ctx, "t", 7*day))
	if got := retention(); got != 7*day {
		t.Errorf("got a retention of %v", got)
	}
	for _, bad := range []time.Duration{day - time.Second, 7*day + time.Second} {
		err := f.admin.UpdateTableWithChangeStream(f.ctx, "t", bad)
		if err == nil || !strings.Contains(err.Error(), "InvalidArgument") {
			t.Errorf("a retention of %v: %v", bad, err)
		}
	}
	expectError(t, "deleting the table", f.admin.DeleteTable(f.ctx, "t"), codes.FailedPrecondition, "change stream")
	check(t, f.admin.UpdateTableDisableChangeStream(f.ctx, "t"))
	if got := retention(); got != nil {
		t.Errorf("got a retention of %v", got)
	}
	check(t, f.admin.DeleteTable(f.ctx, "t"))
}

// streamError opens a stream that must fail at once.
func (f *fixture) streamError(request *btpb.ReadChangeStreamRequest) error {
	f.t.Helper()
	_, _, _, err := f.follow(f.ctx, request).next()
	return err
}

func TestUpdateTableRefusesWhatItCannotUpdate(t *testing.T) {
	f := newFixture(t)
	f.createTable("t", "f")
	for path, code := range map[string]codes.Code{
		"*": codes.InvalidArgument, "nonsense": codes.InvalidArgument, "name": codes.InvalidArgument,
		"column_families": codes.Unimplemented, "": codes.InvalidArgument} {
		request := &adminpb.UpdateTableRequest{Table: &adminpb.Table{Name: f.tableName("t")}}
		if path != "" {
			request.UpdateMask = &fieldmaskpb.FieldMask{Paths: []string{path}}
		}
		_, err := f.tables.UpdateTable(f.ctx, request)
		expectError(t, "mask "+path, err, code, "")
	}
	check(t, f.admin.UpdateTableWithDeletionProtection(f.ctx, "t", bigtable.Protected))
	expectError(t, "deleting a protected table", f.admin.DeleteTable(f.ctx, "t"), codes.FailedPrecondition, "protected")
	check(t, f.admin.UpdateTableWithDeletionProtection(f.ctx, "t", bigtable.Unprotected))
	check(t, f.admin.DeleteTable(f.ctx, "t"))
}

func TestChangeStreamHasEveryMutation(t *testing.T) {
	f := newFixture(t)
	start := time.Now()
	table := f.createStreamed()
	created := time.Now()
	f.write(table, cell{"a", "f", "q", 1, "v"})
	m := bigtable.NewMutation()
	m.DeleteRow()
	m.Set("f", "", 2000, []byte(""))
	m.DeleteCellsInColumn("f", "q")
	m.DeleteTimestampRange("g", "q", 1000, 3000)
	m.DeleteCellsInFamily("g")
	m.AddIntToCell("sum", "n", 5000, -3)
	m.MergeBytesToCell("sum", "n", 5000, []byte("\x00\x00\x00\x00\x00\x00\x00\x07"))
	check(t, table.Apply(f.ctx, "b", m))
	rmw := bigtable.NewReadModifyWrite()
	rmw.AppendValue("f", "q", []byte("w"))
	_, err := table.ApplyReadModifyWrite(f.ctx, "a", rmw)
	check(t, err)
	yes := bigtable.NewMutation()
	yes.Set("g", "taken", 1000, []byte("yes"))
	no := bigtable.NewMutation()
	no.Set("g", "taken", 1000, []byte("no"))
	check(t, table.Apply(f.ctx, "a", bigtable.NewCondMutation(bigtable.LatestNFilter(1), yes, no)))
	check(t, table.Apply(f.ctx, "none", bigtable.NewCondMutation(bigtable.LatestNFilter(1), yes, nil)))
	bad := bigtable.NewMutation()
	bad.Set("absent", "q", 1000, nil)
	errs, err := table.ApplyBulk(f.ctx, []string{"c", "d"}, []*bigtable.Mutation{bad, yes})
	check(t, err)
	if errs == nil || errs[0] == nil || errs[1] != nil {
		t.Errorf("ApplyBulk: %v", errs)
	}
	check(t, f.admin.DropRowRange(f.ctx, "t", "d"))
	end := time.Now()

	expectError(t, "before its creation", f.streamError(&btpb.ReadChangeStreamRequest{StartFrom: at(start.Add(-time.Second))}),
		codes.InvalidArgument, "start_time")
	got := f.follow(f.ctx, &btpb.ReadChangeStreamRequest{StartFrom: at(created), EndTime: timestamppb.New(end)}).rest()
	lines := strings.Split(got, "\n")
	if len(lines) > 2 { // the time of an append is the server's
		var micros int64
		if _, err := fmt.Sscanf(lines[2], "a: set f:q@%d=vw", &micros); err != nil || time.UnixMicro(micros).Before(start.Add(-time.Second)) {
			t.Errorf("the append: %q", lines[2])
		}
		lines[2] = "append"
	}
	expect(t, "the stream", strings.Join(lines, "\n"), `
a: set f:q@1000=v
b: delete f; delete g; delete sum; set f:@2000=; delete f:q[0,0); delete g:q[1000,3000); delete g; add sum:n@5000 -3; merge sum:n@5000 0000000000000007
append
a: set g:taken@1000=yes
d: set g:taken@1000=yes
d: delete f; delete g; delete sum`)
	change := f.follow(f.ctx, &btpb.ReadChangeStreamRequest{StartFrom: at(created)}).change()
	if change.kind != btpb.ReadChangeStreamResponse_DataChange_USER || change.cluster == "" || change.token == "" ||
		change.commit.Before(start) || change.commit.After(end) || change.watermark.Before(change.commit) {
		t.Errorf("got %+v", change)
	}
}

func TestChangeStreamCutsLongValues(t *testing.T) {
	f := newFixture(t)
	table := f.createStreamed()
	created := time.Now()
	long := strings.Repeat("0123456789", 300_000)
	m := bigtable.NewMutation()
	m.Set("f", "before", 1000, []byte("1"))
	m.Set("f", "long", 1000, []byte(long))
	m.Set("f", "after", 1000, []byte("2"))
	check(t, table.Apply(f.ctx, "r", m))
	c := f.follow(f.ctx, &btpb.ReadChangeStreamRequest{StartFrom: at(created)}).change()
	expect(t, "the change", strings.Replace(c.String(), long, "LONG", 1),
		"r: set f:before@1000=1; set f:long@1000=LONG; set f:after@1000=2")
}

func TestChangeStreamPartitionsFollowSplitsAndTokensMerge(t *testing.T) {
	f := newFixture(t)
	table := f.createStreamed("h", "p")
	created := time.Now()
	stream, err := f.data.GenerateInitialChangeStreamPartitions(f.ctx,
		&btpb.GenerateInitialChangeStreamPartitionsRequest{TableName: f.tableName("t")})
	check(t, err)
	var bounds []string
	for {
		message, err := stream.Recv()
		if err == io.EOF {
			break
		}
		check(t, err)
		bounds = append(bounds, boundsOf(message.Partition))
	}
	expect(t, "the partitions", strings.Join(bounds, " "), "[,h) [h,p) [p,)")

	for i, row := range []string{"a", "i", "b", "j", "z"} {
		f.write(table, cell{row, "f", "q", int64(i), "v"})
	}
	left := f.follow(f.ctx, &btpb.ReadChangeStreamRequest{Partition: partition("", "h"), StartFrom: at(created)})
	right := f.follow(f.ctx, &btpb.ReadChangeStreamRequest{Partition: partition("h", "p"), StartFrom: at(created)})
	a, i := left.change(), right.change()
	expect(t, "the partitions' first changes", a.row+i.row, "ai")
	j := right.change()
	tokens := after(&btpb.StreamContinuationToken{Partition: partition("h", "p"), Token: j.token},
		&btpb.StreamContinuationToken{Partition: partition("", "h"), Token: a.token})
	merged := f.follow(f.ctx, &btpb.ReadChangeStreamRequest{Partition: partition("", "p"), StartFrom: tokens,
		EndTime: timestamppb.Now()})
	expect(t, "the merged stream", merged.rest(), "b: set f:q@2000=v")

	one := &btpb.StreamContinuationToken{Partition: partition("", "h"), Token: a.token}
	for what, request := range map[string]*btpb.ReadChangeStreamRequest{
		"a token of less than the partition": {Partition: partition("", "p"), StartFrom: after(one)},
		"a token of another partition":       {Partition: partition("h", "p"), StartFrom: after(one)},
		"a token that names another partition": {Partition: partition("h", "p"),
			StartFrom: after(&btpb.StreamContinuationToken{Partition: partition("h", "p"), Token: a.token})},
		"no tokens":            {Partition: partition("", "h"), StartFrom: after()},
		"nonsense":             {Partition: partition("", "h"), StartFrom: after(&btpb.StreamContinuationToken{Partition: partition("", "h"), Token: "x"})},
		"a start to come":      {StartFrom: at(time.Now().Add(time.Hour))},
		"an end before it":     {StartFrom: at(time.Now()), EndTime: timestamppb.New(created)},
		"a negative heartbeat": {HeartbeatDuration: durationpb.New(-time.Second)},
	} {
		expectError(t, what, f.streamError(request), codes.InvalidArgument, "")
	}
}

func TestChangeStreamHeartbeatsCarryOn(t *testing.T) {
	f := newFixture(t)
	table := f.createStreamed()
	l := f.follow(f.ctx, &btpb.ReadChangeStreamRequest{HeartbeatDuration: durationpb.New(200 * time.Millisecond)})
	opened := time.Now()
	_, first, _, err := l.next()
	check(t, err)
	f.write(table, cell{"a", "f", "q", 1, "v"})
	wrote := time.Now()
	c := l.change()
	if waited := time.Since(wrote); waited > 2*time.Second {
		t.Errorf("the change came after %v", waited)
	}
	var last *btpb.ReadChangeStreamResponse_Heartbeat
	for range 4 {
		_, last, _, err = l.next()
		check(t, err)
	}
	if waited := time.Since(opened); waited < 800*time.Millisecond || waited > 20*time.Second {
		t.Errorf("five heartbeats came within %v", waited)
	}
	if !last.EstimatedLowWatermark.AsTime().After(c.commit) {
		t.Errorf("the watermark stands still at %v", last.EstimatedLowWatermark.AsTime())
	}
	read := func(token *btpb.StreamContinuationToken) string {
		return f.follow(f.ctx, &btpb.ReadChangeStreamRequest{StartFrom: after(token), EndTime: timestamppb.Now()}).rest()
	}
	expect(t, "after the first heartbeat", read(first.ContinuationToken), "a: set f:q@1000=v")
	expect(t, "after the last one", read(last.ContinuationToken), "")
}

func TestChangeStreamEndsWithItsCallerOrTable(t *testing.T) {
	f := newFixture(t)
	f.createStreamed()
	ctx, cancel := context.WithCancel(f.ctx)
	l := f.follow(ctx, &btpb.ReadChangeStreamRequest{})
	time.AfterFunc(200*time.Millisecond, cancel)
	_, _, _, err := l.next()
	expectError(t, "a cancelled stream", err, codes.Canceled, "")
	ctx, cancel = context.WithTimeout(f.ctx, 300*time.Millisecond)
	defer cancel()
	_, _, _, err = f.follow(ctx, &btpb.ReadChangeStreamRequest{}).next()
	expectError(t, "past its deadline", err, codes.DeadlineExceeded, "")
	l = f.follow(f.ctx, &btpb.ReadChangeStreamRequest{HeartbeatDuration: durationpb.New(100 * time.Millisecond)})
	_, _, _, err = l.next()
	check(t, err)
	check(t, f.admin.UpdateTableDisableChangeStream(f.ctx, "t"))
	for err == nil {
		_, _, _, err = l.next()
	}
	expectError(t, "of a table whose stream was disabled", err, codes.FailedPrecondition, "change stream")
}

// Many writers, and a follower of each partition: every change once, those of a row in order.
func TestChangeStreamMissesNothingUnderLoad(t *testing.T) {
	f := newFixture(t)
	table := f.createStreamed("m")
	created := time.Now()
	const writers, writes = 8, 100
	var group sync.WaitGroup
	for writer := range writers {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range writes {
				m := bigtable.NewMutation()
				m.Set("f", "q", 1000, []byte(fmt.Sprint(i)))
				row := fmt.Sprintf("%c%d", "az"[i%2], writer)
				if i%5 == 0 {
					if _, err := table.ApplyBulk(f.ctx, []string{row, "shared"}, []*bigtable.Mutation{m, m}); err != nil {
						t.Error(err)
					}
				} else if err := table.Apply(f.ctx, row, m); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	seen := map[string][]string{}
	var lock sync.Mutex
	follow := func(start, end string, count int) {
		defer group.Done()
		l := f.follow(f.ctx, &btpb.ReadChangeStreamRequest{Partition: partition(start, end), StartFrom: at(created)})
		for range count {
			c := l.change()
			lock.Lock()
			seen[c.row] = append(seen[c.row], string(c.mutations[0].GetSetCell().Value))
			lock.Unlock()
		}
	}
	group.Add(2)
	go follow("", "m", writers*writes/2)
	go follow("m", "", writers*(writes/2+writes/5))
	group.Wait()
	for writer := range writers {
		for parity, letter := range "az" {
			var want []string
			for i := parity; i < writes; i += 2 {
				want = append(want, fmt.Sprint(i))
			}
			row := fmt.Sprintf("%c%d", letter, writer)
			expect(t, row, strings.Join(seen[row], " "), strings.Join(want, " "))
		}
	}
	last := seen["shared"][len(seen["shared"])-1]
	expect(t, "the row that all write", f.read(table, bigtable.SingleRow("shared")), fmt.Sprintf("shared f:q @1 %q", last))
}

func TestChangeStreamOutlivesARestart(t *testing.T) {
	directory := t.TempDir()
	s := startServer(t, serveArguments(directory, 0)...)
	f := newFixtureAt(t, s.address, "restart")
	table := f.createStreamed()
	created := time.Now()
	f.write(table, cell{"a", "f", "q", 1, "v"}, cell{"b", "f", "q", 1, "v"})
	l := f.follow(f.ctx, &btpb.ReadChangeStreamRequest{StartFrom: at(created)})
	a := l.change()
	l.change()
	stopping := time.Now()
	s.stop()
	if took := time.Since(stopping); took > 5*time.Second {
		t.Errorf("an open stream held the server's end up for %v", took)
	}
	_, _, _, err := l.next()
	expectError(t, "a stream of a server that ends", err, codes.Unavailable, "")

	s = startServer(t, serveArguments(directory, 0)...)
	f = newFixtureAt(t, s.address, "restart")
	f.write(f.client.Open("t"), cell{"c", "f", "q", 1, "v"})
	token := &btpb.StreamContinuationToken{Partition: partition("", ""), Token: a.token}
	rest := f.follow(f.ctx, &btpb.ReadChangeStreamRequest{StartFrom: after(token), EndTime: timestamppb.Now()}).rest()
	expect(t, "the rest", rest, "b: set f:q@1000=v\nc: set f:q@1000=v")
}
