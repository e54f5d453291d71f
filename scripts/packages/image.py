"""The OCI image: an archive of the OCI image layout, which `podman load`, `skopeo copy oci-archive:` and, from version 25, `docker load`
take.  No daemon is needed to make it.

One layer holds the program, its libraries with the C library and its loader, the time zones, two files of users, and nothing else: no
shell, no package manager.  The user is 65532, the root may be read-only, and the data is in the volume /var/lib/sonde.  The list of what
lies in it is share/doc/sonde/packages.txt.
"""

import gzip
import hashlib
import io
import json
import pathlib
import shutil
import tarfile
import time

import stage

USER = 65532
DATA = "var/lib/sonde"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
ZONES = pathlib.Path("/usr/share/zoneinfo")
# Whoever runs the image mounts something here.
MOUNTED = ["dev", "proc", "sys"]
# Only how zones are called by people, or twice the same.
ZONES_LEFT_OUT = {"right", "posix"}


def c_library(binary):
    """The C library's files and the loader, where the program looks for them."""
    for line in stage.run("ldd", binary).splitlines():
        name, _, rest = line.strip().partition(" => ")
        path = (rest or name).split(" (")[0]
        if stage.OF_THE_MACHINE.match(pathlib.Path(name.split()[0]).name) and path.startswith("/"):
            yield path


def fill(program, root):
    """The files of the layer below `root`; returns the packages of Debian that they are from."""
    program.carry(root / "usr")
    # Not by the program's own place, which the loader learns from /proc.
    stage.run("patchelf", "--force-rpath", "--set-rpath", "/usr/lib/sonde", root / "usr/bin/sonde")
    packages = set()
    for path in c_library(program.stripped):
        source = pathlib.Path(path).resolve()
        # /lib is /usr/lib in Debian; in the image there are only these files, where the program names them.
        stage.copy(source, root / path.lstrip("/"), 0o755)
        packages.add(package_of(source))
    for _, path in program.libraries:
        packages.add(package_of(path))
    shutil.copytree(ZONES, root / "usr/share/zoneinfo", symlinks=True,
                    ignore=lambda _, names: [name for name in names if name in ZONES_LEFT_OUT])
    packages.add("tzdata")
    stage.write(root / "etc/passwd", f"root:x:0:0:root:/:/nonexistent\nsonde:x:{USER}:{USER}:Sonde:/{DATA}:/nonexistent\n")
    stage.write(root / "etc/group", f"root:x:0:\nsonde:x:{USER}:\n")
    (root / DATA).mkdir(parents=True)
    for name in ["tmp", *MOUNTED]:
        (root / name).mkdir()
    lines = stage.run("dpkg-query", "-W", "-f", "${Package} ${Version} ${Architecture}\n", *sorted(packages))
    stage.write(root / "usr/share/doc/sonde/packages.txt", f"sonde {program.version}\n{lines}")


def package_of(path):
    for name in (path, pathlib.Path(str(path).removeprefix("/usr"))):
        asked = stage.subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            return asked.stdout.split(":")[0]
    raise stage.PackageError(f"no package owns {path}")


def layer_of(root, date):
    """The bytes of the layer, as a tar archive."""
    out = io.BytesIO()

    def cleaned(entry):
        of_sonde = entry.name == DATA
        entry.uid = entry.gid = USER if of_sonde else 0
        entry.uname = entry.gname = ""
        entry.mtime = date
        if entry.name == "tmp":
            entry.mode = 0o1777
        elif of_sonde:
            entry.mode = 0o700
        elif entry.isdir():
            entry.mode = 0o755
        return entry

    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(root.rglob("*")):
            archive.add(path, arcname=path.relative_to(root).as_posix(), recursive=False, filter=cleaned)
    return out.getvalue()


class Layout:
    """An image layout that grows, blob by blob."""

    def __init__(self):
        self.files = {"oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode()}

    def add(self, media_type, content):
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def write(self, path, date):
        with tarfile.open(path, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, content in sorted(self.files.items()):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mtime, entry.mode = len(content), date, 0o644
                archive.addfile(entry, io.BytesIO(content))


def as_bytes(value):
    return json.dumps(value, sort_keys=True).encode()


def config_of(program, layer):
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(program.date))
    return {
        "created": created,
        "architecture": ARCHITECTURES.get(program.machine, program.machine),
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/bin"],
            "Entrypoint": ["/usr/bin/sonde"],
            "Cmd": ["serve", "--data-dir", f"/{DATA}"],
            "WorkingDir": f"/{DATA}",
            "Volumes": {f"/{DATA}": {}},
            "ExposedPorts": {"8086/tcp": {}, "8087/tcp": {}},
            "StopSignal": "SIGTERM",
            # Docker's and Podman's; times are in nanoseconds.
            "Healthcheck": {"Test": ["CMD", "/usr/bin/sonde", "status", "--quiet"], "Interval": 30 * 10**9, "Timeout": 10 * 10**9,
                            "StartPeriod": 60 * 10**9, "Retries": 3},
            "Labels": {"org.opencontainers.image.title": "sonde", "org.opencontainers.image.version": program.version,
                       "org.opencontainers.image.description": stage.SUMMARY, "org.opencontainers.image.licenses": "Apache-2.0"},
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": created, "created_by": "scripts/package"}],
    }


def build(program, out):
    if program.machine not in ARCHITECTURES:
        raise stage.PackageError(f"an image is for {', '.join(ARCHITECTURES)}, but this machine is {program.machine}")
    root = program.work / "image"
    fill(program, root)
    layer = layer_of(root, program.date)
    shutil.rmtree(root)
    layout = Layout()
    config = layout.add("application/vnd.oci.image.config.v1+json", as_bytes(config_of(program, layer)))
    packed = layout.add("application/vnd.oci.image.layer.v1.tar+gzip", gzip.compress(layer, compresslevel=6, mtime=0))
    manifest = layout.add("application/vnd.oci.image.manifest.v1+json",
                          as_bytes({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                                    "config": config, "layers": [packed]}))
    named = {**manifest, "annotations": {"org.opencontainers.image.ref.name": f"sonde:{program.version}"}}
    layout.files["index.json"] = as_bytes({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
                                           "manifests": [named]})
    path = out / f"sonde-{program.version}-oci-{ARCHITECTURES[program.machine]}.tar"
    layout.write(path, program.date)
    return path
