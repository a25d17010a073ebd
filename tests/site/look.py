"""Looks at the built site as a reader's browser does: `python tests/site/look.py build/site` (`make site`). Exit code 0: all is well.

Every page is opened in a frame of a phone's width (390 pixels) and of a laptop's (1366), in light and dark colours, by headless
Chromium (Debian: apt install chromium); without it nothing is looked at but the links. Names of pages after the folder restrict
what is opened: `python tests/site/look.py build/site index.html`. Looked for:

- links and pictures that lead nowhere, and places in pages that are not there;
- pages that are wider than the screen; code and tables of which a part is only to be seen by scrolling sideways; errors and warnings on the console; requests that leave the site;
- text and ground of too little contrast;
- the search: it must find DataParallel, and lead to it; the first word of each page in docs/site/words.txt must lead to that page.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from html import unescape
from pathlib import Path
from urllib.parse import unquote

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 900  # seconds for all pages
# runs in each page before its own scripts
HOOK = """<script>
window.said = [];
window.addEventListener("error", e => said.push("error: " + (e.message || (e.target.src || e.target.href) + " is not there")), true);
window.addEventListener("unhandledrejection", e => said.push("rejected: " + e.reason));
for (const kind of ["error", "warn"]) { const old = console[kind]; console[kind] = (...a) => { said.push(kind + ": " + a.join(" ")); old(...a); }; }
</script>"""
DRIVER = """<!doctype html><title>look</title><body><script>
const pages = PAGES, results = {};
const wait = ms => new Promise(done => setTimeout(done, ms));
async function open(path, width) {
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:740px;border:0`;
  document.body.append(frame);
  await new Promise(done => { frame.onload = done; frame.src = path; });
  return frame;
}
function brightness(color) {
  const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(doc, scheme) {
  doc.body.setAttribute("data-md-color-scheme", scheme);
  const view = doc.defaultView, ground = brightness(view.getComputedStyle(doc.body).backgroundColor);
  const article = doc.querySelector("article"), ink = brightness(view.getComputedStyle(article.querySelector("p, li, h1")).color);
  const [low, high] = [ground, ink].sort((a, b) => a - b);
  return [ground, (high + 0.05) / (low + 0.05)];
}
function wide(doc, width) {
  const names = [];
  for (const e of doc.querySelectorAll("article *")) {
    const box = e.getBoundingClientRect();
    if (box.right > width + 1 && !e.closest("pre, .md-typeset__scrollwrap, .md-typeset__table")) names.push(e.tagName + ": " + e.textContent.trim().slice(0, 60));
  }
  return names.slice(0, 3);
}
function cut(doc) {
  return [...doc.querySelectorAll("article pre > code, article .md-typeset__scrollwrap")].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth)
    .map(e => `${e.scrollWidth} pixels in ${e.clientWidth}: ` + e.textContent.trim().slice(0, 60).replace(/\\s+/g, " "));
}
async function look(path) {
  const found = {};
  for (const width of [390, 1366]) {
    const frame = await open(path, width), doc = frame.contentDocument, view = frame.contentWindow;
    await wait(width == 390 ? 150 : 50);
    const root = doc.documentElement;
    found[width] = {wide: root.scrollWidth > view.innerWidth ? [root.scrollWidth + " pixels", ...wide(doc, width)] : [],
                    cut: cut(doc), said: view.said, left: view.performance.getEntriesByType("resource").map(e => e.name).filter(u => !u.startsWith(location.origin) && !u.startsWith("data:") && !u.startsWith("blob:")),
                    title: doc.title, unloaded: [...doc.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)};
    if (doc.querySelector("article p, article li, article h1")) found[width].contrast = ["default", "slate"].map(s => contrast(doc, s));
    frame.remove();
  }
  return found;
}
async function search(words) {
  const frame = await open("index.html", 390), doc = frame.contentDocument;
  const input = doc.querySelector("input[data-md-component=search-query]");
  if (!input) return [];
  doc.querySelector("#__search").checked = true;
  input.focus(); input.value = words;
  for (let k = 0; k < 200; k++) {
    input.dispatchEvent(new frame.contentWindow.Event("keyup", {bubbles: true}));
    input.dispatchEvent(new frame.contentWindow.Event("input", {bubbles: true}));
    await wait(100);
    const links = [...doc.querySelectorAll(".md-search-result__link")].map(a => a.href);
    if (links.length) { frame.remove(); return links; }
  }
  return [];
}
async function toggle() {
  const frame = await open("index.html", 1366), doc = frame.contentDocument, seen = [];
  for (let k = 0; k < 2; k++) {
    [...doc.querySelectorAll("label[for^=__palette]")].find(e => !e.hidden)?.click();
    await wait(100); seen.push(doc.body.getAttribute("data-md-color-scheme"));
  }
  frame.remove(); return seen;
}
(async () => {
  const queue = [...pages];
  await Promise.all([1, 2, 3].map(async () => { while (queue.length) { const path = queue.shift(); try { results[path] = await look(path); } catch (e) { results[path] = {failed: "" + e}; } } }));
  const found = await search("DataParallel"), schemes = await toggle(), words = {};
  for (const [page, word] of Object.entries(WORDS)) words[page] = [word, await search(word)];
  await fetch("/__done__", {method: "POST", body: JSON.stringify({results, found, schemes, words})});
})();
</script>"""


def links(site: Path) -> list[str]:
    """Links and pictures of all pages that lead nowhere."""
    pages = {path.relative_to(site).as_posix(): path.read_text() for path in sorted(site.rglob("*.html"))}
    places = {name: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) | {""} for name, text in pages.items()}
    wrong = []
    for name, text in pages.items():
        text = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.S)
        for target in sorted({unescape(target) for target in re.findall(r'\b(?:href|src)="([^"]*)"', text)}):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, place = target.partition("#")
            base = "" if name == "404.html" and file.startswith("/") else os.path.dirname(name)
            path = os.path.normpath(os.path.join(base, unquote(file.split("?")[0]).lstrip("/"))) if file else name
            path = "index.html" if path == "." else path
            if not (site / path).is_file():
                wrong.append(f"{name}: no file {target}")
            elif path in places and unquote(place) not in places[path]:
                wrong.append(f"{name}: no place {target}")
    return wrong


def words() -> dict[str, str]:
    """docs/site/words.txt: page -> its first word."""
    lines = (Path(__file__).parent.parent.parent / "docs/site/words.txt").read_text().splitlines()
    return {page: said.split(", ")[0] for page, _, said in (line.partition(".md: ") for line in lines if line[0] != "#")}


def browse(site: Path, pages: list[str], chromium: str) -> dict:
    """What the browser has found."""
    done: dict = {}
    ready = threading.Event()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_POST(self):
            done.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            ready.set()

        def do_GET(self):
            path = site / self.path.split("?")[0].lstrip("/")
            if self.path == "/__look__.html":
                text = DRIVER.replace("PAGES", json.dumps(pages)).replace("WORDS", json.dumps(words()))
            elif path.suffix == ".html" and path.is_file():
                text = path.read_text().replace("<head>", "<head>" + HOOK, 1)
            else:
                return super().do_GET()
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Handler(*a, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        browser = subprocess.Popen(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                f"--user-data-dir={folder}",
                "--window-size=1400,900",
                "--remote-debugging-port=0",
                f"http://127.0.0.1:{server.server_port}/__look__.html",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            if not ready.wait(PATIENCE):
                raise SystemExit(f"the browser has not looked at all of {len(pages)} pages in {PATIENCE} s")
        finally:
            browser.terminate()
            browser.wait()
            server.shutdown()
    return done


def judged(seen: dict) -> list[str]:
    """What is wrong with what the browser has found."""
    wrong = []
    for page, found in seen["results"].items():
        if "failed" in found:
            wrong.append(f"{page}: {found['failed']}")
            continue
        for width, view in found.items():
            wrong += [f"{page}: wider than {width} pixels: {', '.join(view['wide'])}"] * bool(view["wide"])
            wrong += [f"{page}: cut at {width} pixels: {words}" for words in view["cut"]]
            wrong += [f"{page}, {width} pixels: {words}" for words in view["said"]]
            wrong += [f"{page}: asks for {url}" for url in view["left"]] + [
                f"{page}: no picture {url}" for url in view["unloaded"]
            ]
            for scheme, (ground, contrast) in zip(("light", "dark"), view.get("contrast", []), strict=False):
                if contrast < 4.5 or (ground > 0.5) != (scheme == "light"):
                    wrong.append(f"{page}: {scheme}: contrast {contrast:.1f} on a ground of {ground:.2f}")
    if not any(re.search(r"reference/data_parallel.html(\?.*)?#dparallel.DataParallel$", url) for url in seen["found"]):
        wrong.append(f"the search for DataParallel finds {seen['found'][:5]}")
    for page, (word, urls) in seen["words"].items():
        if not any(f"/{page}.html" in url for url in urls[:4]):
            wrong.append(f"the search for {word!r} does not lead to {page} first: {urls[:4]}")
    if sorted(seen["schemes"]) != ["default", "slate"]:
        wrong.append(f"the button for dark and light gives {seen['schemes']}")
    return wrong


def chromium() -> str | None:
    """The browser."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


def main(folder: str, *only: str) -> int:
    """Look at the site in this folder; the exit code."""
    site = Path(folder).resolve()
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html")) if path.name != "404.html"]
    pages = [page for page in pages if not only or page in only]
    if not pages:
        print(f"{folder}: no pages; make docs")
        return 2
    wrong = links(site)
    browser = chromium()
    if browser is None:
        print("links only: no chromium here (Debian: apt install chromium)")
    else:
        wrong += judged(browse(site, pages, browser))
    print(*wrong, sep="\n")
    print(f"{len(pages)} pages, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["build/site"])))
