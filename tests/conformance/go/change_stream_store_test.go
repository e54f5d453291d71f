package conformance

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
)

// A cell as it was written: each time is given once.
type writtenCell struct {
	row    string
	micros int64
	value  string
}

// streamTrial is two servers over one store, of which one is killed now and then, with clients who write and clients who follow.
type streamTrial struct {
	t       *testing.T
	table   string
	clients []btpb.BigtableClient

	mutex     sync.Mutex
	acked     map[writtenCell]bool // and those of which nobody knows: false
	told      map[writtenCell]int
	lastOfRow map[string]time.Time // commit time of the last change that was told
	failures  []string

	next   atomic.Int64
	breaks atomic.Int64 // of streams
}

func (s *streamTrial) fail(format string, arguments ...any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.failures = append(s.failures, fmt.Sprintf(format, arguments...))
}

// write makes one request, of one row or of several, once.
func (s *streamTrial) write(ctx context.Context, random *rand.Rand, rows []string) {
	client := s.clients[random.Intn(len(s.clients))]
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	set := func(row string) (writtenCell, []*btpb.Mutation) {
		c := writtenCell{row, s.next.Add(1) * 1000, ""}
		c.value = fmt.Sprint(c.micros, strings.Repeat("x", random.Intn(200)))
		return c, []*btpb.Mutation{{Mutation: &btpb.Mutation_SetCell_{SetCell: &btpb.Mutation_SetCell{FamilyName: "f",
			ColumnQualifier: []byte("q"), TimestampMicros: c.micros, Value: []byte(c.value)}}}}
	}
	note := func(c writtenCell, ok bool) {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.acked[c] = ok
	}
	row := rows[random.Intn(len(rows))]
	switch random.Intn(3) {
	case 0:
		c, mutations := set(row)
		_, err := client.MutateRow(ctx, &btpb.MutateRowRequest{TableName: s.table, RowKey: []byte(row), Mutations: mutations})
		note(c, err == nil)
	case 1:
		c, mutations := set(row)
		_, err := client.CheckAndMutateRow(ctx, &btpb.CheckAndMutateRowRequest{TableName: s.table, RowKey: []byte(row),
			PredicateFilter: &btpb.RowFilter{Filter: &btpb.RowFilter_BlockAllFilter{BlockAllFilter: true}}, FalseMutations: mutations})
		note(c, err == nil)
	default:
		request := &btpb.MutateRowsRequest{TableName: s.table}
		var cells []writtenCell
		for range 1 + random.Intn(4) {
			c, mutations := set(rows[random.Intn(len(rows))])
			cells = append(cells, c)
			request.Entries = append(request.Entries, &btpb.MutateRowsRequest_Entry{RowKey: []byte(c.row), Mutations: mutations})
		}
		done := make([]bool, len(cells))
		if stream, err := client.MutateRows(ctx, request); err == nil {
			for {
				message, err := stream.Recv()
				if err != nil {
					break
				}
				for _, entry := range message.Entries {
					done[entry.Index] = entry.Status.GetCode() == 0
				}
			}
		}
		for i, c := range cells {
			note(c, done[i])
		}
	}
}

// follow reads one partition until all changes up to `until` have come; where a stream breaks, by a server that is killed, another one
// goes on from the last token.
func (s *streamTrial) follow(ctx context.Context, part *btpb.StreamPartition, start time.Time, until func() time.Time) {
	token := ""
	for i := 0; ctx.Err() == nil; i++ {
		request := &btpb.ReadChangeStreamRequest{TableName: s.table, Partition: part, HeartbeatDuration: durationpb.New(time.Second)}
		if token == "" {
			request.StartFrom = at(start)
		} else {
			request.StartFrom = after(&btpb.StreamContinuationToken{Partition: part, Token: token})
		}
		stream, err := s.clients[i%len(s.clients)].ReadChangeStream(ctx, request)
		for err == nil {
			var message *btpb.ReadChangeStreamResponse
			if message, err = stream.Recv(); err != nil {
				break
			}
			if beat := message.GetHeartbeat(); beat != nil {
				token = beat.ContinuationToken.Token
				if end := until(); !end.IsZero() && beat.EstimatedLowWatermark.AsTime().After(end) {
					return
				}
			}
			if data := message.GetDataChange(); data != nil {
				if !data.Done {
					s.fail("a small change in several messages")
				}
				token = data.Token
				s.take(data)
			}
			if end := message.GetCloseStream(); end != nil {
				s.fail("a stream was closed: %v", end)
				return
			}
		}
		s.breaks.Add(1)
		time.Sleep(50 * time.Millisecond)
	}
	s.fail("a stream did not come to its end")
}

