"""The .deb for Debian 12: program, unit, user, settings, manual page and completions.  Shared libraries are Debian's own."""

import email.utils
import pathlib
import shutil

import stage

MAINTAINER = "Sonde maintainers <maintainers@sonde.example>"
DESCRIPTION = """Description: {summary}
 Sonde serves the Bigtable API over gRPC, keeps its data on the local disk,
 and packs it as a time-series engine does.  Declared series, SQL, Prometheus
 and line protocol come with it, in one program.
 .
 The package sets up the unit sonde.service, which listens on loopback, and
 the settings /etc/sonde/sonde.yaml.
"""
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: sonde
Comment: The licences of what is linked into the program are in the directory
 licenses beside this file.

Files: *
Copyright: 2026 Sonde authors
License: Apache-2.0
 On Debian systems, the text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
"""


def depends(program, root):
    """The packages of shared libraries, by their own lists of symbols."""
    scratch = program.work / "shlibs"
    stage.write(scratch / "debian/control", "Source: sonde\n\nPackage: sonde\nArchitecture: any\n")
    text = stage.run("dpkg-shlibdeps", "-O", "-e" + str(root / "usr/bin/sonde"), cwd=scratch)
    shutil.rmtree(scratch)
    libraries = text.strip().removeprefix("shlibs:Depends=")
    return f"{libraries}, systemd | systemd-standalone-sysusers | systemd-sysusers, tzdata"


def control(program, root):
    size_kib = sum(-(-path.stat().st_size // 1024) for path in root.rglob("*") if path.is_file())
    fields = {
        "Package": "sonde", "Version": program.version, "Architecture": stage.run("dpkg", "--print-architecture").strip(),
        "Maintainer": MAINTAINER, "Installed-Size": size_kib, "Depends": depends(program, root),
        "Section": "database", "Priority": "optional"}
    head = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return head + DESCRIPTION.format(summary=stage.SUMMARY)


def build(program, out):
    root = program.work / "deb"
    stage.copy(program.stripped, root / "usr/bin/sonde", 0o755)
    stage.copy(stage.ROOT / "ops/sonde.service", root / "lib/systemd/system/sonde.service")
    stage.copy(stage.ROOT / "ops/sonde.sysusers", root / "usr/lib/sysusers.d/sonde.conf")
    stage.copy(stage.ROOT / "ops/sonde.yaml", root / "etc/sonde/sonde.yaml")
    share = root / "usr/share"
    stage.write(share / "man/man1/sonde.1.gz", stage.packed(program.manual))
    stage.write(share / "bash-completion/completions/sonde", program.completions["bash"])
    stage.write(share / "zsh/vendor-completions/_sonde", program.completions["zsh"])
    stage.write(share / "fish/vendor_completions.d/sonde.fish", program.completions["fish"])
    program.add_licences(share / "doc/sonde")
    (share / "doc/sonde/LICENSE").unlink()  # copyright says where Debian has it
    stage.write(share / "doc/sonde/copyright", COPYRIGHT)
    program.add_documents(share / "doc/sonde")
    date = email.utils.formatdate(program.date)
    stage.write(share / "doc/sonde/changelog.gz", stage.packed(
        f"sonde ({program.version}) unstable; urgency=medium\n\n  * The program of this version.\n\n -- {MAINTAINER}  {date}\n"))

    stage.write(root / "DEBIAN/control", control(program, root))
    stage.write(root / "DEBIAN/conffiles", "/etc/sonde/sonde.yaml\n")
    for script in ["postinst", "prerm", "postrm"]:
        stage.copy(stage.ROOT / "ops/debian" / script, root / "DEBIAN" / script, 0o755)
    sums = [f"{stage.run('md5sum', path).split()[0]}  {path.relative_to(root)}\n"
            for path in sorted(root.rglob("*"))
            if path.is_file() and path.relative_to(root).parts[0] not in ("DEBIAN", "etc")]
    stage.write(root / "DEBIAN/md5sums", "".join(sums))
    architecture = stage.run("dpkg", "--print-architecture").strip()
    path = out / f"sonde_{program.version}_{architecture}.deb"
    stage.run("env", f"SOURCE_DATE_EPOCH={program.date}", "dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, path)
    shutil.rmtree(root)
    return path
