"""A client of HTTP/2 and gRPC that does what it is told and nothing by itself: frames by hand, on a socket.

Headers are sent as literals without an index, but for `indexed_header`.  Those that come are not decoded: whether a call was answered is seen by whether a message
came.
"""

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
INITIAL_WINDOW_SIZE = 4
DATA_BYTES_MAX = 16_384  # of a frame
FIRST_WINDOW_BYTES = 65_535


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def integer(value, prefix_bits):
    """As HPACK writes it, behind the bits of its first byte, which are zero."""
    most = (1 << prefix_bits) - 1
    if value < most:
        return bytes([value])
    value -= most
    out = [most]
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes(out + [value])


def header(name, value):
    name, value = name.encode(), value.encode()
    return b"\0" + integer(len(name), 7) + name + integer(len(value), 7) + value


def indexed_header(name, value):
    """Which the receiver puts into its table."""
    return b"\x40" + header(name, value)[1:]


FIRST_OF_TABLE = bytes([0x80 | 62])  # the newest entry of HPACK's dynamic table, as a reference


def header_table_bomb(path, requests, references=15_000, value="y" * 4000, in_trailers=False):
    """Frames: one entry that fills the table, and requests, or their trailers, of references to it: 60 MB of headers in 15 kB."""
    head = request_headers(path)
    yield frame(HEADERS, END_HEADERS | END_STREAM, 1, head + indexed_header("x-bomb", value))
    for stream in range(3, 3 + 2 * requests, 2):
        if in_trailers:
            yield frame(HEADERS, END_HEADERS, stream, head) + frame(HEADERS, END_HEADERS | END_STREAM, stream, FIRST_OF_TABLE * references)
        else:
            yield frame(HEADERS, END_HEADERS | END_STREAM, stream, head + FIRST_OF_TABLE * references)


def request_headers(path):
    return b"".join(header(name, value) for name, value in (
        (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"), ("te", "trailers"),
        ("content-type", "application/grpc")))


def message(fields=b""):
    return b"\0" + struct.pack(">I", len(fields)) + fields


def varint(value):
    return integer(value, 7) if value < 127 else bytes([value]) if value < 128 else bytes([value % 128 + 128]) + varint(value // 128)


def field(number, value):
    """Of a protobuf message: bytes."""
    return varint(number << 3 | 2) + varint(len(value)) + value


class Connection:
    def __init__(self, port, timeout_seconds=10, window_bytes=1 << 30, receive_buffer_bytes=None):
        self.socket = socket.socket()
        if receive_buffer_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        self.socket.settimeout(timeout_seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # headers and data are sent one after the other
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, window_bytes)) +
                            frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))
        self.next_stream = 1
        self.buffer = b""
        self.stream_window_bytes = FIRST_WINDOW_BYTES  # of a new stream, as the server allows it
        self.windows = {0: FIRST_WINDOW_BYTES}  # what may be sent: of the connection, and of the stream of a request that is long

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def call(self, path, request, ends=True):
        """The frames of a call, and its stream."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        return frame(HEADERS, END_HEADERS, stream, request_headers(path)) + frame(
            DATA, END_STREAM if ends else 0, stream, message(request)), stream

    def _receive(self, count):
        while len(self.buffer) < count:
            part = self.socket.recv(1 << 16)
            if not part:
                raise ConnectionError("the server has closed the connection")
            self.buffer += part
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def receive_frame(self):
        """Kind, flags, stream, payload; answers settings and pings."""
        head = self._receive(9)
        kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
        payload = self._receive(int.from_bytes(head[:3], "big"))
        if kind == SETTINGS and not flags & ACK:
            self.send(frame(SETTINGS, ACK, 0))
            for at in range(0, len(payload), 6):
                key, value = struct.unpack_from(">HI", payload, at)
                if key == INITIAL_WINDOW_SIZE:
                    self.windows = {of: room + (value - self.stream_window_bytes if of else 0) for of, room in self.windows.items()}
                    self.stream_window_bytes = value
        elif kind == WINDOW_UPDATE and stream in self.windows:
            self.windows[stream] += struct.unpack(">I", payload)[0]
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        return kind, flags, stream, payload

    def send_message(self, path, request):
        """A call whose message may be long, as fast as the server's windows let it; its stream."""
        frames, stream = self.call(path, b"", ends=False)
        self.send(frames[:-9 - 5])  # without its empty message
        data, sent, window = message(request), 0, {0: 65_535, stream: 65_535}
        while sent < len(data):
            part = min(len(data) - sent, 16_384, *window.values())
            if part > 0:
                ends = END_STREAM if sent + part == len(data) else 0
                self.send(frame(DATA, ends, stream, data[sent:sent + part]))
                sent += part
                window = {of: left - part for of, left in window.items()}
                continue
            kind, flags, of, payload = self.receive_frame()
            if kind == WINDOW_UPDATE and of in window:
                window[of] += struct.unpack(">I", payload)[0]
            if kind in (RST_STREAM, GOAWAY) or (kind == HEADERS and flags & END_STREAM):
                raise ConnectionError("the call was refused")
        return stream

    def ask(self, path, request):
        """The bytes of the answer's messages, with their prefixes; nothing: it was refused."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.windows[stream] = self.stream_window_bytes
        unsent = memoryview(message(request))
        self.send(frame(HEADERS, END_HEADERS, stream, request_headers(path)))
        answer = bytearray()
        try:
            while True:
                while unsent and (room := min(self.windows[0], self.windows[stream], DATA_BYTES_MAX)) > 0:
                    part, unsent = bytes(unsent[:room]), unsent[room:]
                    self.windows[0] -= len(part)
                    self.windows[stream] -= len(part)
                    self.send(frame(DATA, 0 if unsent else END_STREAM, stream, part))
                kind, flags, of, payload = self.receive_frame()
                if kind == GOAWAY:
                    raise ConnectionError(f"the server asks to go: {payload[8:]}")
                if of != stream:
                    continue
                if kind == DATA:
                    answer += payload
                if kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
                    return bytes(answer)
        finally:
            del self.windows[stream]
