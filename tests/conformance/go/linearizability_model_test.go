package conformance

import (
	encoding "encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// What one row is and does, for porcupine: a family that keeps one version, all of whose cells get the server's time.

const (
	columnA = iota // text
	columnB        // text
	columnN        // a number
	columnT        // text that is appended to
	columnCount
)

var columnNames = [columnCount]string{"a", "b", "n", "t"}

// Ends each token: column t is a row of them.
const tokenEnd = ";"

// How far the server's clock may be off ours; both are the machine's, unless a trial says otherwise.
var clockToleranceMicros int64 = 2000

// Whether the server's time does not go back for a row; else it does not for a column, as long as it has a cell.
var timesAreOfRows = true

// A cell's timestamp is known only once it was seen: until then it is what the clock said between call and answer.
type modelCell struct {
	present   bool
	value     string
	low, high int64 // microseconds, both included
}

// modelRow also knows what the time was at least when it was last written: for a row, the server's does not go back.
type modelRow struct {
	cells [columnCount]modelCell
	last  int64
}

// rowChange is a mutation: of the whole row when column is negative.
type rowChange struct {
	column int
	delete bool
	value  string
}

type rule struct {
	column    int
	append    string
	increment int64 // when `append` is empty
}

type operationKind int

const (
	kindWrite  operationKind = iota // MutateRow, or an entry of MutateRows
	kindCheck                       // CheckAndMutateRow: does column `column` hold `value`?
	kindModify                      // ReadModifyWriteRow
	kindRead                        // ReadRows: all columns when `column` is negative
	kindCount
)

var kindNames = [kindCount]string{"write", "check", "modify", "read"}

type operation struct {
	kind      operationKind
	row       string
	token     string      // in what it writes, and in nothing that another writes
	changes   []rowChange // of a write; of a check that matches
	otherwise []rowChange // of a check that does not
	column    int
	value     string
	rules     []rule
	sent      int64 // microseconds of the wall clock
	written   int64 // the timestamp of what it wrote, where an answer tells; else 0
}

type seenCell struct {
	column int
	value  string
	micros int64
}

type answer struct {
	unknown  bool // no answer came: the operation happened until `received`, or never
	refused  bool // FAILED_PRECONDITION: an increment of what is no number
	matched  bool
	cells    []seenCell // by column
	received int64      // microseconds of the wall clock
}

// put writes a cell, at a time that lies between call and answer; false when the row's time has gone past the answer.
func (row *modelRow) put(column int, value string, in operation, out answer) bool {
	before := row.last
	if !timesAreOfRows {
		before = row.cells[column].low
	}
	low, high := max(in.sent/1000*1000-clockToleranceMicros, before), out.received+clockToleranceMicros
	if in.written != 0 {
		if in.written < low || in.written > high {
			return false
		}
		low, high = in.written, in.written
	}
	row.cells[column] = modelCell{present: true, value: value, low: low, high: high}
	row.last = low
	return low <= high
}

func (row *modelRow) apply(changes []rowChange, in operation, out answer) bool {
	for _, change := range changes {
		switch {
		case change.delete && change.column < 0:
			row.cells = [columnCount]modelCell{}
		case change.delete:
			row.cells[change.column] = modelCell{}
		case !row.put(change.column, change.value, in, out):
			return false
		}
	}
	return true
}

// modify applies the rules; `refused` when one of them increments what is no number.
func (row *modelRow) modify(in operation, out answer) (possible, refused bool) {
	for _, rule := range in.rules {
		value := row.cells[rule.column].value + rule.append
		if rule.append == "" {
			var number uint64
			if row.cells[rule.column].present {
				if len(value) != 8 {
					return true, true
				}
				number = encoding.BigEndian.Uint64([]byte(value))
			}
			value = string(encoding.BigEndian.AppendUint64(nil, number+uint64(rule.increment)))
		}
		if !row.put(rule.column, value, in, out) {
			return false, false
		}
	}
	return true, false
}

// see holds the cells that an answer shows to those of the row in `columns`, and takes over their timestamps.
func (row *modelRow) see(cells []seenCell, columns [columnCount]bool) bool {
	for column := range row.cells {
		cell := &row.cells[column]
		if !columns[column] || !cell.present {
			continue
		}
		if len(cells) == 0 || cells[0].column != column || cells[0].value != cell.value ||
			cells[0].micros < cell.low || cells[0].micros > cell.high {
			return false
		}
		cell.low, cell.high = cells[0].micros, cells[0].micros
		row.last = max(row.last, cell.low)
		cells = cells[1:]
	}
	return len(cells) == 0
}

// step is what the operation makes of the row; false when it would not have answered so.
func (row modelRow) step(in operation, out answer) (modelRow, bool) {
	switch in.kind {
	case kindWrite:
		possible := row.apply(in.changes, in, out)
		return row, possible
	case kindCheck:
		matched := row.cells[in.column].present && row.cells[in.column].value == in.value
		changes := in.otherwise
		if matched {
			changes = in.changes
		}
		possible := row.apply(changes, in, out)
		return row, possible && (out.unknown || out.matched == matched)
	case kindModify:
		after := row
		possible, refused := after.modify(in, out)
		if refused {
			return row, out.unknown || out.refused
		}
		if out.unknown {
			return after, possible
		}
		var written [columnCount]bool
		for _, rule := range in.rules {
			written[rule.column] = true
		}
		return after, possible && !out.refused && after.see(out.cells, written)
	default:
		var asked [columnCount]bool
		for column := range asked {
			asked[column] = in.column < 0 || in.column == column
		}
		possible := row.see(out.cells, asked)
		return row, possible
	}
}

func (in operation) describe(out answer) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s", kindNames[in.kind], in.row)
	mutations := func(changes []rowChange) {
		for _, change := range changes {
			switch {
			case change.delete && change.column < 0:
				text.WriteString(" -row")
			case change.delete:
				fmt.Fprintf(&text, " -%s", columnNames[change.column])
			default:
				fmt.Fprintf(&text, " %s=%q", columnNames[change.column], change.value)
			}
		}
	}
	switch in.kind {
	case kindCheck:
		fmt.Fprintf(&text, " %s==%q?", columnNames[in.column], in.value)
		mutations(in.changes)
		text.WriteString(" else")
		mutations(in.otherwise)
	case kindModify:
		for _, rule := range in.rules {
			fmt.Fprintf(&text, " %s+=%q%+d", columnNames[rule.column], rule.append, rule.increment)
		}
	default:
		mutations(in.changes)
	}
	switch {
	case out.unknown:
		return text.String() + " -> unknown"
	case out.refused:
		return text.String() + " -> refused"
	case in.kind == kindCheck:
		fmt.Fprintf(&text, " -> %v", out.matched)
	}
	for _, cell := range out.cells {
		fmt.Fprintf(&text, " %s@%d=%q", columnNames[cell.column], cell.micros, cell.value)
	}
	return text.String()
}