func (s *streamTrial) take(data *btpb.ReadChangeStreamResponse_DataChange) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	row := string(data.RowKey)
	if commit := data.CommitTimestamp.AsTime(); commit.After(s.lastOfRow[row]) {
		s.lastOfRow[row] = commit
	} else {
		s.failures = append(s.failures, fmt.Sprintf("row %s: a change of %v came after one of %v", row, commit, s.lastOfRow[row]))
	}
	for _, chunk := range data.Chunks {
		set := chunk.Mutation.GetSetCell()
		s.told[writtenCell{row, set.TimestampMicros, string(set.Value)}]++
	}
}

// TestChangeStreamOfAStore: two servers over a store in a cluster (SONDE_STORE, by tests/hbase/client), one of which is killed with SIGKILL
// now and then (-linearizability.kill-every), for -linearizability.time.  Each change that is in the table in the end is told, once, in the
// order of its row, and no other one.
func TestChangeStreamOfAStore(t *testing.T) {
	if os.Getenv("SONDE_STORE") == "" {
		t.Skip("SONDE_STORE is not set")
	}
	binary(t)
	directories := []string{t.TempDir(), t.TempDir()}
	start := func(i int, port string) *server {
		return startServer(t, "serve", "--host", "127.0.0.1", "--port", port, "--http-port", "0", "--data-dir", directories[i],
			"--durability", "os")
	}
	servers := []*server{start(0, "0"), start(1, "0")}
	f := newFixtureAt(t, servers[0].address, "streamed")
	check(t, f.admin.CreateTableFromConf(f.ctx, &bigtable.TableConf{TableID: "t", SplitKeys: []string{"row5"},
		ChangeStreamRetention: day, ColumnFamilies: map[string]bigtable.Family{"f": {}}}))
	created := time.Now()
	s := &streamTrial{t: t, table: f.tableName("t"), acked: map[writtenCell]bool{}, told: map[writtenCell]int{},
		lastOfRow: map[string]time.Time{}}
	for _, one := range servers {
		connection, err := grpc.NewClient(one.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		check(t, err)
		defer connection.Close()
		s.clients = append(s.clients, btpb.NewBigtableClient(connection))
	}
	ctx, cancel := context.WithTimeout(context.Background(), *workTime+3*time.Minute)
	defer cancel()

	var ended atomic.Pointer[time.Time]
	until := func() time.Time {
		if end := ended.Load(); end != nil {
			return *end
		}
		return time.Time{}
	}
	var followers, writers sync.WaitGroup
	for _, part := range []*btpb.StreamPartition{partition("", "row5"), partition("row5", "")} {
		followers.Go(func() { s.follow(ctx, part, created, until) })
	}
	var rows []string
	for i := range 10 {
		rows = append(rows, fmt.Sprintf("row%d", i))
	}
	var over atomic.Bool
	for i := range 8 {
		writers.Go(func() {
			random := rand.New(rand.NewSource(int64(i)))
			for !over.Load() {
				s.write(ctx, random, rows)
			}
		})
	}
	kills := 0
	random := rand.New(rand.NewSource(time.Now().UnixNano()))
	for deadline := time.Now().Add(*workTime); time.Now().Before(deadline); {
		if *killEvery == 0 {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		time.Sleep(min(*killEvery/2+time.Duration(random.Int63n(int64(*killEvery))), time.Until(deadline)))
		i := random.Intn(len(servers))
		address := servers[i].address
		servers[i].kill()
		kills++
		servers[i] = start(i, address[strings.LastIndex(address, ":")+1:])
	}
	over.Store(true)
	writers.Wait()
	end := time.Now().Add(time.Second)
	ended.Store(&end)
	followers.Wait()

	inTable := map[writtenCell]bool{}
	check(t, f.client.Open("t").ReadRows(ctx, bigtable.InfiniteRange(""), func(row bigtable.Row) bool {
		for _, item := range row["f"] {
			inTable[writtenCell{row.Key(), int64(item.Timestamp), string(item.Value)}] = true
		}
		return true
	}))
	acked, unknown := 0, 0
	for c, ok := range s.acked {
		if ok {
			acked++
		} else {
			unknown++
		}
		if ok && !inTable[c] {
			s.fail("%s@%d was acknowledged, and is not in the table", c.row, c.micros)
		}
	}
	for c := range inTable {
		if s.told[c] != 1 {
			s.fail("%s@%d is in the table, and was told %d times (acknowledged: %v)", c.row, c.micros, s.told[c], s.acked[c])
		}
	}
	for c, times := range s.told {
		if !inTable[c] {
			s.fail("%s@%d was told %d times, and is not in the table", c.row, c.micros, times)
		}
	}
	t.Logf("%d changes in the table, %d acknowledged, %d without an answer, %d kills, %d streams broke; followers ended %v after the writers",
		len(inTable), acked, unknown, kills, s.breaks.Load(), time.Since(end).Round(time.Millisecond))
	if acked == 0 {
		t.Error("nothing was acknowledged")
	}
	for i, failure := range s.failures {
		if i == 20 {
			t.Fatalf("and %d more", len(s.failures)-i)
		}
		t.Error(failure)
	}
	for _, one := range servers {
		one.stop()
	}
}
