#!/usr/bin/env python3
"""What the HTTP port makes of requests whose end, host or lines two readers could take differently: a table of bytes and answers.

usage: http_framing_test.py SONDE [--table]
    --table   prints the cases as the table of README.md, and runs none
Exit status: 0 all hold, 1 otherwise.

Whatever a case says: no request that is hidden in it may be answered, and the server goes on,
and has counted each of its answers by its status.
"""

import collections
import re
import sys

from raw_http import Peer, statuses
from server import Server

HOST = b"Host: 127.0.0.1\r\n"
# What a proxy in front would not have let through by itself: it answers 404, which no case expects.
HIDDEN = b"GET /hidden HTTP/1.1\r\n" + HOST + b"\r\n"
HIDDEN_STATUS = 404
# That the connection is still of use, and ends: a request that follows, where a case keeps it open.
LAST = b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"

GET = b"GET /healthz HTTP/1.1\r\n"
LINE = b"m,h=a v=1 1\n"


def post(headers, body=b"", version=b"1.1"):
    return b"POST /write HTTP/" + version + b"\r\n" + HOST + headers + b"\r\n" + body


def get(headers=b"", line=GET):
    return line + HOST + headers + b"\r\n"


def chunks(body, headers=b""):
    return post(headers + b"Transfer-Encoding: chunked\r\n", body)


CLOSED, OPEN = "ends", "goes on"