var hashSeed = maphash.MakeSeed()

// One row, on which every operation of the history happened.
var rowModel = porcupine.Model{
	Init: func() any { return modelRow{} },
	Step: func(state, in, out any) (bool, any) {
		after, possible := state.(modelRow).step(in.(operation), out.(answer))
		return possible, after
	},
	Equal:             func(one, two any) bool { return one.(modelRow) == two.(modelRow) },
	Hash:              func(state any) uint64 { return maphash.Comparable(hashSeed, state.(modelRow)) },
	DescribeOperation: func(in, out any) string { return in.(operation).describe(out.(answer)) },
	DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
}

// divide tells the operations that happened, with the timestamps of what they wrote, from those that no answer came for
// and whose token nobody saw.
func divide(history []porcupine.Operation) (happened, open []porcupine.Operation) {
	seen := map[string]int64{} // tokens, and the timestamps of the cells that end with them
	for _, event := range history {
		for _, cell := range event.Output.(answer).cells {
			tokens := strings.SplitAfter(cell.value, tokenEnd)
			for i, token := range tokens {
				if i == len(tokens)-2 { // the last is empty
					seen[token] = cell.micros
				} else if _, known := seen[token]; !known {
					seen[token] = 0
				}
			}
		}
	}
	for _, event := range history {
		in, out := event.Input.(operation), event.Output.(answer)
		micros, known := seen[in.token]
		in.written = micros
		if in.kind == kindModify && len(out.cells) > 0 {
			in.written = out.cells[0].micros
		}
		if in.kind == kindModify && !timesAreOfRows {
			in.written = 0 // each column has its own
		}
		event.Input = in
		if out.unknown && !known {
			open = append(open, event)
		} else {
			happened = append(happened, event)
		}
	}
	return happened, open
}

