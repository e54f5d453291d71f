#!/usr/bin/env python3
"""The packages of the program that is built: what they hold and with which modes, that the same input gives the same bytes, and that the
program runs from each of them: installed by pip, from the tarball, and unpacked from the .deb.

usage: files.py SONDE ROOT
"""

import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

TOOLS = ["dpkg-deb", "dpkg-shlibdeps", "patchelf", "strip"]
DEBIAN_FILES = {  # and their modes
    "usr/bin/sonde": 0o755,
    "lib/systemd/system/sonde.service": 0o644,
    "usr/lib/sysusers.d/sonde.conf": 0o644,
    "etc/sonde/sonde.yaml": 0o644,
    "usr/share/man/man1/sonde.1.gz": 0o644,
    "usr/share/bash-completion/completions/sonde": 0o644,
    "usr/share/zsh/vendor-completions/_sonde": 0o644,
    "usr/share/fish/vendor_completions.d/sonde.fish": 0o644,
    "usr/share/doc/sonde/changelog.gz": 0o644,
    "usr/share/doc/sonde/copyright": 0o644,
}
# Links of the documents into the sources, which no package carries.
SOURCES = re.compile(r"(bench|src|tests|scripts|web|third_party|\.github)/|(CONTRIBUTING|STYLE|SECURITY)\.md$|LICENSE$|docs/site/")
LICENCES = {"hbase.txt", "rocksdb.txt", "libgrpc++-dev.txt", "libabsl-dev.txt", "libjemalloc2.txt"}


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, **options)
    check(done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def check_serves(program, data, config=None):
    """It starts, tells its port, and ends well."""
    arguments = ["serve", "--port", "0", "--http-port", "0", "--data-dir", data]
    with subprocess.Popen([program, *arguments, *(["--config", config] if config else [])], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env={"PATH": "/usr/bin:/bin"}) as server:
        try:
            found = any("listening on" in line for line in server.stdout)
            check(found, f"{program} does not serve: {server.stderr.read() if server.poll() is not None else ''}")
            server.send_signal(signal.SIGTERM)
            check(server.wait(timeout=60) == 0, f"{program} ended with {server.returncode}")
        finally:
            server.kill()


def check_own_libraries(program, directory):
    """Every library but the C library's comes from the package."""
    for line in run("ldd", program).splitlines():
        if re.match(r"\s*(linux-vdso|/lib64/ld-linux|libc\.|libm\.)", line):
            continue
        check(str(directory) in line, f"{program} takes a library from elsewhere: {line.strip()}")


def check_documents(directory, program):
    """The documents that the program's messages and README point to are there, and what they link to is there, too."""
    named = set(re.findall(rb"\bdocs/[a-z][a-z-]*\.md", program.read_bytes()))
    check(len(named) >= 3, f"the program names {named}")
    for name in sorted(text.decode() for text in named):
        check((directory / name).is_file(), f"{directory} lacks {name}, which the program's messages name")
    pages = [directory / "README.md", *directory.glob("docs/*.md"), *directory.glob("docs/recipes/*.md"), *directory.glob("docs/formats/*.md")]
    check(len(pages) > 30, f"documents are {pages}")
    for page in pages:
        text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
        for link in re.findall(r"\]\(([^)#\s]+)", text):
            if re.match(r"[a-z]+:", link):
                continue
            target = (page.parent / link).resolve()
            check(target.is_relative_to(directory.resolve()), f"{page} links to {link}")
            inside = target.relative_to(directory.resolve()).as_posix()
            check(SOURCES.match(inside) or target.exists(), f"{page} links to {link}, which the package lacks")


def check_deb(package, work, version):
    control = run("dpkg-deb", "--field", package)
    fields = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", control, re.MULTILINE))
    check(fields["Package"] == "sonde" and fields["Version"] == version, f"control is {control}")
    for name in ["libc6 (>=", "libstdc++6 (>=", "libssl3 (>=", "systemd |", "tzdata"]:
        check(name in fields["Depends"], f"Depends lacks {name}: {fields['Depends']}")

    listing = run("dpkg-deb", "--contents", package)
    check(all(line.split()[1] == "root/root" for line in listing.splitlines()), f"files are not root's: {listing}")
    root = work / "deb"
    run("dpkg-deb", "-x", package, root)
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    licences = {name for name in files if name.startswith("usr/share/doc/sonde/licenses/")}
    documents = {name for name in files if re.match(r"usr/share/doc/sonde/(README\.md$|docs/|examples/|ops/)", name)}
    others = set(files) - licences - documents
    check(others == set(DEBIAN_FILES), f"other files: {others ^ set(DEBIAN_FILES)}")
    check_documents(root / "usr/share/doc/sonde", files["usr/bin/sonde"])
    check(LICENCES <= {pathlib.Path(name).name for name in licences}, f"licences are {licences}")
    for name, mode in DEBIAN_FILES.items():
        is_mode = stat.S_IMODE(files[name].stat().st_mode)
        check(is_mode == mode, f"{name} has mode {is_mode:o}, but must have {mode:o}")
    check(".debug_info" not in run("readelf", "-SW", files["usr/bin/sonde"]), "the program has its symbols")

    scripts = work / "control"
    run("dpkg-deb", "-e", package, scripts)
    check((scripts / "conffiles").read_text(encoding="utf-8") == "/etc/sonde/sonde.yaml\n", "conffiles are others")
    for name in ["postinst", "prerm", "postrm"]:
        check(stat.S_IMODE((scripts / name).stat().st_mode) == 0o755, f"{name} is no program")
        run("sh", "-n", scripts / name)
    run("md5sum", "--check", "--quiet", scripts / "md5sums", cwd=root)
    check_purge(scripts / "postrm", work)

    check(run(files["usr/bin/sonde"], "--version") == f"sonde {version}\n", "the program has another version")
    check_serves(files["usr/bin/sonde"], work / "deb-data", files["etc/sonde/sonde.yaml"])
    if not shutil.which("lintian"):
        return ["lintian"]
    complaints = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", package], capture_output=True, text=True,
                                timeout=400, check=False)
    check(complaints.returncode == 0, f"lintian says: {complaints.stdout}{complaints.stderr}")
    return []


