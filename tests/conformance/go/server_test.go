package conformance

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1pb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
)

const startTimeout = 30 * time.Second

// A server that a test starts and stops by itself.
type server struct {
	t       *testing.T
	process *exec.Cmd
	address string
	stderr  *bytes.Buffer
}

func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("SONDE_BINARY")
	if path == "" {
		t.Skip("SONDE_BINARY is not set")
	}
	return path
}

func serveArguments(directory string, port int) []string {
	return []string{"serve", "--host", "127.0.0.1", "--port", fmt.Sprint(port), "--data-dir", directory, "--durability", "fsync"}
}

func startServer(t *testing.T, arguments ...string) *server {
	t.Helper()
	s := &server{t: t, process: exec.Command(binary(t), arguments...), stderr: &bytes.Buffer{}}
	s.process.Stderr = s.stderr
	out, err := s.process.StdoutPipe()
	check(t, err)
	check(t, s.process.Start())
	t.Cleanup(func() {
		if s.process.ProcessState == nil {
			_ = s.process.Process.Kill()
			_ = s.process.Wait()
		}
	})
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if address, found := strings.CutPrefix(lines.Text(), "sonde: listening on "); found {
				ready <- address
			}
		}
		close(ready)
	}()
	select {
	case address, open := <-ready:
		if !open {
			t.Fatalf("the server ended: %s", s.stderr)
		}
		s.address = address
	case <-time.After(startTimeout):
		t.Fatalf("the server is not ready after %v: %s", startTimeout, s.stderr)
	}
	return s
}

// stop asks the server to end and wants exit status 0.
func (s *server) stop() {
	s.t.Helper()
	check(s.t, s.process.Process.Signal(syscall.SIGTERM))
	if err := s.process.Wait(); err != nil {
		s.t.Fatalf("after SIGTERM: %v: %s", err, s.stderr)
	}
}

func (s *server) kill() {
	s.t.Helper()
	check(s.t, s.process.Process.Kill())
	_ = s.process.Wait()
}

// runToTheEnd runs a command that must fail, and returns what it says.
func runToTheEnd(t *testing.T, arguments ...string) string {
	t.Helper()
	process := exec.Command(binary(t), arguments...)
	var stderr bytes.Buffer
	process.Stderr = &stderr
	done := make(chan error, 1)
	check(t, process.Start())
	go func() { done <- process.Wait() }()
	select {
	case err := <-done:
		if err == nil {
			t.Fatalf("%v: exit status 0", arguments)
		}
	case <-time.After(startTimeout):
		_ = process.Process.Kill()
		t.Fatalf("%v: still running after %v", arguments, startTimeout)
	}
	return stderr.String()
}

func TestDataAndSchemaSurviveARestart(t *testing.T) {
	directory := t.TempDir()
	s := startServer(t, serveArguments(directory, 0)...)
	f := newFixtureAt(t, s.address, "restart")
	check(t, f.admin.CreateTableFromConf(f.ctx, &bigtable.TableConf{TableID: "t", SplitKeys: []string{"m"},
		Families: map[string]bigtable.GCPolicy{"f": bigtable.MaxVersionsPolicy(2), "g": bigtable.NoGcPolicy()}}))
	f.createTable("dropped", "f")
	check(t, f.admin.DeleteTable(f.ctx, "dropped"))
	table := f.client.Open("t")
	f.write(table, cell{"a", "f", "q", 1, "1"}, cell{"a", "f", "q", 2, "2"}, cell{"a", "f", "q", 3, "3"},
		cell{"b", "g", "q", 1, "x"}, cell{"c", "g", "q", 1, "y"})
	mutation := bigtable.NewMutation()
	mutation.DeleteRow()
	check(t, table.Apply(f.ctx, "b", mutation))
	want := f.readAll(table)
	s.stop()

	for _, end := range []func(*server){(*server).stop, (*server).kill} {
		s = startServer(t, serveArguments(directory, 0)...)
		f = newFixtureAt(t, s.address, "restart")
		expect(t, "rows", f.readAll(f.client.Open("t")), want)
		tables, err := f.admin.Tables(f.ctx)
		check(t, err)
		expect(t, "tables", strings.Join(tables, " "), "t")
		keys, err := f.client.Open("t").SampleRowKeys(f.ctx)
		check(t, err)
		if !slices.Contains(keys, "m") { // others may be samples of the data
			t.Errorf("the split m is not among the samples %v", keys)
		}
		info, err := f.admin.TableInfo(f.ctx, "t")
		check(t, err)
		for _, family := range info.FamilyInfos {
			if family.Name == "f" && family.GCPolicy != "versions() > 2" {
				t.Errorf("f: got %s", family.GCPolicy)
			}
		}
		end(s)
	}
}