// checkRow finds out whether a row's history is linearizable for some choice of what happened among the operations that
// no answer came for.  Those whose token somebody saw did; of the others hardly any, so few are tried first.
func checkRow(history []porcupine.Operation, timeout time.Duration) porcupine.CheckResult {
	deadline := time.Now().Add(timeout)
	happened, open := divide(history)
	// try adds `count` of open[from:] to what happened.
	var try func(events []porcupine.Operation, from, count int) porcupine.CheckResult
	try = func(events []porcupine.Operation, from, count int) porcupine.CheckResult {
		if count == 0 {
			return porcupine.CheckOperationsTimeout(rowModel, events, max(time.Until(deadline), time.Nanosecond))
		}
		for i := from; i <= len(open)-count; i++ {
			if result := try(append(slices.Clip(events), open[i]), i+1, count-1); result != porcupine.Illegal {
				return result
			}
		}
		return porcupine.Illegal
	}
	for count := 0; count <= len(open); count++ {
		if result := try(happened, 0, count); result != porcupine.Illegal {
			return result
		}
	}
	return porcupine.Illegal
}

// Small histories by hand: what a right server may answer, and what servers with well-known faults do.
func TestLinearizabilityModel(t *testing.T) {
	at := func(call, end int64, in operation, out answer) porcupine.Operation {
		in.row, in.sent, out.received = "r", call*1000, end*1000
		return porcupine.Operation{Input: in, Call: call, Output: out, Return: end}
	}
	number := func(value byte) string { return "\x00\x00\x00\x00\x00\x00\x00" + string(rune(value)) }
	put := func(value string) operation {
		return operation{kind: kindWrite, changes: []rowChange{{column: columnA, value: value}, {column: columnB, value: value}}}
	}
	drop := operation{kind: kindWrite, changes: []rowChange{{column: -1, delete: true}}}
	add := operation{kind: kindModify, rules: []rule{{column: columnN, increment: 1}}}
	text := func(part string) operation {
		return operation{kind: kindModify, rules: []rule{{column: columnT, append: part}}}
	}
	claim := func(value string) operation {
		return operation{kind: kindCheck, column: columnA, value: "free", changes: []rowChange{{column: columnA, value: value}}}
	}
	read := operation{kind: kindRead, column: -1}
	see := func(cells ...seenCell) answer { return answer{cells: cells} }
	done, lost := answer{}, answer{unknown: true}
	ab := func(value string, ms int64) answer {
		return see(seenCell{columnA, value, ms * 1000}, seenCell{columnB, value, ms * 1000})
	}

	for _, test := range []struct {
		name  string
		legal bool
		ops   []porcupine.Operation
	}{
		{"one after the other", true, []porcupine.Operation{
			at(1, 2, put("x"), done), at(3, 4, read, ab("x", 1)), at(5, 6, drop, done), at(7, 8, read, see())}},
		{"a read beside a write sees either", true, []porcupine.Operation{
			at(1, 9, put("x"), done), at(2, 3, read, see()), at(4, 5, read, ab("x", 2))}},
		{"an unknown write that happened", true, []porcupine.Operation{
			at(1, 5, put("x"), lost), at(2, 3, read, see()), at(6, 7, read, ab("x", 4))}},
		{"an unknown write that did not", true, []porcupine.Operation{
			at(1, 5, put("x"), lost), at(6, 7, read, see())}},
		{"an increment of a text is refused, and nothing is applied", true, []porcupine.Operation{
			at(1, 2, put("x"), done),
			at(3, 4, operation{kind: kindModify, rules: []rule{{column: columnT, append: "y"}, {column: columnA, increment: 1}}},
				answer{refused: true}),
			at(5, 6, read, ab("x", 1))}},

		{"an acknowledged write is lost", false, []porcupine.Operation{
			at(1, 2, put("x"), done), at(3, 4, read, see())}},
		{"a stale read", false, []porcupine.Operation{
			at(1, 2, put("x"), done), at(3, 4, put("y"), done), at(5, 6, read, ab("x", 1))}},
		{"reads that go back", false, []porcupine.Operation{
			at(1, 9, put("x"), done), at(2, 3, read, ab("x", 2)), at(4, 5, read, see())}},
		{"half a mutation", false, []porcupine.Operation{
			at(1, 2, put("x"), done), at(3, 4, read, see(seenCell{columnA, "x", 1000}))}},
		{"a deleted row comes back", false, []porcupine.Operation{
			at(1, 2, put("x"), done), at(3, 4, drop, done), at(5, 6, read, see()), at(7, 8, read, ab("x", 1))}},
		{"two increments count as one", false, []porcupine.Operation{
			at(1, 8, add, see(seenCell{columnN, number(1), 2000})), at(2, 9, add, see(seenCell{columnN, number(1), 2000}))}},
		{"an append is applied twice", false, []porcupine.Operation{
			at(1, 2, text("x"), see(seenCell{columnT, "x", 1000})),
			at(3, 4, operation{kind: kindRead, column: columnT}, see(seenCell{columnT, "xx", 1000}))}},
		{"two claims win", false, []porcupine.Operation{
			at(1, 2, put("free"), done), at(3, 8, claim("one"), answer{matched: true}),
			at(4, 9, claim("two"), answer{matched: true})}},
		{"an unknown write happens and goes away", false, []porcupine.Operation{
			at(1, 2, put("x"), lost), at(3, 4, read, ab("x", 2)), at(5, 6, read, see())}},
		{"an unknown write happens later", false, []porcupine.Operation{
			at(1, 2, put("x"), lost), at(13, 14, read, see()), at(15, 16, read, ab("x", 1))}},
		{"a refusal that applied a part", false, []porcupine.Operation{
			at(1, 2, put("x"), done),
			at(3, 4, operation{kind: kindModify, rules: []rule{{column: columnT, append: "y"}, {column: columnA, increment: 1}}},
				answer{refused: true}),
			at(5, 6, operation{kind: kindRead, column: columnT}, see(seenCell{columnT, "y", 3000}))}},
		{"a timestamp before the call", false, []porcupine.Operation{
			at(100, 101, put("x"), done), at(102, 103, read, ab("x", 90))}},
		{"a timestamp after the answer", false, []porcupine.Operation{
			at(100, 101, put("x"), done), at(102, 103, read, ab("x", 110))}},
		{"a timestamp that changes", false, []porcupine.Operation{
			at(100, 105, put("x"), done), at(106, 107, read, ab("x", 102)), at(108, 109, read, ab("x", 103))}},
		{"timestamps that go back", false, []porcupine.Operation{
			at(100, 109, add, see(seenCell{columnN, number(1), 105_000})),
			at(110, 111, add, see(seenCell{columnN, number(2), 104_000}))}},
	} {
		want := porcupine.Illegal
		if test.legal {
			want = porcupine.Ok
		}
		if got := checkRow(test.ops, time.Minute); got != want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}
