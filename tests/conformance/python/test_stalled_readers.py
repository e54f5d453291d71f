"""Readers that take nothing: each holds a bounded amount of the server's memory, and others do not wait for them.

The raw stub, because a client library reads on by itself.  The server's memory is read from /proc, so that these are
skipped for a server that somebody else started, and for one with a sanitizer.
"""

import os
import pathlib
import time

import grpc
import pytest
from google.cloud.bigtable_v2.types import bigtable as data
from google.cloud.bigtable_v2.types import data as cells
from google.rpc import error_details_pb2, status_pb2

READERS = 1000
BYTES_A_READER_MAX = 64 * 1024
SERVER_MEMORY_BYTES = 640 * 1024 * 1024  # as tests/conformance/run starts it
READS_BYTES = SERVER_MEMORY_BYTES // 4
ROOM_BYTES = SERVER_MEMORY_BYTES
LARGE_ROW_BYTES = 20 * 1024 * 1024
LARGE_ROW_CELLS = 2
SETTLE_SECONDS = 12  # after ten, the allocator has given back what it does not need
WAIT_SECONDS_MAX = 60  # on a machine with other things to do that takes longer
PREFIX = "/google.bigtable.v2.Bigtable/"


@pytest.fixture
def server_memory():
    pid = os.environ.get("SONDE_SERVER_PID")
    if not pid:
        pytest.skip("SONDE_SERVER_PID is not set: the server is not ours")
    if any(name in pathlib.Path(f"/proc/{pid}/maps").read_text() for name in ("libasan", "libtsan")):
        pytest.skip("the server is built with a sanitizer, which takes memory of its own")
    status = pathlib.Path(f"/proc/{pid}/status")

    def read():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    return read


@pytest.fixture
def make_channel():
    channels = []

    def make():
        # Without probes a stream's window stays small: who does not read takes 64 KiB and no more.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0), ("grpc.http2.bdp_probe", 0)]
        channels.append(grpc.insecure_channel(os.environ["BIGTABLE_EMULATOR_HOST"], options=options))
        return channels[-1]

    yield make
    for channel in channels:
        channel.close()


def read_rows(channel):
    return channel.unary_stream(
        PREFIX + "ReadRows",
        request_serializer=data.ReadRowsRequest.serialize,
        response_deserializer=data.ReadRowsResponse.deserialize,
    )


