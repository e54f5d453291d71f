"""A client of HTTP/1.1 that sends the bytes that it is told and takes what comes."""

import re
import socket


class Peer:
    def __init__(self, port, timeout_seconds=10, receive_buffer_bytes=None):
        self.socket = socket.socket()
        if receive_buffer_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        self.socket.settimeout(timeout_seconds)
        self.socket.connect(("127.0.0.1", port))

    def close(self):
        self.socket.close()

    def send(self, data):
        """Whether all of it was taken."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def receive(self, bytes_max=1 << 30):
        """What comes until the server ends the connection, or nothing has come for the timeout; and whether the server has ended it."""
        parts, count = [], 0
        while count < bytes_max:
            try:
                part = self.socket.recv(min(1 << 16, bytes_max - count))
            except TimeoutError:
                return b"".join(parts), False
            except ConnectionError:
                return b"".join(parts), True
            if not part:
                return b"".join(parts), True
            parts.append(part)
            count += len(part)
        return b"".join(parts), False


def request(method, target, headers=(), body=b"", port=80):
    lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def statuses(answer):
    """Of all the answers in these bytes, in their order."""
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]
