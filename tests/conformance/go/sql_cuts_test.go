package conformance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
)

var (
	cutCount = flag.Int("sql.cuts", 300, "streams of results that are cut at random and resumed")
	cutSeed  = flag.Int64("sql.cuts-seed", 1, "where they are cut")
)

// Plans that stream give a token behind each batch, those that block one at their end; a set of values has neither order nor table.
var cutQueries = []string{
	"SELECT _key, f['n'] FROM t",
	"SELECT _key, f['pad'] FROM t WHERE f['n'] NOT LIKE '%7%'",
	"SELECT _key, f['pad'] FROM t LIMIT 900 OFFSET 13",
	"SELECT _key, x FROM t, UNNEST([1, 2, 3]) AS x WHERE f['n'] LIKE '%1%'",
	"SELECT * FROM UNPACK((SELECT f['n'] AS n, f['pad'] AS pad FROM t(with_history => TRUE)))",
	"SELECT _key, f['pad'] FROM t ORDER BY f['n'] DESC",
	"SELECT SUBSTR(f['n'], 1, 1) AS d, COUNT(*) AS c FROM t GROUP BY d ORDER BY d",
	"SELECT a._key, b.f['n'] FROM t AS a JOIN t AS b ON a.f['n'] = b.f['n'] ORDER BY a._key",
}

// Plans that block, with more rows than the server gives without tokens: behind the first 8 MiB each batch has one again.
var cutLongQueries = []string{
	"SELECT _key, f['n'] AS n, REPEAT(f['pad'], 50) AS long FROM t ORDER BY n DESC",
	"SELECT a._key, REPEAT(b.f['pad'], 50) AS long FROM t AS a JOIN t AS b ON a._key = b._key ORDER BY a.f['n']",
	"SELECT ROW_NUMBER() OVER (ORDER BY f['n']) AS place, REPEAT(f['pad'], 50) AS long FROM t",
}

// Cuts of a long result, one of some 200 messages: at most so many messages of each stream are taken.
const longMessagesMax = 250

// What one fixture's deadline has time for.
const cutsPerRound = 500

// TestSqlRandomCuts takes streams that end after any message, and resumes them by the last token, until the rows are all there.
func TestSqlRandomCuts(t *testing.T) {
	random := rand.New(rand.NewSource(*cutSeed))
	for cuts := 0; cuts < *cutCount; {
		round := min(cutsPerRound, *cutCount-cuts)
		t.Run(fmt.Sprint(cuts), func(t *testing.T) { cutStreams(t, random, round) })
		cuts += round
	}
}

// TestSqlRandomCutsOfLongResults does the same to results that the server puts on disk, so that it can go on with them.
func TestSqlRandomCutsOfLongResults(t *testing.T) {
	random := rand.New(rand.NewSource(*cutSeed))
	cuts := max(*cutCount/10, 20)
	for _, query := range cutLongQueries {
		t.Run(query, func(t *testing.T) { cutLongStreams(t, random, query, cuts) })
	}
}

func cutLongStreams(t *testing.T, random *rand.Rand, query string, cuts int) {
	f := newFixture(t)
	f.fill(f.createTable("t", "f"), 1500, 150)
	prepared := f.mustPrepare(query, nil)
	all := f.results(prepared, nil, nil)
	whole := strings.Join(all.rows, "\n")
	if len(all.tokens) < 10 {
		t.Fatalf("%d tokens: the result is not one that can be resumed within", len(all.tokens))
	}
	for cut := 0; cut < cuts; {
		reader := &resultReader{t: t, columns: len(prepared.Metadata.GetProtoSchema().Columns)}
		for !f.takeUntilCut(prepared, reader, 1+random.Intn(longMessagesMax)) {
			cut++
		}
		if got := strings.Join(reader.rows, "\n"); got != whole {
			t.Fatalf("cut %d of seed %d: other rows than those of a whole stream: %d bytes, not %d", cut, *cutSeed, len(got), len(whole))
		}
	}
}

func cutStreams(t *testing.T, random *rand.Rand, cuts int) {
	f := newFixture(t)
	f.fill(f.createTable("t", "f"), 1500, 150)
	var prepared []*btpb.PrepareQueryResponse
	var whole []string
	for _, query := range cutQueries {
		prepared = append(prepared, f.mustPrepare(query, nil))
		whole = append(whole, strings.Join(f.results(prepared[len(prepared)-1], nil, nil).rows, "\n"))
	}
	for cut := 0; cut < cuts; {
		query := random.Intn(len(cutQueries))
		reader := &resultReader{t: t, columns: len(prepared[query].Metadata.GetProtoSchema().Columns)}
		for isWhole := false; !isWhole; {
			// Half of the streams may go to their end, so that each query comes to one.
			messagesMax := 1 + random.Intn(6)
			if random.Intn(2) == 0 {
				messagesMax = 1 << 20
			}
			isWhole = f.takeUntilCut(prepared[query], reader, messagesMax)
			if !isWhole {
				cut++
			}
		}
		if got := strings.Join(reader.rows, "\n"); got != whole[query] {
			t.Fatalf("cut %d of seed %d: %s: other rows than those of a whole stream:\n%.2000s", cut, *cutSeed, cutQueries[query], got)
		}
	}
}

// takeUntilCut resumes a stream and cancels it after some messages; whether it came to its end before.
func (f *fixture) takeUntilCut(prepared *btpb.PrepareQueryResponse, reader *resultReader, messagesMax int) bool {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	var token []byte
	if len(reader.tokens) > 0 {
		token = reader.tokens[len(reader.tokens)-1]
	}
	// What no token gave out comes again.
	reader.batch, reader.waiting = nil, nil
	stream, err := f.data.ExecuteQuery(ctx, &btpb.ExecuteQueryRequest{
		InstanceName: f.instanceName(), PreparedQuery: prepared.PreparedQuery, ResumeToken: token})
	check(f.t, err)
	for count := 0; count < messagesMax; count++ {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return true
		}
		check(f.t, err)
		reader.take(message, count == 0)
	}
	return false
}
