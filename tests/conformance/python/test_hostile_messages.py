"""Messages that no client sends: too large, compressed, no message at all.  A status answers, and the server goes on."""

import os

import grpc
import pytest
from google.cloud.bigtable_v2.types import bigtable as data

MUTATE_ROW = "/google.bigtable.v2.Bigtable/MutateRow"
READ_ROWS = "/google.bigtable.v2.Bigtable/ReadRows"
MESSAGE_BYTES_MAX = 256 * 1024 * 1024


@pytest.fixture
def channel():
    options = [("grpc.max_send_message_length", -1), ("grpc.enable_retries", 0)]
    with grpc.insecure_channel(os.environ["BIGTABLE_EMULATOR_HOST"], options=options) as channel:
        yield channel


def mutate_row(channel, request, **options):
    """The status of the call, and its details; `request` is bytes."""
    call = channel.unary_unary(MUTATE_ROW, request_serializer=bytes, response_deserializer=bytes)
    try:
        call(request, timeout=60, **options)
    except grpc.RpcError as error:
        return error.code(), error.details()
    return grpc.StatusCode.OK, ""


def set_cell(table, value):
    mutation = {"set_cell": {"family_name": "f", "column_qualifier": b"q", "timestamp_micros": 1000, "value": value}}
    request = data.MutateRowRequest(table_name=table.name, row_key=b"r", mutations=[mutation])
    return data.MutateRowRequest.serialize(request)


def test_over_the_limit(table, channel):
    code, details = mutate_row(channel, set_cell(table, b"x" * (MESSAGE_BYTES_MAX + 1)))
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(MESSAGE_BYTES_MAX) in details
    assert table.read_row(b"r") is None
    assert mutate_row(channel, set_cell(table, b"x"))[0] == grpc.StatusCode.OK


def test_under_the_limit_with_a_value_over_it(table, channel):
    code, details = mutate_row(channel, set_cell(table, b"x" * (100 * 1024 * 1024 + 1)))
    assert code == grpc.StatusCode.INVALID_ARGUMENT, details
    assert table.read_row(b"r") is None


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_compressed(table, channel, compression):
    code, _ = mutate_row(channel, set_cell(table, bytes(10 * 1024 * 1024)), compression=compression)
    assert code == grpc.StatusCode.UNIMPLEMENTED
    assert table.read_row(b"r") is None


@pytest.mark.parametrize("message", [b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x05abc"])
def test_that_are_none(table, channel, message):
    code, details = mutate_row(channel, message)
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert "MutateRowRequest" in details
    read = channel.unary_stream(READ_ROWS, request_serializer=bytes, response_deserializer=bytes)
    with pytest.raises(grpc.RpcError) as error:
        list(read(message, timeout=30))
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert mutate_row(channel, set_cell(table, b"x"))[0] == grpc.StatusCode.OK