# Name, bytes, statuses of the answers, what becomes of the connection, why.
# Where it goes on, LAST is sent behind the bytes, and its 200 comes after the statuses.
CASES = [
    # What is right.
    ("a body with Content-Length", post(b"Content-Length: 12\r\n", LINE), [204], OPEN, "RFC 9112, 6.2"),
    ("a body in chunks", chunks(b"c\r\n" + LINE + b"\r\n0\r\n\r\n"), [204], OPEN, "RFC 9112, 7.1"),
    ("chunk size in capitals and with zeros in front", chunks(b"00C\r\n" + LINE + b"\r\n000\r\n\r\n"), [204], OPEN,
     "hexadecimal digits, any number of them (RFC 9112, 7.1), but 256 bytes a line"),
    ("chunk extension", chunks(b'c;a="b";c\r\n' + LINE + b"\r\n0;d\r\n\r\n"), [204], OPEN, "is taken and means nothing (RFC 9112, 7.1.1)"),
    ("blanks behind a chunk's size", chunks(b"c \t\r\n" + LINE + b"\r\n0\r\n\r\n"), [204], OPEN,
     "there are senders that fill the line up; no reader takes them for a digit"),
    ("trailers", chunks(b"c\r\n" + LINE + b"\r\n0\r\nX: y\r\n\r\n"), [204], OPEN, "are read and thrown away (RFC 9112, 7.1.2)"),
    ("Transfer-Encoding: Chunked", post(b"Transfer-Encoding: Chunked\r\n", b"c\r\n" + LINE + b"\r\n0\r\n\r\n"), [204], OPEN,
     "names of codings have no case"),
    ("Content-Length with zeros in front", post(b"Content-Length: 0012\r\n", LINE), [204], OPEN, "1*DIGIT (RFC 9112, 6.2)"),
    ("blanks around a value", get(b"X: \t a \t \r\nConnection: \t keep-alive \r\n"), [200], OPEN, "RFC 9112, 5.1"),
    ("20 requests at once", get() * 20, [200] * 20, OPEN, "are answered in their order (RFC 9112, 9.3.2)"),
    ("empty lines in front", b"\r\n\r\n" + get(), [200], OPEN, "a server should ignore one at least (RFC 9112, 2.2)"),
    ("HEAD", b"HEAD /healthz HTTP/1.1\r\n" + HOST + b"\r\n", [200], OPEN, "has no body, whatever its Content-Length says"),
    ("HTTP/1.0", b"GET /healthz HTTP/1.0\r\n" + HOST + b"\r\n" + HIDDEN, [200], CLOSED, "ends with its answer (RFC 9112, 9.3)"),
    ("HTTP/1.0 with keep-alive", b"GET /healthz HTTP/1.0\r\n" + HOST + b"Connection: keep-alive\r\n\r\n", [200], OPEN, "RFC 9112, 9.3"),
    ("absolute form", b"GET http://127.0.0.1/healthz HTTP/1.1\r\n" + HOST + b"\r\n", [200], OPEN, "must be taken (RFC 9112, 3.2.2)"),
    ("absolute form, another Host", b"GET http://127.0.0.1/healthz HTTP/1.1\r\nHost: other.example\r\n\r\n", [200], OPEN,
     "the target counts, not Host (RFC 9112, 3.2.2)"),
    # Two lengths.
    ("Content-Length and Transfer-Encoding", post(b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + HIDDEN), [400],
     CLOSED, "two ends; may be refused (RFC 9112, 6.1)"),
    ("Transfer-Encoding and Content-Length", post(b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", b"0\r\n\r\n" + HIDDEN), [400],
     CLOSED, "as before, in the other order"),
    ("Transfer-Encoding of nothing, and Content-Length", post(b"Transfer-Encoding:\r\nContent-Length: 0\r\n", HIDDEN), [400], CLOSED,
     "some readers see no coding, some one"),
    ("two Content-Lengths", post(b"Content-Length: 0\r\nContent-Length: %d\r\n" % len(HIDDEN), HIDDEN), [400], CLOSED,
     "must be refused (RFC 9112, 6.3)"),
    ("two Content-Lengths, the same", post(b"Content-Length: 0\r\nContent-Length: 0\r\n", HIDDEN), [400], CLOSED,
     "may be refused (RFC 9110, 8.6)"),
    ("Content-Length: a list", post(b"Content-Length: 0, 0\r\n", HIDDEN), [400], CLOSED, "may be refused (RFC 9110, 8.6)"),
    *((f"Content-Length: {value.decode()!r}", post(b"Content-Length: " + value + b"\r\n", HIDDEN), [400], CLOSED,
       "no 1*DIGIT (RFC 9112, 6.2)") for value in (b"+0", b"-1", b"0x0", b"0 0", b"0;", b"1e1", b"\x0b0", b'"0"', b"")),
    ("Content-Length: 2^64", post(b"Content-Length: 18446744073709551616\r\n", HIDDEN), [400], CLOSED, "nobody may take it for 0"),
    ("Content-Length: 2^63", post(b"Content-Length: 9223372036854775808\r\n", HIDDEN), [400], CLOSED, "nobody may take it for less than 0"),
    # Transfer codings.
    ("Transfer-Encoding not ending in chunked", post(b"Transfer-Encoding: chunked, gzip\r\n", b"0\r\n\r\n" + HIDDEN), [501], CLOSED,
     "nobody knows its end (RFC 9112, 6.3)"),
    ("Transfer-Encoding: gzip, chunked", post(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n" + HIDDEN), [501], CLOSED,
     "501 for what is not known (RFC 9112, 6.1)"),
    ("Transfer-Encoding: identity", post(b"Transfer-Encoding: identity\r\n", HIDDEN), [501], CLOSED, "was taken out of HTTP"),
    ("Transfer-Encoding: xchunked", post(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n" + HIDDEN), [501], CLOSED, "not known"),
    ("Transfer-Encoding: \\x0bchunked", post(b"Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n" + HIDDEN), [400], CLOSED,
     "a control character is no blank"),
    ("Transfer-Encoding twice", post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + HIDDEN), [501], CLOSED,
     "chunked must not be there twice (RFC 9112, 6.1)"),
    ("Transfer-Encoding twice, one unknown", post(b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + HIDDEN),
     [501], CLOSED, "some readers take the first, some the last"),
    ("Transfer-Encoding in HTTP/1.0", post(b"Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n", b"0\r\n\r\n" + HIDDEN, b"1.0"),
     [400], CLOSED, "its framing is faulty (RFC 9112, 6.1)"),
    ("space before the colon of Transfer-Encoding", post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n" + HIDDEN), [400], CLOSED,
     "must be refused (RFC 9112, 5.1)"),
    # Chunks.
    *((f"chunk size {size.decode()!r}", chunks(size + b"\r\n" + LINE + b"\r\n0\r\n\r\n" + HIDDEN), [400], CLOSED, why) for size, why in (
        (b"", "1*HEXDIG (RFC 9112, 7.1)"), (b"0xc", "no digit: x"), (b"-c", "no digit: -"), (b"+c", "no digit: +"), (b" c", "no blank in front"),
        (b"c c", "a blank within"), (b"c,c", "no digit: ,"), (b"g", "no digit: g"), (b"ffffffffffffffffc", "does not fit into 64 bits"),
        (b"10000000000000000", "2^64: nobody may take it for 0"), (b"c" + b";" * 300, "256 bytes are the most of such a line"),
        (b"1\x000", "no digit: NUL"))),
    ("chunk with more than its size", chunks(b"5\r\n" + LINE + b"\r\n0\r\n\r\n" + HIDDEN), [400], CLOSED, "no line end where it has to be"),
    ("bare LF behind a chunk's size", chunks(b"c\n" + LINE + b"\r\n0\r\n\r\n" + HIDDEN), [400], CLOSED,
     "a line ends with CR LF; who takes LF alone sees another chunk"),
    ("bare LF behind a chunk", chunks(b"c\r\n" + LINE + b"\n0\r\n\r\n" + HIDDEN), [400], CLOSED, "as before"),
    ("bare LF behind the last chunk", chunks(b"c\r\n" + LINE + b"\r\n0\r\n\n" + HIDDEN), [400], CLOSED, "as before"),
    ("bare LF in a chunk extension", chunks(b"c;a\nb\r\n" + LINE + b"\r\n0\r\n\r\n" + HIDDEN), [400], CLOSED,
     "who takes LF alone sees another chunk (RFC 9112, 7.1.1: no control characters)"),
    ("bare CR in a chunk extension", chunks(b"c;a\rb\r\n" + LINE + b"\r\n0\r\n\r\n" + HIDDEN), [400], CLOSED, "as before"),
    ("NUL in a chunk extension", chunks(b"c;a\0b\r\n" + LINE + b"\r\n0\r\n\r\n" + HIDDEN), [400], CLOSED, "as before"),
    ("bare LF in a trailer", chunks(b"0\r\nX: y\n\r\n\r\n" + HIDDEN), [400], CLOSED, "trailers are headers (RFC 9112, 7.1.2)"),
    ("bare CR in a trailer", chunks(b"0\r\nX: y\rZ: z\r\n\r\n" + HIDDEN), [400], CLOSED, "as before"),
    ("a trailer without a colon", chunks(b"0\r\nGET /hidden HTTP/1.1\r\n\r\n" + HIDDEN), [400], CLOSED, "as before"),
    ("trailers of 20 kB", chunks(b"0\r\n" + b"X: y\r\n" * 3400 + b"\r\n"), [400], CLOSED, "8 KiB are the most"),
    # A body where none is looked for.
    ("GET with a body", get(b"Content-Length: %d\r\n" % len(HIDDEN)) + HIDDEN, [200], CLOSED, "a body that nobody reads is no request"),
    ("GET with a body in chunks", get(b"Transfer-Encoding: chunked\r\n") + b"%x\r\n" % len(HIDDEN) + HIDDEN + b"\r\n0\r\n\r\n", [200], CLOSED,
     "as before"),
    ("DELETE with a body", get(b"Content-Length: %d\r\n" % len(HIDDEN), b"DELETE /healthz HTTP/1.1\r\n") + HIDDEN, [405], CLOSED, "as before"),
    ("body of what is not there", b"POST /nowhere HTTP/1.1\r\nHost: other.example\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN) + HIDDEN, [403],
     CLOSED, "as before"),
    ("upgrade to h2c", get(b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n"), [200], OPEN,
     "is not taken up, as one may (RFC 9110, 7.8)"),
    ("Expect: 100-continue, refused", b"GET /healthz HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN) +
     HIDDEN, [200], CLOSED, "whether the body comes nobody knows then"),
    # Lines.
    ("bare LF", b"GET /healthz HTTP/1.1\nHost: 127.0.0.1\n\n", [400], CLOSED, "readers who do not take it see one line (RFC 9112, 2.2)"),
    ("bare LF behind a header", get(b"X: a\nTransfer-Encoding: chunked\r\n"), [400], CLOSED, "as before"),
    ("bare LF as the last line", GET + HOST + b"X: a\r\n\n" + HIDDEN, [400], CLOSED, "as before"),
    ("bare CR in a value", get(b"X: a\rTransfer-Encoding: chunked\r\n"), [400], CLOSED, "invalid (RFC 9112, 2.2)"),
    ("bare CR in a name", get(b"X\r: a\r\n"), [400], CLOSED, "as before"),
    ("CR CR LF", get(b"X: a\r\r\n"), [400], CLOSED, "as before"),
    ("space before a colon", get(b"X : a\r\n"), [400], CLOSED, "must be refused (RFC 9112, 5.1)"),
    ("no colon", get(b"X\r\n"), [400], CLOSED, "no header"),
    ("empty name", get(b": a\r\n"), [400], CLOSED, "no token (RFC 9110, 5.1)"),
    ("a name with a blank", get(b"X Y: a\r\n"), [400], CLOSED, "no token"),
    ("a name with a byte of 0x80", get(b"X\x80: a\r\n"), [400], CLOSED, "no token"),
    ("folded line", get(b"X: a\r\n b\r\n"), [400], CLOSED, "must be refused or unfolded (RFC 9112, 5.2)"),
    ("folded first header", GET + b" X: a\r\n" + HOST + b"\r\n", [400], CLOSED, "must be refused or thrown away (RFC 9112, 2.2)"),
    ("NUL in a value", get(b"X: a\0b\r\n"), [400], CLOSED, "invalid (RFC 9110, 5.5)"),
    ("NUL in a name", get(b"X\0: a\r\n"), [400], CLOSED, "no token"),
    ("DEL in a value", get(b"X: a\x7f\r\n"), [400], CLOSED, "a control character"),
    ("bytes above 0x7f in a value", get(b"X: \xc3\xa9\r\n"), [200], OPEN, "obs-text (RFC 9110, 5.5)"),
    # Host.
    ("no Host", GET + b"\r\n", [400], OPEN, "must be refused (RFC 9112, 3.2)"),
    ("no Host in HTTP/1.0", b"GET /healthz HTTP/1.0\r\n\r\n", [400], CLOSED, "whose pages ask is not known then (decision 0008)"),
    ("two Hosts", GET + HOST + b"Host: other.example\r\n\r\n", [400], CLOSED, "must be refused (RFC 9112, 3.2)"),
    ("two Hosts, the same", GET + HOST + HOST + b"\r\n", [400], CLOSED, "as before"),
    ("empty Host", GET + b"Host:\r\n\r\n", [400], OPEN, "names no server"),
    ("Host with a path", GET + b"Host: 127.0.0.1/x\r\n\r\n", [403], OPEN, "is no name of this server"),
    ("Host with a name and @", GET + b"Host: a@127.0.0.1\r\n\r\n", [403], OPEN, "is no name of this server"),
    ("another Host", GET + b"Host: other.example\r\n\r\n", [403], OPEN, "DNS rebinding (decision 0008)"),
    ("two Origins", get(b"Origin: http://127.0.0.1\r\nOrigin: http://other.example\r\n"), [400], CLOSED, "one of them is not ours"),
    ("absolute form of another host", b"GET http://other.example/healthz HTTP/1.1\r\n" + HOST + b"\r\n", [403], OPEN, "the target counts"),
    ("absolute form without Host", b"GET http://127.0.0.1/healthz HTTP/1.1\r\n\r\n", [400], OPEN, "must be refused (RFC 9112, 3.2)"),
    ("absolute form, empty Host", b"GET http://127.0.0.1/healthz HTTP/1.1\r\nHost:\r\n\r\n", [400], OPEN, "Host must be the target's (RFC 9112, 3.2)"),
    ("absolute form without Host in HTTP/1.0", b"GET http://127.0.0.1/healthz HTTP/1.0\r\n\r\n", [200], CLOSED,
     "HTTP/1.0 needs no Host, and the target names one"),
    ("absolute form of no host", b"GET http:///healthz HTTP/1.1\r\n" + HOST + b"\r\n", [400], CLOSED, "must be refused (RFC 9110, 4.2.1)"),
    # The first line.
    ("bare CR in front", b"\r" + get(), [400], CLOSED, "invalid (RFC 9112, 2.2)"),
    ("bare LF in front", b"\n" + get(), [400], CLOSED, "an empty line is CR LF"),
    ("bare LF behind an empty line", b"\r\n\n" + get(), [400], CLOSED, "as before"),
    ("bare LF behind a request", get() + b"\n" + HIDDEN, [200, 400], CLOSED, "as before"),
    ("no version", b"GET /healthz\r\n" + HOST + b"\r\n", [400], CLOSED, "HTTP/0.9"),
    ("version 1.2", b"GET /healthz HTTP/1.2\r\n" + HOST + b"\r\n", [400], CLOSED, "there is none"),
    ("version in small letters", b"GET /healthz http/1.1\r\n" + HOST + b"\r\n", [400], CLOSED, "has a case (RFC 9112, 2.3)"),
    ("preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400], CLOSED, "HTTP/2 is the gRPC port's"),
    ("hello of TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n", [400], CLOSED, "TLS is a proxy's"),
    ("two blanks", b"GET  /healthz HTTP/1.1\r\n" + HOST + b"\r\n", [400], CLOSED, "one blank (RFC 9112, 3)"),
    ("a tab", b"GET\t/healthz HTTP/1.1\r\n" + HOST + b"\r\n", [400], CLOSED, "as before"),
    ("a blank in the target", b"GET /healthz /hidden HTTP/1.1\r\n" + HOST + b"\r\n", [400], CLOSED, "invalid (RFC 9112, 3.2)"),
    ("a blank behind the version", b"GET /healthz HTTP/1.1 \r\n" + HOST + b"\r\n", [400], CLOSED, "as before"),
    ("NUL in the target", b"GET /a\0b HTTP/1.1\r\n" + HOST + b"\r\n", [400], CLOSED, "a control character"),
    ("a target that is no path", b"GET healthz HTTP/1.1\r\n" + HOST + b"\r\n", [400], CLOSED, "none of the forms (RFC 9112, 3.2)"),
    ("CONNECT", b"CONNECT other.example:80 HTTP/1.1\r\n" + HOST + b"\r\n" + HIDDEN, [400], CLOSED, "this is no proxy"),
    ("OPTIONS *", b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", [404], OPEN, "nothing is there"),
    ("method in small letters", b"get /healthz HTTP/1.1\r\n" + HOST + b"\r\n", [405], OPEN, "has a case (RFC 9110, 9.1)"),
    # Too much.
    ("first line of 8 kB", b"GET /" + b"a" * 8000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", [414], OPEN, "4,096 bytes of a path are the most"),
    ("first line of 200 kB", b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", [431], CLOSED, "64 KiB of a head are the most"),
    ("20,000 headers", get(b"".join(b"x%d: y\r\n" % i for i in range(20_000))), [431], CLOSED, "as before"),
    ("2,000 headers", get(b"".join(b"x%d: y\r\n" % i for i in range(2_000))), [200], OPEN, "within 64 KiB"),
    ("headers without end", GET + b"X: a\r\n" * 20_000, [431], CLOSED, "64 KiB of a head are the most"),
    ("empty lines without end", b"\r\n" * 50_000, [431], CLOSED, "as before"),
]


def differs(port, sent, expected, fate, answers):
    """How the server differs from what is expected; nothing if it does not.  Counts its answers by status in `answers`."""
    peer = Peer(port, timeout_seconds=5)
    peer.send(sent + (LAST if fate == OPEN else b""))
    answer, is_ended = peer.receive()
    peer.close()
    found = statuses(answer)
    answers.update(found)
    wanted = expected + ([200] if fate == OPEN else [])
    if found != wanted:
        hint = "; the hidden request was answered" if HIDDEN_STATUS in found and HIDDEN_STATUS not in wanted else ""
        return f"answers {found}, expected {wanted}{hint}"
    return "" if is_ended else "the connection is left open"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if sys.argv[-1] == "--table":
        print("| sent | answer | connection | why |\n| --- | --- | --- | --- |")
        for name, _, expected, fate, why in CASES:
            is_one = len(set(expected)) == 1
            shown = f"{expected[0]}, {len(expected)} times" if is_one and expected[1:] else ", ".join(map(str, expected))
            print(f"| {name.replace('|', chr(92) + '|')} | {shown} | {fate} | {why} |")
        return
    failed = 0
    answers = collections.Counter()
    with Server(sys.argv[1]) as server:
        for name, sent, expected, fate, _ in CASES:
            if difference := differs(server.http_port, sent, expected, fate, answers):
                failed += 1
                print(f"{name}: FAILED: {difference}\n    sent: {sent[:200]!r}", flush=True)
        if server.get("/healthz")[0] != 200:
            failed += 1
            print("FAILED: the server is not well afterwards")
        answers[200] += 1
        counted = {int(code): int(count) for code, count in
                   re.findall(r'sonde_http_answers_total\{code="(\d+)"\} (\d+)', server.get("/metrics")[1])}
        if counted != answers:
            failed += 1
            print(f"FAILED: /metrics counts {counted} of the answers {dict(answers)}")
    print(f"{len(CASES) - failed} of {len(CASES)} cases hold")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
