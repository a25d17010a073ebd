"""What MkDocs calls: which pages there are, links between them, the reference, and that no public name is without a place.

Pages are docs/**/*.md as they are, pages of other folders (TOP), and the reference (reference.py). The first page, home.md,
has parts of README.md. The order of pages is that of docs/README.md. Links are written for the repository; here they are
turned to the site's pages, and those to sources to copies of them.

`mkdocs serve` rebuilds only the page that was edited. For this, pages that are not in docs are written to build/pages when
they change: MkDocs compares times of files.
"""

from __future__ import annotations

import builtins
import importlib
import os.path
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import reference

ROOT = Path(__file__).parent.parent.parent
log = get_plugin_logger("dparallel")
# page in the repository: in the site, where it lies elsewhere
TOP = {
    "docs/site/home.md": "index.md",
    "docs/README.md": "pages.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
}
BUILTINS = "|".join(name for name in dir(builtins) if not name.startswith("_"))
PAGE = re.compile(r"(?<![\w/\[`])docs/((?:design/)?\w+\.md)\b")  # named in the changelog
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")


class Site:
    """What the hooks share while one site is built."""

    def __init__(self) -> None:
        self.reference = reference.whole()
        self.pages = {**TOP, "README.md": "index.md"}  # repository path: the site's
        self.sources: set[str] = set()  # files of the repository that pages link to

    def uri(self, path: str) -> str | None:
        """Where a path of the repository is in the site."""
        if path in self.pages:
            return self.pages[path]
        if (ROOT / path).is_dir():
            return "pages.md"
        return path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}"

    def turned(self, text: str, path: str) -> str:
        """A page's text with links from its place in the site; path: its place in the repository."""
        here = os.path.dirname(self.pages.get(path, path.removeprefix("docs/")))

        def turn(match: re.Match[str]) -> str:
            file, hash_, anchor = match[1].partition("#")
            if "://" in match[1] or not file:
                return match[1]
            target = os.path.normpath(os.path.join(os.path.dirname(path), file))
            uri = self.uri(target)
            if uri.startswith("source/") and (ROOT / target).is_file():
                self.sources.add(target)                 # what is not there MkDocs names, with the page that links to it
            return os.path.relpath(uri, here or ".") + hash_ + anchor

        parts = re.split(r"(^```.*?^```)", text, flags=re.S | re.M)
        text = "".join(part if k % 2 else LINK.sub(turn, part) for k, part in enumerate(parts))
        return PAGE.sub(lambda match: f"[{match[1]}]({self.uri(match[0])})", text) if path == "CHANGELOG.md" else text


def on_startup(command: str, dirty: bool) -> None:
    """The folder that mkdocstrings reads: it takes note of folders that are there, before on_config()."""
    reference.FOLDER.mkdir(parents=True, exist_ok=True)


def on_serve(server: Any, config: MkDocsConfig, builder: Any) -> Any:
    """A change rebuilds only pages that have changed; without strict, as MkDocs warns of such builds."""

    def rebuild() -> None:
        changed = load_config(config.config_file_path, site_dir=config.site_dir, strict=False)
        changed.site_url = config.site_url
        build(changed, serve_url=config.site_url, dirty=True)

    server.builder = rebuild
    return server


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The order of pages, and the modules that mkdocstrings reads."""
    config.extra["site"] = site = Site()
    config.plugins["material/search"].is_dirty = True  # keeps what is known of pages that are not rebuilt
    nav: list[Any] = [{"Home": "index.md"}]
    for part in re.split(r"^## ", (ROOT / "docs/README.md").read_text(), flags=re.M)[1:]:
        links = [os.path.normpath(f"docs/{target}") for target in re.findall(r"^- \[.*?\]\((.*?)\)", part, flags=re.M)]
        nav.append({part.split("\n")[0].partition(":")[0]: [{title_of(link): site.uri(link)} for link in links]})
    pages = [{title: f"reference/{name}.md"} for name, (title, _) in site.reference.pages.items()]
    (listed,) = (part["Reference"] for part in nav if "Reference" in part)
    listed[:] = [{"All names": "reference/index.md"}, *listed, {"dprun": "reference/dprun.md"}, *pages]
    nav[-1]["Project"].append({"All pages": "pages.md"})
    config.nav = nav
    return config


def searched_words() -> dict[str, list[str]]:
    """words.txt: page -> words."""
    lines = (Path(__file__).parent / "words.txt").read_text().splitlines()
    return {page: words.split(", ") for page, _, words in (line.partition(": ") for line in lines if line[0] != "#")}


def title_of(path: str) -> str:
    """A page's first heading."""
    return re.search(r"^# (.*)$", (ROOT / path).read_text(), flags=re.M)[1].replace("`", "")


