#!/usr/bin/env python3
"""The OCI image of the program that is built: every blob has its digest, the image holds what it should and no more, the same input
gives the same bytes, and the program serves from it as user 65532 in a root that is read-only, until SIGTERM; `sonde status` of the
image says so.

usage: image.py SONDE ROOT        Exit status 77: a tool is not here, or this user may not change root.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import urllib.request

USER = 65532
START_SECONDS = 60


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=400, **options)
    check(done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Image:
    def __init__(self, path):
        with tarfile.open(path) as archive:
            self.files = {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}
        check(json.loads(self.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}, "oci-layout is another")
        for name, content in self.files.items():
            if name.startswith("blobs/"):
                check(name == f"blobs/sha256/{hashlib.sha256(content).hexdigest()}", f"{name} has another digest")
        [named] = json.loads(self.files["index.json"])["manifests"]
        self.name = named["annotations"]["org.opencontainers.image.ref.name"]
        self.manifest = json.loads(self.blob(named))
        self.config = json.loads(self.blob(self.manifest["config"]))
        [layer] = self.manifest["layers"]
        check(layer["mediaType"].endswith(".tar+gzip"), f"the layer is {layer}")
        self.layer = gzip.decompress(self.blob(layer))
        check(self.config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(self.layer).hexdigest()], "diff_ids are others")
        used = {"oci-layout", "index.json", *(self.path(one) for one in [named, self.manifest["config"], layer])}
        check(set(self.files) == used, f"the archive has {set(self.files) ^ used}")

    @staticmethod
    def path(descriptor):
        return "blobs/" + descriptor["digest"].replace(":", "/")

    def blob(self, descriptor):
        content = self.files[self.path(descriptor)]
        check(len(content) == descriptor["size"], f"{descriptor} has {len(content)} bytes")
        return content


def check_layer(image):
    with tarfile.open(fileobj=io.BytesIO(image.layer)) as archive:
        entries = {entry.name: entry for entry in archive}
    for name, entry in entries.items():
        owner = USER if name == "var/lib/sonde" else 0
        check(entry.uid == owner and entry.gid == owner, f"{name} is {entry.uid}'s")
        check(entry.mode & 0o6000 == 0, f"{name} has mode {entry.mode:o}")
        check(entry.issym() or entry.mode & 0o022 == 0 or name == "tmp", f"others may write {name}")
    check(entries["var/lib/sonde"].mode == 0o700, "the data is for others, too")
    programs = {name for name, entry in entries.items() if entry.isfile() and "/bin/" in f"/{name}"}
    check(programs == {"usr/bin/sonde"}, f"the programs are {programs}")
    for name in ["usr/share/doc/sonde/packages.txt", "usr/share/zoneinfo/Europe/Berlin", "usr/share/doc/sonde/LICENSE", "etc/passwd"]:
        check(name in entries, f"the image lacks {name}")


def check_config(image, version):
    config = image.config["config"]
    check(image.name == f"sonde:{version}", f"its name is {image.name}")
    check(config["User"] == f"{USER}:{USER}", f"its user is {config['User']}")
    check(config["Entrypoint"] == ["/usr/bin/sonde"] and config["Cmd"][0] == "serve", f"it runs {config}")
    check(config["Healthcheck"]["Test"] == ["CMD", "/usr/bin/sonde", "status", "--quiet"], f"its health is {config['Healthcheck']}")


class Container:
    """The image's command in its own root, which is mounted read-only, with /tmp and the data beside."""

    def __init__(self, image, root, data, arguments):
        config = image.config["config"]
        script = ('set -e; mount --make-rprivate /; mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"; '
                  'mount -t tmpfs tmpfs "$1/tmp"; mount --bind "$2" "$1/var/lib/sonde"; '
                  'mount --rbind /proc "$1/proc"; mount --rbind /dev "$1/dev"; root=$1; shift 2; '
                  f'exec chroot --userspec={config["User"]} "$root" "$@"')
        self.inside = ["unshare", "--mount", "sh", "-c", script, "sh", str(root), str(data)]
        self.environment = dict(pair.split("=", 1) for pair in config["Env"])
        self.environment["PATH"] += ":/bin:/usr/sbin:/sbin"
        self.process = subprocess.Popen([*self.inside, *config["Entrypoint"], *config["Cmd"], *arguments], env=self.environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.http = None

    def await_start(self):
        for line in self.process.stdout:
            if found := re.search(r"web page at http://(\S+?)/?$", line.strip()):
                self.http = found[1]
            if "listening on" in line:
                return
        sys.exit(f"FAILED: the image does not serve: {self.process.stderr.read()}")

    def run(self, *command):
        return subprocess.run([*self.inside, *command], env=self.environment, capture_output=True, text=True, timeout=60)


def check_runs(image, work):
    root, data = work / "root", work / "data"
    with tarfile.open(fileobj=io.BytesIO(image.layer)) as archive:
        archive.extractall(root, numeric_owner=True)
    data.mkdir(mode=0o700)
    os.chown(data, USER, USER)
    container = Container(image, root, data, ["--port", "0", "--http-port", "0"])
    try:
        container.await_start()
        owner = pathlib.Path(f"/proc/{container.process.pid}").stat().st_uid
        check(owner in [USER, 0], f"it runs as {owner}")
        status = pathlib.Path(f"/proc/{container.process.pid}/status").read_text()
        check(re.search(rf"^Uid:\s+{USER}\s+{USER}\s", status, re.MULTILINE), f"it runs as {re.search('Uid:.*', status)[0]}")
        health = [*image.config["config"]["Healthcheck"]["Test"][1:], "--http", container.http]
        said = container.run(*health)
        check(said.returncode == 0 and said.stdout == "", f"the health check says {said}")
        check(not (root / "written").exists() and container.run("/usr/bin/sonde", "debug", "bundle", "--out", "/written").returncode == 1,
              "the root can be written")
        query = {"query": "SELECT FORMAT_TIMESTAMP('%H', TIMESTAMP '2024-07-01 00:00:00+00', 'Europe/Berlin') AS hour"}
        request = urllib.request.Request(f"http://{container.http}/api/v1/sql", json.dumps(query).encode(),
                                         {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read().decode()
        check('"02"' in text, f"the time zones are not there: {text}")
        container.process.send_signal(signal.SIGTERM)
        check(container.process.wait(timeout=60) == 0, f"it ended with {container.process.returncode}")
        said = container.run(*health)
        check(said.returncode == 1, f"the health check of a server that has ended says {said}")
    finally:
        container.process.kill()
        container.process.wait()
    check((data / "CURRENT").exists() or any(data.iterdir()), "the data is elsewhere")


def main():
    sonde, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    missing = [tool for tool in ["dpkg-query", "patchelf", "strip", "unshare", "chroot"] if not shutil.which(tool)]
    if missing:
        print(f"not here: {', '.join(missing)} (scripts/install-dependencies --tests)")
        sys.exit(77)
    version = run(sonde, "--version").split()[1]
    dated = {**os.environ, "SOURCE_DATE_EPOCH": "1760000000"}
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        work.chmod(0o755)
        paths = [pathlib.Path(run(root / "scripts/package", "--binary", sonde, "--out", work / out, "--only", "image", env=dated).strip())
                 for out in ["out", "again"]]
        check(paths[0].read_bytes() == paths[1].read_bytes(), "the same program gives two different images")
        image = Image(paths[0])
        check_config(image, version)
        check_layer(image)
        print(f"{paths[0].stat().st_size:>12,} bytes  {paths[0].name}")
        if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
            print("not run, for want of the right to change root: the rest passed")
            sys.exit(77)
        check_runs(image, work)


if __name__ == "__main__":
    main()
