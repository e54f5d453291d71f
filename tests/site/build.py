#!/usr/bin/env python3
"""The site of the documents is built, shows every page, and fetches nothing from elsewhere; a dead link fails the build, whether its page,
its file or its heading is missing.

usage: build.py ROOT
Exit status: 77, if the generator cannot be had.
"""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PAGES_MIN = 75
# A page with a fault of each kind, and what the build says of it.
FAULTS = {
    "[a page](no-such-page.md)": "no-such-page.md",
    "[a file](../ops/no-such-file.yaml)": "no-such-file.yaml",
    "[a heading](runbook.md#no-such-heading)": "no-such-heading",
    "[a heading here](#nor-this-one)": "nor-this-one",
    "![a picture](pictures/no-such-picture.png)": "no-such-picture.png",
    "[a directory](decisions)": "decisions",
}


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def build(script, output, *more):
    done = subprocess.run([sys.executable, script, "--output", output, *more], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=280)
    if done.returncode == 77:
        print(f"not run: {done.stderr.strip()}")
        sys.exit(77)
    return done.returncode, done.stdout + done.stderr


class Fetched(html.parser.HTMLParser):
    """What a browser fetches by itself when it shows the page."""

    def __init__(self):
        super().__init__()
        self.urls = []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in ("script", "img", "iframe", "source") or (tag == "link" and attributes.get("rel") != "canonical"):
            self.urls += [url for name in ("src", "href", "srcset") if (url := attributes.get(name))]


def look(site):
    pages = list(site.rglob("*.html"))
    check(len(pages) >= PAGES_MIN, f"the site has only {len(pages)} pages")
    fetched = 0
    for page in pages:
        parser = Fetched()
        parser.feed(page.read_text(encoding="utf-8"))
        fetched += len(parser.urls)
        foreign = [url for url in parser.urls if re.match(r"(\w+:)?//", url)]
        check(not foreign, f"{page.relative_to(site)} fetches {foreign}")
    check(fetched > len(pages), "the pages fetch nothing: the test sees no style sheets")
    for sheet in site.rglob("*.css"):
        check(not re.search(r"url\([\"']?(https?:)?//|@import", sheet.read_text(encoding="utf-8")), f"{sheet.name} fetches from elsewhere")
    return len(pages)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        status, text = build(root / "scripts/docs", work / "site")
        check(status == 0, f"the site is not built:\n{text}")
        pages = look(work / "site")

        # The same tree with one more page, whose links are dead.
        copy = work / "copy"
        for part in ("docs", "bench", "examples", "ops", "web/public"):
            shutil.copytree(root / part, copy / part, ignore=shutil.ignore_patterns("*.csv"))
        for file in [*root.glob("*.md"), root / "LICENSE"]:
            shutil.copy(file, copy)
        (copy / "docs/faults.md").write_text("# Faults\n\n" + "\n\n".join(FAULTS) + "\n", encoding="utf-8")
        status, text = build(root / "scripts/docs", work / "faulty", "--root", copy)
        check(status == 1, f"a page with dead links ends the build with {status}:\n{text}")
        for link, said in FAULTS.items():
            check(any("faults.md" in line and said in line for line in text.splitlines()), f"the build does not name {link}:\n{text}")
    print(f"{pages} pages, and {len(FAULTS)} dead links are found")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
