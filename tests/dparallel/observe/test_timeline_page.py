"""The page of a report: well-formed, complete, without anything from elsewhere, of one rank and of thousands."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from dparallel.observe.timeline.advice import advice
from dparallel.observe.timeline.page import joined, nice, page, ranges, significant, size
from dparallel.observe.timeline.report import text_of

VOID = {"meta", "br", "img", "hr", "input", "link"}


def row(rank, rng, hosts):
    parts = {"script": 0.1, "loader": 0.5 + rng.random(), "forward": 4 + rng.random(), "backward": 8 + rng.random(), "optimizer": 0.7}
    waiting, exposed = 3 * rng.random(), 1 + rng.random()
    return {"rank": rank, "host": f"node{rank * hosts // 10_000}", "step_ms": sum(parts.values()) + waiting + exposed,
            "compute_ms": sum(parts[part] for part in ("forward", "backward", "optimizer")), "other_ms": parts["script"] + parts["loader"],
            "waiting_ms": waiting, "exposed_ms": exposed, "in_flight_ms": 6.0, "overlap_ms": 3.5, "stolen_ms": 0.01, "stolen_parts_ms": {}, "parts_ms": parts,
            "rows": 64.0, "steps": 300, "cores": 2, "threads": "1"}


def made(ranks=4, steps=300, **changes):
    rng = np.random.default_rng(ranks)
    rows = [row(rank, rng, ranks) for rank in range(ranks)]
    slow = min(1, ranks - 1)
    waiting = {str(rank): 1.0 + rank / ranks for rank in range(ranks) if rank != slow}
    total = sum(waiting.values())
    causes = [{"rank": slow, "part": part, "ms_per_step": total * part_share, "share": part_share,
               "waiting_ms": {waiter: time * part_share for waiter, time in waiting.items()}}
              for part, part_share in (("loader", 0.7), ("other process", 0.25), ("rows", 0.05))] if ranks > 1 else []
    series = {"step": list(range(20, 20 + steps)), "ms": (15 + rng.random(steps)).tolist(),
              "waiting_ms": {str(rank): (3 * rng.random(steps)).tolist() for rank in range(ranks)},
              "exposed_ms": {str(rank): rng.random(steps).tolist() for rank in range(ranks)}}
    if steps:
        series["ms"][0] = 400.0
    path = [{"rank": n % min(ranks, 3), "part": part, "ms": time} for n, (part, time) in enumerate(
        [("loader", 1.5), ("forward", 4.5), ("backward", 8.25), ("transfer", 1.0), ("optimizer", 0.7)])]
    data = {"ranks": ranks, "missing": [], "spares": [], "deaths": [], "unfinished": [], "hosts": sorted({row["host"] for row in rows}), "clock_bound_us": 7.5, "recorded_s": 12.34,
            "steps": {"count": steps, "first": 20, "last": 19 + steps, "median_ms": 15.5, "worst_ms": 400.0, "worst": 20, "typical": 33}
            if steps else {"count": 0, "first": None, "last": None, "median_ms": None, "worst_ms": None, "worst": None, "typical": None},
            "per_rank": rows, "causes": causes, "before_first_step": [{**cause, "part": "start"} for cause in causes[:1]],
            "links": [{"from": 0, "to": 1, "ms_per_step": 1.25}] if ranks > 1 else [],
            "lanes": [{"rank": 0, "device": 1, "part": "forward", "ms_per_step": 0.75}],
            "critical_path": {kind: {"step": number, "ms": 15.95, "segments": path} for kind, number in (("typical", 33), ("worst", 20))}
            if steps else {},
            "network": {"sums": [{"name": f"bucket {n}", "bytes": 2_000_000.0 - n, "transfer_us": 812.5 + n, "queued_us": 3.25, "count": 300,
                                  "GB_per_s": 2.46 if n else None} for n in range(25)], "possible_GB_per_s": 5.5,
                        "achieved_GB_per_s": 2.46, "bytes_per_step": 48e6}, "series": series}
    data.update(changes)
    return {**data, "advice": advice(data)}


class Parsed(HTMLParser):
    """A page: its texts and attributes; that every tag is closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.texts, self.tags, self.titles, self.styles, self.cells = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        assert len(values) == len(attributes), f"an attribute twice: {attributes}"
        for name in ("src", "href", "data", "action", "srcset", "onclick", "onload"):
            assert name not in values
        self.tags.append(tag)
        self.titles.append(values.get("title", ""))
        self.styles.append(values.get("style", ""))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.cells.append([])
        elif tag in ("td", "th"):
            self.cells[-1].append("")

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append(data)
        if (self.open and "td" in self.open) or "th" in self.open:
            self.cells[-1][-1] += data

    @property
    def text(self):
        return " ".join(self.texts)


