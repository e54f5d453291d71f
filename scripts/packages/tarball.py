"""The tarball: a directory with bin, lib, share and the unit, to be unpacked anywhere."""

import gzip
import shutil
import tarfile

import stage


def build(program, out):
    name = f"sonde-{program.version}-linux-{program.machine}"
    directory = program.work / name
    program.carry(directory)
    for file in ["sonde.service", "sonde.sysusers", "sonde.yaml", "alerts.yaml", "dashboard.json"]:
        stage.copy(stage.ROOT / "ops" / file, directory / "ops" / file)

    def cleaned(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = program.date
        return entry

    path = out / f"{name}.tar.gz"
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=program.date) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
            archive.add(directory, arcname=name, filter=cleaned)  # in the order of names
    shutil.rmtree(directory)
    return path
