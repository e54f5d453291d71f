package conformance

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigtable"
	"github.com/anishathalye/porcupine"
)

var (
	workTime    = flag.Duration("linearizability.time", 4*time.Second, "how long clients work, for each durability")
	killEvery   = flag.Duration("linearizability.kill-every", time.Second, "the mean time between kills of the server; 0: never")
	fault       = flag.String("linearizability.fault", "", "a program that harms a cluster's store, run in place of three kills in four")
	late        = flag.Bool("linearizability.late", false, "a call without an answer may be carried out later, as where links of a store are cut")
	clientCount = flag.Int("linearizability.clients", 16, "clients at once")
	rowCount    = flag.Int("linearizability.rows", 8, "rows at once; fewer make what is unknown slow to check")
	seed        = flag.Int64("linearizability.seed", 0, "what the clients do; 0 takes a new one")
	reports     = flag.String("linearizability.reports", os.TempDir(), "where a history that is not linearizable is drawn")
)

const (
	// Then the clients go on to other rows, after a kill earlier: what is unknown of a row makes it slow to check.
	operationsPerRow          = 400
	operationsPerRowAfterKill = 100
	callTimeout               = 20 * time.Second
	// HBase opens the regions of a lost server again within a minute, on a busy machine within several; a server waits for two.
	harmedCallTimeout = 5 * time.Minute
	checkTimeout      = 2 * time.Minute
	lateMax           = 24 * time.Hour // longer than any trial's row is in use
	finalReadAttempts = 50
	finalReadPause    = 20 * time.Millisecond
	// A run below these judges too little.
	operationsPerSecondMin        = 100
	clusterOperationsPerSecondMin = 20
	// Where servers of the store are killed, rows wait for HBase's recovery most of the time.
	harmedOperationsPerSecondMin = 2
	overlapMin                   = 0.2
)

// epoch is a set of rows, and what was done to them.
type epoch struct {
	rows    []string
	limit   int // of operations
	mutex   sync.Mutex
	history map[string][]porcupine.Operation
	count   int
	users   int  // calls that are under way
	retired bool // no call will begin
}

// trial is one server, killed and started again, and its clients.
type trial struct {
	t     *testing.T
	table string
	start time.Time

	mutex  sync.Mutex
	epoch  *epoch
	epochs int

	losesAnswers bool // between servers and store
	callTimeout  time.Duration
	rateMin      float64 // operations a second

	over   atomic.Bool
	judged chan *epoch // retired, and without a call under way

	failure atomic.Pointer[string] // the first

	kinds                       [kindCount]atomic.Int64
	unknown, matched, unmatched atomic.Int64
	refused, known, overlapped  atomic.Int64
	longestCheck                time.Duration
	sample                      []porcupine.Operation // a legal history of a row, without unknowns
}

func (r *trial) fail(format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	r.failure.CompareAndSwap(nil, &text)
	r.over.Store(true)
}

func (r *trial) newEpoch() *epoch {
	e := &epoch{history: map[string][]porcupine.Operation{}, limit: operationsPerRow * *rowCount}
	for i := range *rowCount {
		e.rows = append(e.rows, fmt.Sprintf("row%d#%05d", i, r.epochs))
	}
	r.epochs++
	return e
}

// enter gives the epoch to work in until leave.
func (r *trial) enter() *epoch {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	e := r.epoch
	e.mutex.Lock()
	full := e.count >= e.limit
	if !full {
		e.users++
	}
	e.mutex.Unlock()
	if full {
		r.epoch = r.newEpoch()
		r.retire(e)
		r.epoch.users++
	}
	return r.epoch
}

// noteKill lets the epoch end earlier.
func (r *trial) noteKill() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.epoch.mutex.Lock()
	defer r.epoch.mutex.Unlock()
	r.epoch.limit = min(r.epoch.limit, r.epoch.count+operationsPerRowAfterKill**rowCount)
}