@pytest.mark.parametrize("ranks, steps", [(1, 40), (2, 1), (4, 300), (64, 30), (65, 2), (2000, 50), (3, 0)])
def test_pages_are_whole_and_alone(ranks, steps):
    data = made(ranks, steps)
    text = page(data)
    parsed = Parsed(text)
    assert "script" not in parsed.tags and "link" not in parsed.tags and "img" not in parsed.tags
    assert not re.search(r"https?:|url\(|@import|//", re.sub(r"<pre>.*</pre>", "", text, flags=re.S))
    assert "None" not in parsed.text and "nan" not in parsed.text.split() and "inf" not in parsed.text.split()
    assert text_of(data) in parsed.texts
    assert all(sentence in parsed.texts for sentence in data["advice"])
    assert len(text) < 300_000 + 20 * ranks
    for kind in ("prefers-color-scheme:dark", "width=device-width", "max-width:32rem"):
        assert kind in text


def test_each_rank_has_a_bar_whose_pieces_are_the_datas():
    data = made(5)
    parsed = Parsed(page(data))
    longest = max(row["step_ms"] for row in data["per_rank"])
    for row in data["per_rank"]:
        pieces = {title: style for title, style in zip(parsed.titles, parsed.styles, strict=True)
                  if title.startswith(f"rank {row['rank']}: ") and style.startswith("width")}
        wanted = {**row["parts_ms"], "waiting": row["waiting_ms"], "transfer": row["exposed_ms"]}
        assert len(pieces) == len(wanted)
        for time, style in zip(sorted(wanted.values()), sorted(pieces.values(), key=lambda s: float(re.match(r"width:([\d.]+)%", s)[1])), strict=True):
            assert float(re.match(r"width:([\d.]+)%", style)[1]) == pytest.approx(100 * time / longest, abs=1e-3)
        assert any(title.endswith(f"{row['waiting_ms']:.2f} ms") for title in pieces)
        cells = next(cells for cells in parsed.cells if cells[:1] == [f"rank {row['rank']}"] and len(cells) == 9)
        assert cells[1:] == [f"{row[key]:.2f}" for key in ("step_ms", "compute_ms", "other_ms", "waiting_ms", "exposed_ms", "overlap_ms",
                                                           "stolen_ms")] + ["64"]


def test_who_made_whom_wait_and_why():
    data = made(4)
    parsed = Parsed(page(data))
    head = next(n for n, cells in enumerate(parsed.cells) if cells[:2] == ["by", "rank 0"])
    assert parsed.cells[head + 1] == ["rank 1", "1.00", "", "1.50", "1.75"]
    first = next(n for n, cells in enumerate(parsed.cells) if cells == ["", "by", "waiting", "share"])
    assert [[text.strip() for text in cells] for cells in parsed.cells[first + 1:first + 4]] == [
        ["rank 1", "the data loader", "2.97 ms", "70%"], ["rank 1", "another process on its core", "1.06 ms", "25%"],
        ["rank 1", "more rows than the others", "0.21 ms", "5%"]]
    assert ["rank 0", "device 1", "forward", "0.75 ms"] in parsed.cells
    assert [text.strip() for text in parsed.cells[first + 5]] == ["rank 1", "before its first step (imports, construction)", "2.97 ms", "70%"]


def test_paths_series_and_sums():
    data = made(4)
    text = page(data)
    parsed = Parsed(text)
    assert "rank 0 loader 1.50 → rank 1 forward 4.50 → rank 2 backward 8.25 → rank 0 transfer 1.00 → rank 1 optimizer 0.70" in parsed.texts
    assert "rank 2: backward 8.25 ms" in parsed.titles
    lefts = [float(style.split("left:")[1].split("%")[0]) for style in parsed.styles if "left:" in style][:5]
    assert sorted(lefts) == pytest.approx(np.cumsum([0, 1.5, 4.5, 8.25, 1.0]) / 15.95 * 100, abs=1e-3)
    assert "1 step above 20 are cut off; the longest is 400.00 ms." in parsed.texts
    line = re.search(r'<polyline points="([^"]*)"[^>]*><title>rank 2<', text)[1].split()
    assert len(line) == 300
    axis = nice(max(max(values) for values in data["series"]["waiting_ms"].values()))
    assert [100 - float(point.split(",")[1]) for point in line] == pytest.approx(
        [100 * value / axis for value in data["series"]["waiting_ms"]["2"]], abs=0.01)
    assert ["bucket 1", "2.00 MB", "300", "813.5", "3.2", " 2.46"] in parsed.cells and ["bucket 0", "2.00 MB", "300", "812.5", "3.2", ""] in parsed.cells
    assert ["rank 0 to 1", "1.25 ms"] in parsed.cells and "And 5 others." in parsed.texts and "GB/s of 5.5" in [cells[-1] for cells in parsed.cells if cells]