// Writers keep writing bulk requests until the server is killed; every request that was acknowledged must be
// there afterwards, every row whole.
func TestAcknowledgedRowsSurviveKill(t *testing.T) {
	const writers, rowsPerRequest, cellsPerRow, rounds = 4, 20, 5, 3
	directory := t.TempDir()
	acknowledged := make([]int, writers) // requests, over all rounds
	key := func(writer, request, row int) string { return fmt.Sprintf("w%d#%06d#%02d", writer, request, row) }
	for round := 0; round < rounds; round++ {
		s := startServer(t, serveArguments(directory, 0)...)
		f := newFixtureAt(t, s.address, "kill")
		if round == 0 {
			f.createTable("t", "f")
		}
		table := f.client.Open("t")
		var killed atomic.Bool
		var group sync.WaitGroup
		for w := 0; w < writers; w++ {
			group.Add(1)
			go func() {
				defer group.Done()
				for !killed.Load() {
					var keys []string
					var mutations []*bigtable.Mutation
					for r := 0; r < rowsPerRequest; r++ {
						mutation := bigtable.NewMutation()
						for c := 0; c < cellsPerRow; c++ {
							mutation.Set("f", fmt.Sprint(c), 1000, []byte(key(w, acknowledged[w], r)))
						}
						keys, mutations = append(keys, key(w, acknowledged[w], r)), append(mutations, mutation)
					}
					errs, err := table.ApplyBulk(f.ctx, keys, mutations)
					if err != nil || errs != nil {
						return
					}
					acknowledged[w]++
				}
			}()
		}
		time.Sleep(time.Duration(700+150*round) * time.Millisecond)
		s.kill()
		killed.Store(true)
		_ = f.client.Close() // ends the retries of what was in flight
		group.Wait()
	}

	s := startServer(t, serveArguments(directory, 0)...)
	f := newFixtureAt(t, s.address, "kill")
	found := map[string]bool{}
	check(t, f.client.Open("t").ReadRows(f.ctx, bigtable.InfiniteRange(""), func(row bigtable.Row) bool {
		if len(row["f"]) != cellsPerRow {
			t.Errorf("row %s has %d cells of %d", row.Key(), len(row["f"]), cellsPerRow)
		}
		for _, item := range row["f"] {
			if string(item.Value) != row.Key() {
				t.Errorf("row %s holds %q", row.Key(), item.Value)
			}
		}
		found[row.Key()] = true
		return true
	}))
	total, lost := 0, 0
	for w, requests := range acknowledged {
		for request := 0; request < requests; request++ {
			for r := 0; r < rowsPerRequest; r++ {
				total++
				if !found[key(w, request, r)] {
					lost++
				}
			}
		}
	}
	if total == 0 {
		t.Fatal("nothing was acknowledged")
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged rows are lost", lost, total)
	}
	t.Logf("%d acknowledged rows", total)
	s.stop()
}

func TestSecondServerOnADataDirectoryIsRefused(t *testing.T) {
	directory := t.TempDir()
	s := startServer(t, serveArguments(directory, 0)...)
	message := runToTheEnd(t, serveArguments(directory, 0)...)
	if !strings.Contains(message, directory) {
		t.Errorf("the message does not name %s: %s", directory, message)
	}
	f := newFixtureAt(t, s.address, "i")
	f.createTable("t", "f") // the first one goes on
	s.stop()
}

func TestPortInUseIsRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	message := runToTheEnd(t, serveArguments(t.TempDir(), port)...)
	if !strings.Contains(message, fmt.Sprint(port)) {
		t.Errorf("the message does not name port %d: %s", port, message)
	}
}

func TestTakesTheEmulatorsArguments(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	check(t, listener.Close())
	t.Chdir(t.TempDir()) // for a data directory of its own choice
	s := startServer(t, "-host", "127.0.0.1", "-port", fmt.Sprint(port))
	expect(t, "address", s.address, fmt.Sprintf("127.0.0.1:%d", port))
	f := newFixtureAt(t, s.address, "i")
	table := f.createTable("t", "f")
	f.write(table, cell{"r", "f", "q", 1, "v"})
	expect(t, "rows", f.readAll(table), `r f:q @1 "v"`)
	s.stop()
}

func TestAnswersHealthAndReflection(t *testing.T) {
	binary(t)
	f := newFixture(t)
	connection, err := grpc.NewClient(os.Getenv("BIGTABLE_EMULATOR_HOST"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(t, err)
	defer connection.Close()
	health, err := healthpb.NewHealthClient(connection).Check(f.ctx, &healthpb.HealthCheckRequest{})
	check(t, err)
	if health.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("got %v", health.Status)
	}
	for service, want := range map[string]healthpb.HealthCheckResponse_ServingStatus{
		"": healthpb.HealthCheckResponse_SERVING, "google.bigtable.v2.Bigtable": healthpb.HealthCheckResponse_SERVING,
		"nobody": healthpb.HealthCheckResponse_SERVICE_UNKNOWN} {
		request := &healthpb.HealthCheckRequest{Service: service}
		_, err := healthpb.NewHealthClient(connection).Check(f.ctx, request)
		if isUnknown := want == healthpb.HealthCheckResponse_SERVICE_UNKNOWN; (status.Code(err) == codes.NotFound) != isUnknown ||
			(err == nil) == isUnknown {
			t.Errorf("%q: got %v", service, err)
		}
		watch, err := healthpb.NewHealthClient(connection).Watch(f.ctx, request)
		check(t, err)
		health, err := watch.Recv()
		check(t, err)
		if health.Status != want {
			t.Errorf("%q: got %v", service, health.Status)
		}
	}
	newer, err := reflectionv1pb.NewServerReflectionClient(connection).ServerReflectionInfo(f.ctx)
	check(t, err)
	for _, symbol := range []string{"google.bigtable.v2.Bigtable", "google.longrunning.Operations"} {
		check(t, newer.Send(&reflectionv1pb.ServerReflectionRequest{
			MessageRequest: &reflectionv1pb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol}}))
		answer, err := newer.Recv()
		check(t, err)
		if files := answer.GetFileDescriptorResponse().GetFileDescriptorProto(); len(files) < 5 {
			t.Errorf("%s: got %d files, %v", symbol, len(files), answer.GetErrorResponse())
		}
	}
	check(t, newer.CloseSend())
	if _, err := newer.Recv(); err != io.EOF {
		t.Errorf("got %v", err)
	}
	stream, err := reflectionpb.NewServerReflectionClient(connection).ServerReflectionInfo(f.ctx)
	check(t, err)
	check(t, stream.Send(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}))
	answer, err := stream.Recv()
	check(t, err)
	var services []string
	for _, service := range answer.GetListServicesResponse().GetService() {
		services = append(services, service.Name)
	}
	for _, want := range []string{"google.bigtable.v2.Bigtable", "google.bigtable.admin.v2.BigtableTableAdmin"} {
		if !strings.Contains(strings.Join(services, " "), want) {
			t.Errorf("%s is not among %v", want, services)
		}
	}
}