def home(site: Site) -> str:
    """The first page: home.md, with the version and sections of README.md."""
    parts = dict(re.findall(r"^##? (.*)\n\n((?:(?!## ).*\n)+)", (ROOT / "README.md").read_text(), flags=re.M))
    parts = {title: site.turned(text, "README.md").strip() for title, text in parts.items()}
    parts["version"] = importlib.import_module("autograd").__version__
    text = site.turned((ROOT / "docs/site/home.md").read_text(), "docs/site/home.md")
    return re.sub(r"\{\{ (.*?) \}\}", lambda match: parts[match[1]], text)


def written(uri: str, text: str, config: MkDocsConfig) -> File:
    """A page that is not in docs, as a file in build/pages."""
    path = ROOT / "build/pages" / uri
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return File(uri, str(ROOT / "build/pages"), config.site_dir, config.use_directory_urls)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages that do not lie in docs, and the sources that pages link to."""
    site = config.extra["site"]
    files.remove(files.get_file_from_path("README.md"))
    texts = {uri: site.turned((ROOT / path).read_text(), path) for path, uri in TOP.items()}
    texts["index.md"] = home(site)
    for file in files.documentation_pages():
        if not file.inclusion.is_excluded():
            site.turned((ROOT / "docs" / file.src_uri).read_text(), f"docs/{file.src_uri}")
    texts |= {f"source/{path}": (ROOT / path).read_text() for path in sorted(site.sources)}
    texts |= {f"reference/{name}.md": site.reference.markdown(name) for name in site.reference.pages}
    texts |= {"reference/index.md": site.reference.index(), "reference/dprun.md": reference.command()}
    for uri, text in texts.items():
        files.append(written(uri, text, config))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links of a page in docs; comments that mark generated tables are for their generators."""
    uri = page.file.src_uri
    if uri in (words := searched_words()):
        page.meta["tags"] = words[uri]                   # read by the search alone
    if uri not in TOP.values() and not uri.startswith("reference/"):
        markdown = config.extra["site"].turned(markdown, f"docs/{uri}")
    return re.sub(r"^<!-- .*? -->\n", "\n", markdown, flags=re.M)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Annotations that name a type of Python are no links: mkdocstrings takes `float` for the dtype that the package around
    a function has by this name, and in Tensor's methods `int` for the method. Annotations' links are marked "optional"."""
    return re.sub(rf'<autoref identifier="[\w.]+\.({BUILTINS})"[^>]* optional[^>]*>(.*?)</autoref>', r"\2", html)


def on_post_build(config: MkDocsConfig) -> None:
    """Every public name has a place in the reference."""
    folder, site = Path(config.site_dir) / "reference", config.extra["site"]
    places = {
        name
        for page in folder.glob("*.html")
        for name in re.findall(r'\bid="((?:autograd|dparallel)[\w.]*)"', page.read_text())
    }
    missing = sorted(site.reference.anchors() - places)
    for name in (*missing, *reference.missing_modules()):
        log.warning("%s is public, and has no place in the reference (docs/site/pages.txt)", name)
    log.info("%d public names in the reference", len(site.reference.anchors()))
    for name in site.reference.not_installed:
        log.info("%s is left out: a package that it needs is not installed", name)