def check_purge(postrm, work):
    """A purge removes an empty data directory; it leaves data, and says where."""
    data = work / "purged"
    script = work / "postrm"
    text = postrm.read_text(encoding="utf-8")
    check("data=/var/lib/sonde\n" in text, "postrm's data directory is another")
    # Neither the machine's units nor its data are touched.
    script.write_text(text.replace("/var/lib/sonde", str(data)).replace("/run/systemd/system", str(work / "no-systemd")),
                      encoding="utf-8")
    tools = work / "tools"
    tools.mkdir()
    (tools / "rmdir").symlink_to("/bin/rmdir")
    data.mkdir()
    (data / "CURRENT").touch()
    for step, said in [("remove", False), ("purge", True)]:
        out = run("/bin/sh", script, step, env={"PATH": str(tools)})
        check((data / "CURRENT").exists() and (str(data) in out) == said, f"{step} with data says {out!r}")
    (data / "CURRENT").unlink()
    check(run("/bin/sh", script, "purge", env={"PATH": str(tools)}) == "" and not data.exists(), "an empty directory stays")


def check_tarball(package, work, version):
    run("tar", "-xzf", package, "-C", work)
    directory = work / package.name.removesuffix(".tar.gz")
    moved = directory.rename(work / "moved somewhere")
    for name in ["lib/sonde/libssl.so.3", "share/man/man1/sonde.1", "share/bash-completion/completions/sonde", "ops/sonde.service",
                 "ops/sonde.yaml", "ops/alerts.yaml", "ops/dashboard.json", "share/doc/sonde/docs/runbook.md", "share/doc/sonde/LICENSE", "share/doc/sonde/licenses/rocksdb.txt"]:
        check((moved / name).is_file(), f"the tarball lacks {name}")
    check(run(moved / "bin/sonde", "--version") == f"sonde {version}\n", "the program has another version")
    check_own_libraries(moved / "bin/sonde", moved)
    check_documents(moved / "share/doc/sonde", moved / "bin/sonde")
    check_serves(moved / "bin/sonde", work / "tarball-data")


def check_wheel(package, work, version):
    environment = work / "environment"
    run(sys.executable, "-m", "venv", environment)
    python = environment / "bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", package)
    program = environment / "bin/sonde"
    check(run(program, "--version") == f"sonde {version}\n", "the program has another version")
    check_own_libraries(program, environment)
    check_serves(program, work / "wheel-data")
    run(python, "-m", "pip", "--disable-pip-version-check", "check")
    run(python, "-m", "pip", "--disable-pip-version-check", "uninstall", "--quiet", "--yes", "sonde")
    left = [path for path in environment.rglob("*sonde*") if path.is_file()]
    check(not left, f"pip leaves {left}")


def main():
    sonde, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"not here: {', '.join(missing)} (scripts/install-dependencies --tests)")
        sys.exit(77)
    version = run(sonde, "--version").split()[1]
    dated = {**os.environ, "SOURCE_DATE_EPOCH": "1760000000"}  # else a commit in between would make two packages
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        made = run(root / "scripts/package", "--binary", sonde, "--out", work / "out", env=dated).split()
        packages = {pathlib.Path(path).name.rsplit(".", 1)[1]: pathlib.Path(path) for path in made}
        check(set(packages) == {"deb", "gz", "tar", "whl"}, f"scripts/package made {made}")
        again = run(root / "scripts/package", "--binary", sonde, "--out", work / "again", "--only", "wheel", env=dated).split()
        check(pathlib.Path(again[0]).read_bytes() == packages["whl"].read_bytes(), "the same program gives two different wheels")
        check_wheel(packages["whl"], work, version)
        check_tarball(packages["gz"], work, version)
        left_out = check_deb(packages["deb"], work, version)
        for path in packages.values():
            print(f"{path.stat().st_size:>12,} bytes  {path.name}")
    wrong = subprocess.run([root / "scripts/package", "--only", "rpm", "--binary", sonde, "--out", "/nonexistent/out"],
                           capture_output=True, text=True, timeout=60, check=False)
    check(wrong.returncode == 2 and "rpm" in wrong.stderr, f"a kind that is not known ended with {wrong}")
    if left_out:
        print(f"not run, for want of {', '.join(left_out)}: the rest passed")
        sys.exit(77)


if __name__ == "__main__":
    main()
