package conformance

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	adminpb "cloud.google.com/go/bigtable/admin/apiv2/adminpb"
	btpb "cloud.google.com/go/bigtable/apiv2/bigtablepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const (
	testTimeout     = 2 * time.Minute
	messageBytesMax = 256 << 20 // what the wrapper allows, too
)

func TestMain(m *testing.M) {
	if os.Getenv("BIGTABLE_EMULATOR_HOST") == "" {
		fmt.Fprintln(os.Stderr, "BIGTABLE_EMULATOR_HOST is not set: run tests/conformance/run go SONDE")
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// A fixture is one instance of the server under test, with the client's wrapper and the generated stubs.
type fixture struct {
	t        *testing.T
	ctx      context.Context
	instance string // its id
	admin    *bigtable.AdminClient
	client   *bigtable.Client
	data     btpb.BigtableClient
	tables   adminpb.BigtableTableAdminClient
	// Of views and of the instance itself.
	instances adminpb.BigtableInstanceAdminClient
}

var instanceCount atomic.Int64

func newFixture(t *testing.T) *fixture {
	t.Helper()
	instance := fmt.Sprintf("i%d-%d", time.Now().UnixNano(), instanceCount.Add(1))
	return newFixtureAt(t, os.Getenv("BIGTABLE_EMULATOR_HOST"), instance)
}

func newFixtureAt(t *testing.T, address, instance string) *fixture {
	t.Helper()
	t.Setenv("BIGTABLE_EMULATOR_HOST", address)
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	admin, err := bigtable.NewAdminClient(ctx, "conformance", instance)
	check(t, err)
	config := bigtable.ClientConfig{MetricsProvider: bigtable.NoopMetricsProvider{}}
	client, err := bigtable.NewClientWithConfig(ctx, "conformance", instance, config)
	check(t, err)
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax)))
	check(t, err)
	t.Cleanup(func() {
		_ = client.Close()
		_ = admin.Close()
		_ = connection.Close()
		cancel()
	})
	return &fixture{t: t, ctx: ctx, instance: instance, admin: admin, client: client,
		data: btpb.NewBigtableClient(connection), tables: adminpb.NewBigtableTableAdminClient(connection),
		instances: adminpb.NewBigtableInstanceAdminClient(connection)}
}

func (f *fixture) instanceName() string { return "projects/conformance/instances/" + f.instance }

func (f *fixture) tableName(id string) string { return f.instanceName() + "/tables/" + id }

// createTable makes a table of families that keep everything.
func (f *fixture) createTable(id string, families ...string) *bigtable.Table {
	f.t.Helper()
	conf := &bigtable.TableConf{TableID: id, Families: map[string]bigtable.GCPolicy{}}
	for _, family := range families {
		conf.Families[family] = bigtable.NoGcPolicy()
	}
	check(f.t, f.admin.CreateTableFromConf(f.ctx, conf))
	return f.client.Open(id)
}

// A cell to write; ms is its timestamp in milliseconds.
type cell struct {
	row, family, qualifier string
	ms                     int64
	value                  string
}

func (f *fixture) write(table *bigtable.Table, cells ...cell) {
	f.t.Helper()
	for _, c := range cells {
		mutation := bigtable.NewMutation()
		mutation.Set(c.family, c.qualifier, bigtable.Timestamp(c.ms*1000), []byte(c.value))
		check(f.t, table.Apply(f.ctx, c.row, mutation))
	}
}

// read renders what a read returns, one line a cell: row family:qualifier @ms "value" [labels].
func (f *fixture) read(table *bigtable.Table, set bigtable.RowSet, options ...bigtable.ReadOption) string {
	f.t.Helper()
	var text strings.Builder
	err := table.ReadRows(f.ctx, set, func(row bigtable.Row) bool {
		text.WriteString(render(row))
		return true
	}, options...)
	check(f.t, err)
	return text.String()
}

func (f *fixture) readAll(table *bigtable.Table, options ...bigtable.ReadOption) string {
	f.t.Helper()
	return f.read(table, bigtable.InfiniteRange(""), options...)
}

// render keeps the server's order of the cells in a family.
func render(row bigtable.Row) string {
	var families []string
	for family := range row {
		families = append(families, family)
	}
	sort.Strings(families)
	var text strings.Builder
	for _, family := range families {
		for _, item := range row[family] {
			fmt.Fprintf(&text, "%s %s @%d %q", item.Row, item.Column, int64(item.Timestamp)/1000, item.Value)
			if len(item.Labels) > 0 {
				fmt.Fprintf(&text, " %v", item.Labels)
			}
			text.WriteString("\n")
		}
	}
	return text.String()
}

// keys reads the row keys only, separated by blanks.
func (f *fixture) keys(table *bigtable.Table, set bigtable.RowSet, options ...bigtable.ReadOption) string {
	f.t.Helper()
	var keys []string
	err := table.ReadRows(f.ctx, set, func(row bigtable.Row) bool {
		keys = append(keys, row.Key())
		return true
	}, options...)
	check(f.t, err)
	return strings.Join(keys, " ")
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	got, want = strings.TrimSpace(got), strings.TrimSpace(want)
	if got != want {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", what, got, want)
	}
}

// expectError wants `code`, and `text` somewhere in the message.
func expectError(t *testing.T, what string, err error, code codes.Code, text string) {
	t.Helper()
	if got := status.Code(err); got != code {
		t.Errorf("%s: got %v (%v), want %v", what, got, err, code)
		return
	}
	if !strings.Contains(status.Convert(err).Message(), text) {
		t.Errorf("%s: the message %q does not hold %q", what, status.Convert(err).Message(), text)
	}
}
