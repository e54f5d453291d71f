"""A relay of HTTP/2 in plain text that makes gRPC calls of the requests that pass.  A request that is none is answered at once, so that its
stream is not open any more when a case of h2spec comes to what it is about.

- The headers of gRPC go to the end of each header block, as literals that are not indexed: blocks that are wrong stay so, tables as they are.
- The method GET, where a block begins with its index, becomes POST.
- Data that is `test` becomes the begin of a message.

Everything else passes as it is.
"""

import contextlib
import socket
import struct
import threading

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD_BYTES = 9
DATA, HEADERS, CONTINUATION = 0, 1, 9
END_HEADERS, PADDED, PRIORITY = 4, 8, 32
GRPC = b"".join(b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value
                for name, value in ((b"content-type", b"application/grpc"), (b"te", b"trailers")))
GET, POST = b"\x82", b"\x83"  # `:method`, as HPACK's static table has it
H2SPEC_DATA = b"test"
MESSAGE_BEGIN = b"\0\0\0\0"  # of the prefix, which has a byte more


def as_grpc(frame):
    kind, flags, payload = frame[3], frame[4], frame[HEAD_BYTES:]
    if kind == DATA and payload == H2SPEC_DATA:
        payload = MESSAGE_BEGIN
    if kind == HEADERS and payload.startswith(GET) and not flags & (PADDED | PRIORITY):
        payload = POST + payload[1:]
    padding = payload[0] if kind == HEADERS and flags & PADDED and payload else 0
    # Padding that is longer than its frame is wrong, and is to stay so.
    if kind in (HEADERS, CONTINUATION) and flags & END_HEADERS and padding < max(len(payload), 1):
        end = len(payload) - padding
        payload = payload[:end] + GRPC + payload[end:]
    return struct.pack(">I", len(payload))[1:] + frame[3:HEAD_BYTES] + payload


class Frames:
    """From bytes as they come to bytes that can be sent on."""

    def __init__(self):
        self.held = b""
        self.is_behind_preface = False

    def take(self, data):
        self.held += data
        if not self.is_behind_preface:
            if PREFACE.startswith(self.held[:len(PREFACE)]) and len(self.held) < len(PREFACE):
                return b""
            if not self.held.startswith(PREFACE):
                return self.rest()
        begin = 0 if self.is_behind_preface else len(PREFACE)
        self.is_behind_preface = True
        out = self.held[:begin]
        while len(self.held) - begin >= HEAD_BYTES:
            end = begin + HEAD_BYTES + int.from_bytes(self.held[begin:begin + 3], "big")
            if end > len(self.held):
                break
            out += as_grpc(self.held[begin:end])
            begin = end
        self.held = self.held[begin:]
        return out

    def rest(self):
        held, self.held = self.held, b""
        return held


def pump(source, target, frames=None):
    """Until `source` ends, even if `target` takes no more: closing a socket with unread bytes would take back what was sent on it."""
    while True:
        try:
            data = source.recv(1 << 16)
        except OSError:
            data = b""
        with contextlib.suppress(OSError):
            target.sendall(data if frames is None else frames.take(data) if data else frames.rest())
            if not data:
                target.shutdown(socket.SHUT_WR)
        if not data:
            return


def serve(client, address):
    with client, socket.create_connection(address) as server:
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=pump, args=(server, client), daemon=True)
        back.start()
        pump(client, server, Frames())
        back.join()


def start(host, port):
    """Relays to `host:port` until the program ends; the port to connect to, of this machine."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, (host, port)), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]