def fill(table, rows, value_bytes):
    batch = []
    for i in range(rows):
        row = table.direct_row(f"row{i:06}")
        row.set_cell("f", "q", os.urandom(value_bytes // 2).hex())
        batch.append(row)
    assert all(status.code == 0 for status in table.mutate_rows(batch))


def assert_busy(call):
    """That the server has refused the call for now: UNAVAILABLE, and when to come back."""
    assert call.code() == grpc.StatusCode.UNAVAILABLE, call.details()
    assert "The server is busy" in call.details()
    details = status_pb2.Status.FromString(dict(call.trailing_metadata())["grpc-status-details-bin"])
    retry = error_details_pb2.RetryInfo()
    assert details.details[0].Unpack(retry)
    assert retry.retry_delay.ToTimedelta().total_seconds() > 0


def messages_of(call, request):
    """All messages of a read.  A server that neighbours on the machine slow down refuses some reads: they ask again."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        reader = call(request, timeout=30)
        try:
            return list(reader)
        except grpc.RpcError:
            assert_busy(reader)
            assert time.monotonic() < deadline, reader.details()
            time.sleep(0.1)


def stall(call, request, count):
    """Readers that have been let in, and take nothing.  Those that are refused for now ask again."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    stalled = []
    while len(stalled) < count:
        assert time.monotonic() < deadline
        asked = [call(request, timeout=300) for _ in range(count - len(stalled))]
        for reader in asked:
            reader.initial_metadata()  # comes with the first message, or before the end of one that is refused
        time.sleep(1)
        for reader in asked:
            if reader.is_active():
                stalled.append(reader)
            else:
                assert_busy(reader)
    return stalled


def point_read_millis(channel, name, reads):
    """The times of point reads, sorted; that of a read which was refused for now lasts until it was answered."""
    request = data.ReadRowsRequest(table_name=name, rows=cells.RowSet(row_keys=[b"row000000"]))
    call = read_rows(channel)
    times = []
    for _ in range(reads):
        start = time.monotonic()
        assert len(messages_of(call, request)) == 1
        times.append((time.monotonic() - start) * 1000)
    return sorted(times)


def wait_until_at_most(limit, read):
    """The first reading that is not above the limit, or the last one."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while (value := read()) > limit and time.monotonic() < deadline:
        time.sleep(1)
    return value


def test_hold_little_and_hold_up_nobody(table, make_channel, server_memory):
    fill(table, rows=2000, value_bytes=2000)
    other = make_channel()
    point_read_millis(other, table.name, 200)  # warm
    before = point_read_millis(other, table.name, 1000)
    time.sleep(SETTLE_SECONDS)  # what the tests before took must not count for these
    memory_before = server_memory()
    stalled = stall(read_rows(make_channel()), data.ReadRowsRequest(table_name=table.name), READERS)
    time.sleep(SETTLE_SECONDS)
    grown = wait_until_at_most(READERS * BYTES_A_READER_MAX, lambda: server_memory() - memory_before)
    # Neighbours on the machine only ever add to a time: the readers' part is in the best of a few.
    during = min((point_read_millis(other, table.name, 1000) for _ in range(3)), key=lambda times: times[990])
    print(f"{grown / READERS / 1024:.1f} KiB a stalled reader; point reads: p50 {before[500]:.2f} -> "
          f"{during[500]:.2f} ms, p99 {before[990]:.2f} -> {during[990]:.2f} ms")
    # They are served, not refused: each goes on where it stopped.
    assert sum(len(message.chunks) for message in stalled[0]) == 2000
    for reader in stalled:
        reader.cancel()
    assert grown <= READERS * BYTES_A_READER_MAX
    assert during[500] <= 2 * before[500] + 1
    assert during[990] <= max(2 * before[990], before[990] + 20)


def test_are_refused_when_there_are_too_many_and_leave_their_room_when_they_go(table, make_channel, server_memory):
    fill(table, rows=2000, value_bytes=2000)
    readers_max = READS_BYTES // BYTES_A_READER_MAX
    for _ in range(2):
        call = read_rows(make_channel())
        readers = [call(data.ReadRowsRequest(table_name=table.name), timeout=300) for _ in range(readers_max + 100)]
        # Any of them: they need not come in the order in which they were sent.
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while True:
            refused = [reader for reader in readers if not reader.is_active()]
            # Others may have waited for too long.
            too_many = [reader for reader in refused if "reads" in reader.details() and "limit" in reader.details()]
            if len(too_many) >= 90 or time.monotonic() > deadline:  # some may come when others have left
                break
            time.sleep(0.1)
        assert len(too_many) >= 90
        for reader in refused:
            assert_busy(reader)
        for reader in readers:
            reader.cancel()
        point_read_millis(make_channel(), table.name, 1)  # the server hears of the cancellations in a moment


def test_of_a_large_row_are_let_in_as_long_as_there_is_room_for_it(table, make_channel, server_memory):
    row = table.direct_row(b"large")
    for i in range(LARGE_ROW_CELLS):
        row.set_cell("f", f"q{i}", os.urandom(LARGE_ROW_BYTES // LARGE_ROW_CELLS // 2).hex())
    row.commit()
    time.sleep(SETTLE_SECONDS)
    memory_before = server_memory()
    readers = []
    for _ in range(ROOM_BYTES // LARGE_ROW_BYTES):
        call = read_rows(make_channel())
        readers.append(call(data.ReadRowsRequest(table_name=table.name), timeout=300))
        time.sleep(0.2)
    # Who finds no room in time is refused; and while others wait, who takes nothing of a row for long is cut off.
    refusal_deadline = time.monotonic() + WAIT_SECONDS_MAX
    refused = []
    while not refused:
        assert time.monotonic() < refusal_deadline
        time.sleep(0.1)
        ended = [reader for reader in readers if not reader.is_active()]
        assert {reader.code() for reader in ended} <= {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL}
        refused = [reader for reader in ended if reader.code() == grpc.StatusCode.UNAVAILABLE]
    details = status_pb2.Status.FromString(dict(refused[0].trailing_metadata())["grpc-status-details-bin"])
    assert details.details[0].Is(error_details_pb2.RetryInfo.DESCRIPTOR)
    grown = server_memory() - memory_before
    active = sum(reader.is_active() for reader in readers)
    print(f"{active} readers of a row of {LARGE_ROW_BYTES >> 20} MiB hold {grown >> 20} MiB")
    for reader in readers:
        reader.cancel()
    assert active > 0
    assert grown <= ROOM_BYTES


def test_end_with_their_deadline(table, make_channel, server_memory):
    fill(table, rows=2000, value_bytes=2000)
    call = read_rows(make_channel())
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    ended = 0
    while ended < 300:
        assert time.monotonic() < deadline
        readers = [call(data.ReadRowsRequest(table_name=table.name), timeout=0.5) for _ in range(300 - ended)]
        start = time.monotonic()
        for reader in readers:
            if reader.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                ended += 1
            else:  # refused for now, which is no end of a reader: it asks again
                assert_busy(reader)
        assert time.monotonic() - start < 10
    assert len(messages_of(call, data.ReadRowsRequest(table_name=table.name, rows_limit=1))) == 1


def test_may_ask_whether_the_server_is_there(table):
    """As official clients do, every 10 or 30 seconds; without leave, the third time ends the connection."""
    fill(table, rows=2000, value_bytes=2000)
    options = [
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_retries", 0),
        ("grpc.keepalive_time_ms", 6000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.bdp_probe", 0),  # so that the server has not sent everything before
    ]
    with grpc.insecure_channel(os.environ["BIGTABLE_EMULATOR_HOST"], options=options) as channel:
        reader = read_rows(channel)(data.ReadRowsRequest(table_name=table.name), timeout=300)
        time.sleep(40)
        assert sum(len(message.chunks) for message in reader) == 2000
