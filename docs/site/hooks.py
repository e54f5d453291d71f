"""Fills the entries of the navigation that have `*`: see mkdocs.yml."""

import fnmatch


def names_of(entry):
    """The pages that an entry of the navigation names."""
    if isinstance(entry, str):
        return {entry}
    return set().union(*(names_of(below) for below in (entry.values() if isinstance(entry, dict) else entry)), set())


def filled(entry, pages, named):
    if isinstance(entry, dict):
        return {title: filled(below, pages, named) for title, below in entry.items()}
    if isinstance(entry, str):
        return entry
    result = []
    for below in entry:
        if isinstance(below, str) and "*" in below:
            result += [page for page in pages if fnmatch.fnmatch(page, below) and page.count("/") == below.count("/") and page not in named]
        else:
            result.append(filled(below, pages, named))
    return result


def on_files(files, config):
    pages = sorted(file.src_uri for file in files.documentation_pages())
    config.nav = filled(config.nav, pages, names_of(config.nav))
    return files
