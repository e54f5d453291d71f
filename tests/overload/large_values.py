#!/usr/bin/env python3
"""Large values by several clients at once, against a server of little memory.

Its peak stays within --memory and the constant of docs/compatibility.md ("Overload"), what fits comes back as it was
written, what never fits is refused with a sentence that says what it needs, and a client that asks for little is answered
meanwhile.

    large_values.py SONDE
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from processes import SondeServer, run_json, talk  # noqa: E402

MEMORY_MIB = 256
CONSTANT_MIB = 64
CLIENTS = 4
VALUE_BYTES = 24 << 20
ROW_BYTES = 2 * VALUE_BYTES
TOO_LARGE_BYTES = 60 << 20
SMALL_SHARE_MIN = 0.95


def flags(clients, value_bytes, endpoint):
    return ["--clients", str(clients), "--value-bytes", str(value_bytes), "--row-bytes", str(ROW_BYTES), "--endpoint", endpoint]


def main():
    sonde = sys.argv[1]
    faults = []
    with tempfile.TemporaryDirectory(prefix="sonde-large-values-") as scratch:
        data = pathlib.Path(scratch) / "data"
        with SondeServer(sonde, data, f"{data}.log", memory=f"{MEMORY_MIB}MiB") as server:
            # Which also compares what is read with what was written.
            report = run_json([sonde, "bench", "large-values", *flags(CLIENTS, VALUE_BYTES, server.endpoint), "--json"])
            results = {result["name"]: result for result in report["results"]}
            refused = subprocess.run([sonde, "bench", "large-values", *flags(1, TOO_LARGE_BYTES, server.endpoint)],
                                     capture_output=True, text=True)
        for name, result in results.items():
            talk(f"{name}: {result['requests']} answered, {result['refused']} refused, slowest {result['max_us'] / 1e6:.1f} s")
    peak_mib = server.peak_bytes / (1 << 20)
    talk(f"peak {peak_mib:.0f} MiB with --memory {MEMORY_MIB}MiB")
    talk(refused.stderr.strip())
    if peak_mib > MEMORY_MIB + CONSTANT_MIB:
        faults.append(f"the peak is {peak_mib:.0f} MiB, more than {MEMORY_MIB} and {CONSTANT_MIB}")
    for phase in ("write", "read"):
        small = results[f"small beside {phase}"]
        asked = small["requests"] + small["refused"]
        if small["requests"] < SMALL_SHARE_MIN * asked:
            faults.append(f"beside {phase}, {small['requests']} of {asked} small requests were answered")
    if refused.returncode == 0 or "start it with --memory" not in refused.stderr:
        faults.append(f"a value of {TOO_LARGE_BYTES} bytes is not refused with what it needs")
    for fault in faults:
        talk(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