def test_many_ranks_share_bars_columns_and_lines():
    data = made(2000, 20)
    text = page(data)
    parsed = Parsed(text)
    bars = [(title, style) for title, style in zip(parsed.titles, parsed.styles, strict=True) if style.startswith("width") and title.startswith("ranks")]
    names = {title.split(":")[0] for title, _ in bars}
    assert len(names) == 63 and "ranks 0-31" in names and "ranks 1984-1999" in names
    forward = np.mean([row["parts_ms"]["forward"] for row in data["per_rank"][:32]])
    assert f"ranks 0-31: forward {forward:.2f} ms" in parsed.titles
    slow = max(data["per_rank"], key=lambda row: row["waiting_ms"])
    assert any(cells[0] == f"most waiting: rank {slow['rank']}" for cells in parsed.cells)
    head = next(cells for cells in parsed.cells if cells[:1] == ["by"])
    assert len(head) == 17 and head[1] == "0-124"
    assert re.findall(r"<title>(the rank that waits \w+|median of the ranks)</title>", text) == [
        "the rank that waits least", "median of the ranks", "the rank that waits most"]


def test_what_is_missing_is_said():
    parsed = Parsed(page(made(3, missing=[0, 1, 2, 7], hosts=["a", "b"])))
    assert any("Nothing is here of 4 ranks:" in text for text in parsed.texts) and any("0-2, 7" in text for text in parsed.texts)
    parsed = Parsed(page(made(2, deaths=[{"rank": 1, "seconds": 2.0, "step": 7, "left": 1}])))
    assert "rank 1 died; 1 rank continued after 2.0 s, from step 7" in parsed.texts
    parsed = Parsed(page(made(3, missing=[0, 1, 2, 7], hosts=["a", "b"])))
    assert "clocks of hosts agree within" in parsed.texts and "7.5 us" in parsed.texts
    parsed = Parsed(page(made(1, 40, network={"sums": [], "possible_GB_per_s": None, "achieved_GB_per_s": None, "bytes_per_step": 0.0})))
    assert "Nobody waited for longer than 2 us." in parsed.texts and "Network" not in parsed.texts


def test_texts_of_others_are_escaped():
    evil = '<script>alert("1")</script>&'
    data = made(2, hosts=[evil])
    for row in data["per_rank"]:
        row["host"] = evil
    data["network"]["sums"][0]["name"] = evil
    data["advice"][0] = evil
    data["causes"][0]["part"] = evil
    data["critical_path"]["typical"]["segments"][0]["part"] = evil
    text = page(data)
    assert "<script" not in text
    parsed = Parsed(text)
    assert evil in parsed.texts and evil in parsed.titles and evil in [cells[0] for cells in parsed.cells]


def test_numbers_as_texts():
    assert [nice(value) for value in (0, 0.0011, 14.2, 1, 8.5)] == [1.0, pytest.approx(0.0015), 15, 1, 10]
    assert [size(value) for value in (12, 1234, 5e6, 2.5e9)] == ["12 B", "1.23 kB", "5.00 MB", "2.50 GB"]
    assert significant(0.012345) == "0.0123" and significant(12345) == "12345" and ranges([1, 2, 4]) == "1-2, 4" and ranges([]) == ""
    segments = [{"rank": 0, "part": "forward", "ms": 50.0}, {"rank": 0, "part": "collector", "ms": 0.1}, {"rank": 0, "part": "forward", "ms": 30.0}]
    assert joined(segments) == [(0, "forward", 80.0)]


def cause(rank, part, **waiting):
    return {"rank": rank, "part": part, "ms_per_step": sum(waiting.values()), "share": 0.5, "waiting_ms": {name[1:]: ms for name, ms in waiting.items()}}


@pytest.mark.parametrize("changes, told", [
    # a group's two ranks among four, and causes of other processes are one sentence
    ({"causes": [cause(1, "other process", r0=9.0), cause(0, "other process", r1=8.0), cause(3, "forward", r2=7.0)]},
     ["Other processes take 9.00 ms a step from rank 1's core and 8.00 ms a step from rank 0's core", "Rank 3 is 7.00 ms a step slower in forward"]),
    ({"causes": [cause(3, "backward", r0=6.0, r1=6.0, r2=6.0)]}, ["Rank 3 is 6.00 ms a step slower in backward"]),
    ({"network": {"sums": [{"name": "bucket 0", "bytes": 36_000}], "possible_GB_per_s": 8.0, "achieved_GB_per_s": 0.01, "bytes_per_step": 36e3}},
     ["in sums of 36 kB: that is the time of their start"])])
def test_advice(changes, told):
    data = made(4, **{"causes": [], "lanes": [], "before_first_step": [], **changes})
    found = advice(data)
    assert len(found) == 3 and all(text.startswith(words) or words in text for text, words in zip(found, told, strict=False)), found


def test_no_advice_follows_from_what_other_processes_took():
    data = made(2, causes=[], lanes=[])
    for one in data["per_rank"]:
        one["parts_ms"]["script"] = 0.5 * data["steps"]["median_ms"]
    assert any("script's own code" in text for text in advice(data))
    for one in data["per_rank"]:
        one["stolen_parts_ms"] = {"script": one["parts_ms"]["script"] - 0.01}
    assert not any("script's own code" in text for text in advice(data))