// workQuietly lets the clients work through one epoch without a kill, so that there is a history without unknowns.
func (r *trial) workQuietly() {
	count := func() int {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		return r.epochs
	}
	deadline := time.Now().Add(checkTimeout)
	for range 2 { // the epoch that saw the last kill, then its next
		r.noteKill()
		for before := count(); count() == before && time.Now().Before(deadline) && !r.over.Load(); {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func (r *trial) retire(e *epoch) {
	e.mutex.Lock()
	e.retired = true
	idle := e.users == 0
	e.mutex.Unlock()
	if idle {
		r.judged <- e
	}
}

func (r *trial) leave(e *epoch, events []porcupine.Operation) {
	e.mutex.Lock()
	e.add(events)
	e.users--
	idle := e.retired && e.users == 0
	e.mutex.Unlock()
	if idle {
		r.judged <- e
	}
}

func (e *epoch) add(events []porcupine.Operation) {
	for _, event := range events {
		row := event.Input.(operation).row
		e.history[row] = append(e.history[row], event)
	}
	e.count += len(events)
}

// judge checks epochs as they retire, each after a last look at its rows.
func (r *trial) judge(reader *historian) {
	for e := range r.judged {
		begun := time.Now()
		for attempt := 0; ; attempt++ {
			last := reader.read(e.rows, -1)
			if len(last) > 0 {
				e.add(last)
				break
			}
			tooLate := attempt >= finalReadAttempts && time.Since(begun) > r.callTimeout
			if tooLate || r.failure.Load() != nil {
				r.fail("the rows %v could not be read", e.rows)
				break
			}
			time.Sleep(finalReadPause)
		}
		for _, row := range e.rows {
			if r.failure.Load() == nil {
				r.judgeRow(row, e.history[row])
			}
		}
	}
}

func (r *trial) judgeRow(row string, history []porcupine.Operation) {
	start := time.Now()
	result := checkRow(history, checkTimeout)
	r.longestCheck = max(r.longestCheck, time.Since(start))
	if result != porcupine.Ok {
		known, _ := divide(history)
		_, information := porcupine.CheckOperationsVerbose(rowModel, known, checkTimeout)
		path := filepath.Join(*reports, fmt.Sprintf("linearizability-%s-%d.html", strings.ReplaceAll(row, "#", "-"), os.Getpid()))
		drawn := porcupine.VisualizePath(rowModel, information, path)
		r.fail("%s: %v (%d operations); what was answered of it is drawn in %s (%v)\n%s", row, result, len(history), path,
			drawn, whereItEnds(history, information))
		return
	}
	r.countOverlaps(history)
	if len(r.sample) < len(history) && !slices.ContainsFunc(history, isUnknown) {
		r.sample = history
	}
}

// whereItEnds tells the last of the longest order of a history that is possible, and what then cannot follow.
func whereItEnds(history []porcupine.Operation, information porcupine.LinearizationInfo) string {
	const shown = 12
	var longest []porcupine.Operation
	for _, orders := range information.PartialLinearizationsOperations() {
		for _, order := range orders {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	var text strings.Builder
	tell := func(event porcupine.Operation) {
		fmt.Fprintf(&text, "  client %d, %d to %d us: %s\n", event.ClientId, event.Call/1000, event.Return/1000,
			rowModel.DescribeOperation(event.Input, event.Output))
	}
	fmt.Fprintf(&text, "the last of %d in order:\n", len(longest))
	for _, event := range longest[max(0, len(longest)-shown):] {
		tell(event)
	}
	var rest []porcupine.Operation
	for _, event := range history {
		same := func(other porcupine.Operation) bool {
			return other.ClientId == event.ClientId && other.Call == event.Call
		}
		if !slices.ContainsFunc(longest, same) {
			rest = append(rest, event)
		}
	}
	sort.Slice(rest, func(i, j int) bool { return rest[i].Return < rest[j].Return })
	fmt.Fprintf(&text, "the first of %d that cannot follow:\n", len(rest))
	for _, event := range rest[:min(len(rest), shown)] {
		tell(event)
	}
	return text.String()
}

func isUnknown(event porcupine.Operation) bool { return event.Output.(answer).unknown }

func (r *trial) countOverlaps(history []porcupine.Operation) {
	known := slices.DeleteFunc(slices.Clone(history), isUnknown)
	sort.Slice(known, func(i, j int) bool { return known[i].Call < known[j].Call })
	var end int64
	for i, event := range known {
		if event.Call < end || i+1 < len(known) && known[i+1].Call < event.Return {
			r.overlapped.Add(1)
		}
		end = max(end, event.Return)
	}
	r.known.Add(int64(len(known)))
}

// TestLinearizable has many clients work on few rows while their server is killed and started again, and wants every
// row's history to be that of one row that does one thing at a time: what was acknowledged is there, what was not
// answered happened once or not at all.
//
// A longer run:
//
//	tests/conformance/run go SONDE -run TestLinearizable -v -timeout 0 -linearizability.time 1h
func TestLinearizable(t *testing.T) {
	binary(t)
	if *seed == 0 {
		*seed = time.Now().UnixNano()
	}
	for _, durability := range []string{"fsync", "os"} {
		t.Run(durability, func(t *testing.T) { linearizable(t, durability) })
	}
}

func linearizable(t *testing.T, durability string) {
	directory := t.TempDir()
	arguments := func(port string) []string {
		return []string{"serve", "--host", "127.0.0.1", "--port", port, "--data-dir", directory, "--durability", durability}
	}
	s := startServer(t, arguments("0")...)
	port := s.address[strings.LastIndex(s.address, ":")+1:]
	f := newFixtureAt(t, s.address, "linearizable")
	check(t, f.admin.CreateTableFromConf(f.ctx, &bigtable.TableConf{TableID: "t",
		Families: map[string]bigtable.GCPolicy{"f": bigtable.MaxVersionsPolicy(1)}}))

	r := newTrial(t, f.tableName("t"))
	finish := r.begin([]string{s.address})
	kills := 0
	random := rand.New(rand.NewSource(^*seed))
	for deadline := time.Now().Add(*workTime); time.Now().Before(deadline) && !r.over.Load(); {
		if *killEvery == 0 {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		time.Sleep(min(*killEvery/2+time.Duration(random.Int63n(int64(*killEvery))), time.Until(deadline)))
		s.kill()
		kills++
		r.noteKill()
		s = startServer(t, arguments(port)...)
	}
	r.workQuietly()
	worked := finish()
	s.stop()
	r.report(worked, kills)
	if unknownMax := int64(kills * (*clientCount + 1)); r.unknown.Load() > unknownMax {
		t.Errorf("%d calls had no answer, and %d kills explain %d", r.unknown.Load(), kills, unknownMax)
	}
}

func newTrial(t *testing.T, table string) *trial {
	r := &trial{t: t, table: table, start: time.Now(), judged: make(chan *epoch, 4),
		callTimeout: callTimeout, rateMin: operationsPerSecondMin}
	r.epoch = r.newEpoch()
	return r
}

// begin lets clients work, each with one of the servers; what it returns ends them, and tells how long they worked.
func (r *trial) begin(addresses []string) (finish func() time.Duration) {
	var workers, judge sync.WaitGroup
	reader := r.newHistorian(*clientCount, addresses[0], 0)
	judge.Go(func() { r.judge(reader) })
	for id := range *clientCount {
		h := r.newHistorian(id, addresses[id%len(addresses)], *seed+int64(id))
		workers.Go(h.work)
	}
	return func() time.Duration {
		r.over.Store(true)
		workers.Wait()
		worked := time.Since(r.start)
		r.retire(r.epoch)
		close(r.judged)
		judge.Wait()
		return worked
	}
}

// TestLinearizableCluster is TestLinearizable for two servers over one store, instead of one that is killed: their
// clocks are a second apart, and calls to the store and its answers are late or lost.
func TestLinearizableCluster(t *testing.T) {
	program := os.Getenv("SONDE_CLUSTER_SERVER")
	if program == "" {
		t.Skip("SONDE_CLUSTER_SERVER is not set")
	}
	if *seed == 0 {
		*seed = time.Now().UnixNano()
	}
	const table = "projects/conformance/instances/cluster/tables/t"
	servers := exec.Command(program, table, fmt.Sprint(uint64(*seed)))
	servers.Stderr = os.Stderr
	input, err := servers.StdinPipe()
	check(t, err)
	output, err := servers.StdoutPipe()
	check(t, err)
	check(t, servers.Start())
	t.Cleanup(func() { _ = servers.Process.Kill() })
	var addresses []string
	for lines := bufio.NewScanner(output); len(addresses) < 2 && lines.Scan(); {
		if address, found := strings.CutPrefix(lines.Text(), "sonde: listening on "); found {
			addresses = append(addresses, address)
		}
	}
	if len(addresses) != 2 {
		t.Fatal("the servers did not start")
	}

	defer func(tolerance int64) { clockToleranceMicros, timesAreOfRows = tolerance, true }(clockToleranceMicros)
	clockToleranceMicros, timesAreOfRows = 600_000, false
	r := newTrial(t, table)
	r.losesAnswers = true
	finish := r.begin(addresses)
	for deadline := time.Now().Add(*workTime); time.Now().Before(deadline) && !r.over.Load(); {
		time.Sleep(100 * time.Millisecond)
	}
	worked := finish()
	check(t, input.Close())
	check(t, servers.Wait())
	r.report(worked, 0)
	if r.unknown.Load() == 0 {
		t.Error("no call was lost")
	}
}

// TestLinearizableStore is TestLinearizable for two servers over one store in a cluster, which SONDE_STORE names (tests/hbase/client).  One
// of the two is killed now and then and started again, while the other goes on; or the program of -linearizability.fault kills
// something of the store's (tests/hbase/disturb).
func TestLinearizableStore(t *testing.T) {
	if os.Getenv("SONDE_STORE") == "" {
		t.Skip("SONDE_STORE is not set")
	}
	binary(t)
	if *seed == 0 {
		*seed = time.Now().UnixNano()
	}
	directories := []string{t.TempDir(), t.TempDir()}
	start := func(i int, port string) *server {
		return startServer(t, "serve", "--host", "127.0.0.1", "--port", port, "--http-port", "0", "--data-dir", directories[i],
			"--durability", "os")
	}
	servers := []*server{start(0, "0"), start(1, "0")}
	addresses := []string{servers[0].address, servers[1].address}
	f := newFixtureAt(t, addresses[0], "linearizable")
	check(t, f.admin.CreateTableFromConf(f.ctx, &bigtable.TableConf{TableID: "t",
		Families: map[string]bigtable.GCPolicy{"f": bigtable.MaxVersionsPolicy(1)}}))

	defer func() { timesAreOfRows = true }()
	timesAreOfRows = false
	r := newTrial(t, f.tableName("t"))
	r.losesAnswers, r.rateMin = true, clusterOperationsPerSecondMin
	if *fault != "" {
		r.callTimeout, r.rateMin = harmedCallTimeout, harmedOperationsPerSecondMin
	}
	finish := r.begin(addresses)
	kills, harms := 0, map[string]int{}
	random := rand.New(rand.NewSource(^*seed))
	for deadline := time.Now().Add(*workTime); time.Now().Before(deadline) && !r.over.Load(); {
		if *killEvery == 0 {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		time.Sleep(min(*killEvery/2+time.Duration(random.Int63n(int64(*killEvery))), time.Until(deadline)))
		if *fault != "" && random.Intn(4) != 0 {
			r.noteKill()
			harmed, err := exec.Command(*fault).Output()
			check(t, err)
			harms[strings.TrimSpace(string(harmed))]++
			continue
		}
		i := random.Intn(len(servers))
		servers[i].kill()
		kills++
		r.noteKill()
		servers[i] = start(i, addresses[i][strings.LastIndex(addresses[i], ":")+1:])
	}
	worked := finish()
	for _, s := range servers {
		s.stop()
	}
	if *fault != "" {
		t.Logf("killed of the store: %v", harms)
		if len(harms) == 0 {
			t.Error("nothing of the store was killed")
		}
	}
	r.report(worked, kills)
}

// report tells what was done, and fails if it is wrong or too little to judge by.
func (r *trial) report(worked time.Duration, kills int) {
	t := r.t
	t.Helper()
	var total int64
	for kind := range r.kinds {
		total += r.kinds[kind].Load()
	}
	overlap := float64(r.overlapped.Load()) / float64(max(r.known.Load(), 1))
	t.Logf("seed %d: %d operations in %v on %d rows (%d writes, %d checks of which %d matched, %d modifications of which "+
		"%d refused, %d reads), %d kills, %d calls without an answer, %.0f%% overlap another, longest check %v",
		*seed, total, worked.Round(time.Millisecond), r.epochs**rowCount, r.kinds[kindWrite].Load(),
		r.kinds[kindCheck].Load(), r.matched.Load(), r.kinds[kindModify].Load(), r.refused.Load(), r.kinds[kindRead].Load(),
		kills, r.unknown.Load(), 100*overlap, r.longestCheck.Round(time.Millisecond))
	if failure := r.failure.Load(); failure != nil {
		t.Fatal(*failure)
	}
	if float64(total) < r.rateMin*worked.Seconds() {
		t.Errorf("%d operations in %v are too few to judge by", total, worked)
	}
	if overlap < overlapMin {
		t.Errorf("%.0f%% of the operations overlap another on their row: too few to judge by", 100*overlap)
	}
	if r.matched.Load() == 0 || r.unmatched.Load() == 0 || r.refused.Load() == 0 {
		t.Errorf("%d checks matched, %d did not, %d modifications were refused: each should occur",
			r.matched.Load(), r.unmatched.Load(), r.refused.Load())
	}
	if !r.losesAnswers {
		refuseFalsified(t, r.sample)
	}
}

// refuseFalsified proves that the check bites: a history that was found right must be found wrong once it is falsified.
func refuseFalsified(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	for _, falsified := range []struct {
		name  string
		apply func([]porcupine.Operation) []porcupine.Operation // nil: there is no place for it
	}{
		{"two appends with each other's answer", swapAnswers},
		{"an append that was never made, though others saw it", forgetAppend},
		{"a read of what was overwritten before it began", readStale},
		{"a read of half a mutation", readHalf},
	} {
		changed := falsified.apply(slices.Clone(history))
		if changed == nil {
			t.Errorf("%s: the history of %d operations has no place for it", falsified.name, len(history))
		} else if got := porcupine.CheckOperationsTimeout(rowModel, changed, checkTimeout); got != porcupine.Illegal {
			t.Errorf("%s: got %v", falsified.name, got)
		}
	}
}

// textIn is what an answer shows of column t.
func textIn(event porcupine.Operation) string {
	for _, cell := range event.Output.(answer).cells {
		if cell.column == columnT {
			return cell.value
		}
	}
	return ""
}

func isAppend(event porcupine.Operation) bool {
	return event.Input.(operation).kind == kindModify && textIn(event) != ""
}

func isFullRead(event porcupine.Operation) bool {
	in := event.Input.(operation)
	return in.kind == kindRead && in.column < 0
}

func swapAnswers(history []porcupine.Operation) []porcupine.Operation {
	var appends []int
	for i, event := range history {
		if isAppend(event) && len(event.Output.(answer).cells) == 1 {
			appends = append(appends, i)
		}
	}
	if len(appends) < 2 {
		return nil
	}
	one, two := &history[appends[0]], &history[appends[len(appends)/2]]
	one.Output, two.Output = two.Output, one.Output
	return history
}

func forgetAppend(history []porcupine.Operation) []porcupine.Operation {
	for i, forgotten := range history {
		if !isAppend(forgotten) {
			continue
		}
		token := forgotten.Input.(operation).rules[0].append
		for j, other := range history {
			if j != i && strings.Contains(textIn(other), token) {
				return slices.Delete(history, i, i+1)
			}
		}
	}
	return nil
}

func readStale(history []porcupine.Operation) []porcupine.Operation {
	for _, early := range history {
		if !isFullRead(early) || textIn(early) == "" {
			continue
		}
		for _, between := range history {
			if !isAppend(between) || between.Call < early.Return {
				continue
			}
			for i, late := range history {
				if isFullRead(late) && late.Call > between.Return {
					history[i].Output = early.Output
					return history
				}
			}
		}
	}
	return nil
}

// readHalf takes column b out of a read that saw both columns of one write; no mutation deletes b alone.
func readHalf(history []porcupine.Operation) []porcupine.Operation {
	for i, event := range history {
		out := event.Output.(answer)
		if isFullRead(event) && len(out.cells) >= 2 && out.cells[0].column == columnA && out.cells[1].column == columnB &&
			out.cells[0].value == out.cells[1].value {
			out.cells = slices.Delete(slices.Clone(out.cells), 1, 2)
			history[i].Output = out
			return history
		}
	}
	return nil
}
