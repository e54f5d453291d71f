package conformance

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	adminpb "cloud.google.com/go/bigtable/admin/apiv2/adminpb"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const viewCatchUp = 2 * time.Minute

// TestViewOfAStore: two servers over a store in a cluster (SONDE_STORE, by tests/hbase/client), one of which is killed with SIGKILL now and
// then (-linearizability.kill-every), for -linearizability.time.  One of them keeps a materialized view, and when it is gone the other one
// goes on: in the end the view shows what its query gives.
func TestViewOfAStore(t *testing.T) {
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
	f := newFixtureAt(t, servers[0].address, "viewed")
	f.createTable("t", "f")
	const query = "SELECT CAST(f['k'] AS STRING) AS k, COUNT(*) AS n, MAX(f['v']) AS m FROM t GROUP BY k"
	_, err := f.instances.CreateMaterializedView(f.ctx, &adminpb.CreateMaterializedViewRequest{Parent: f.instanceName(),
		MaterializedViewId: "v", MaterializedView: &adminpb.MaterializedView{Query: query}})
	check(t, err)
	var clients []btpb.BigtableClient
	for _, one := range servers {
		connection, err := grpc.NewClient(one.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		check(t, err)
		defer connection.Close()
		clients = append(clients, btpb.NewBigtableClient(connection))
	}
	set := func(qualifier, value string) *btpb.Mutation {
		return &btpb.Mutation{Mutation: &btpb.Mutation_SetCell_{SetCell: &btpb.Mutation_SetCell{FamilyName: "f",
			ColumnQualifier: []byte(qualifier), Value: []byte(value)}}}
	}
	var over atomic.Bool
	var written atomic.Int64
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			random := rand.New(rand.NewSource(int64(i)))
			for !over.Load() {
				value := fmt.Sprint(random.Intn(1000))
				mutations := []*btpb.Mutation{set("k", value[:1]), set("v", value)}
				if random.Intn(4) == 0 {
					mutations = []*btpb.Mutation{{Mutation: &btpb.Mutation_DeleteFromRow_{DeleteFromRow: &btpb.Mutation_DeleteFromRow{}}}}
				}
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				_, err := clients[random.Intn(2)].MutateRow(ctx, &btpb.MutateRowRequest{TableName: f.tableName("t"),
					RowKey: []byte(fmt.Sprint("r", random.Intn(60))), Mutations: mutations})
				cancel()
				if err == nil {
					written.Add(1)
				}
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

	ask := func(query string) string {
		output, err := exec.Command(binary(t), "sql", "--endpoint", servers[0].address, "--project", "conformance", "--instance", f.instance,
			"--format", "csv", query).CombinedOutput()
		if err != nil {
			return fmt.Sprintf("%v: %s", err, output)
		}
		return string(output)
	}
	wanted, got := "", ""
	began := time.Now()
	for time.Since(began) < viewCatchUp {
		wanted, got = ask("SELECT k, n, m FROM ("+query+") ORDER BY k"), ask("SELECT k, n, m FROM v ORDER BY k")
		if got == wanted {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	expect(t, "the view", got, wanted)
	t.Logf("%d writes, %d kills, %d groups; the view had caught up %v after the last write", written.Load(), kills,
		strings.Count(wanted, "\n")-1, time.Since(began).Round(time.Millisecond))
	if written.Load() == 0 || strings.Count(wanted, "\n") < 3 {
		t.Errorf("%d writes gave %q: too little", written.Load(), wanted)
	}
	for _, one := range servers {
		one.stop()
	}
}
