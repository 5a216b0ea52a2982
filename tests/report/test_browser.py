"""The page in a real browser, opened from its folder with the network off."""

from __future__ import annotations

import json

import pytest

from tests.report.conftest import AGENT, Opened, Written

pytestmark = pytest.mark.browser


def _visible_rows(opened: Opened) -> list[str]:
    return list(opened.page.eval_on_selector_all("#calls tbody tr", "rows => rows.map(r => r.dataset.call)"))


def test_the_overview_opens_without_a_complaint(opened: Opened, written: Written) -> None:
    """All calls are listed and nothing is asked of the network."""
    opened.page.goto(written.index.as_uri())
    assert opened.page.title() == f"Inquesto v0.1: {AGENT}"
    assert _visible_rows(opened) == [row["call_id"] for row in written.material.population]
    assert opened.complaints == []


@pytest.mark.parametrize(
    ("select", "value"), [("outcome", "Pass"), ("outcome", "unjudged"), ("condition", "babble")]
)
def test_filters_show_exactly_the_calls_that_match(
    opened: Opened, written: Written, select: str, value: str
) -> None:
    """The rows left are those of `results`; clearing the filter brings all back."""
    opened.page.goto(written.index.as_uri())
    opened.page.select_option(f"#filter-{select}", value)
    wanted = [
        row["call_id"]
        for row in written.material.results
        if value in (row["status"], row["condition"], {True: "Pass", False: "Fail"}.get(row["passed"]))
    ]
    assert wanted and _visible_rows(opened) == wanted
    assert opened.page.text_content("#count") == f"{len(wanted)} of {len(written.material.results)} calls"
    opened.page.click("#reset")
    assert len(_visible_rows(opened)) == len(written.material.results)
    assert opened.complaints == []


def test_an_event_of_the_chart_lists_its_calls_and_search_narrows(opened: Opened, written: Written) -> None:
    """A click on a bar is a filter; a search without a match says so."""
    opened.page.goto(written.index.as_uri())
    opened.page.click('tr[data-event="slow_turn"]')
    wanted = [row["call_id"] for row in written.material.results if "slow_turn" in json.loads(row["events"])]
    assert wanted and _visible_rows(opened) == wanted
    opened.page.fill("#search", "nothing like this")
    assert _visible_rows(opened) == [] and opened.page.is_visible("#nothing")


def test_columns_sort_both_ways(opened: Opened, written: Written) -> None:
    """Latency up, then down; calls without one are at an end, not among the fast ones."""
    opened.page.goto(written.index.as_uri())
    opened.page.click('th[data-sort="duration"]')
    lengths = {row["call_id"]: row["duration_s"] for row in written.material.calls}
    assert [lengths[i] for i in _visible_rows(opened)] == sorted(lengths.values())
    opened.page.click('th[data-sort="duration"]')
    assert [lengths[i] for i in _visible_rows(opened)] == sorted(lengths.values(), reverse=True)


def test_a_call_opens_plays_pauses_and_seeks(opened: Opened, written: Written) -> None:
    """Space plays the recording, as long as the call; the cursor moves; a click on the timeline seeks."""
    page, call = opened.page, written.material.calls[0]
    page.goto(written.index.as_uri())
    page.click(f'tr[data-call="{call["call_id"]}"] td.why')
    page.wait_for_selector("#timeline canvas")
    page.wait_for_function("document.querySelector('audio').readyState >= 1")
    length = page.evaluate("document.querySelector('audio').duration")
    assert length == pytest.approx(call["duration_s"], abs=0.01)
    at = "parseFloat(document.querySelector('.cursor').style.left)"
    before = page.evaluate(at)
    page.keyboard.press(" ")
    page.wait_for_function("document.querySelector('audio').currentTime > 0.4")
    page.keyboard.press(" ")
    assert page.evaluate("document.querySelector('audio').paused")
    assert page.evaluate(at) > before
    box = page.locator("#timeline canvas").bounding_box()
    page.mouse.click(box["x"] + 78 + (box["width"] - 92) / 2, box["y"] + 60)
    page.wait_for_function(f"Math.abs(document.querySelector('audio').currentTime - {length / 2}) < 0.2")
    assert opened.complaints == []


def test_the_line_plays_from_the_same_instant(opened: Opened, written: Written) -> None:
    """Switching to what the agent hears keeps the time and loads the other file."""
    page = opened.page
    page.goto(f"{written.index.as_uri()}#/call/{written.material.calls[0]['call_id']}")
    page.wait_for_function("document.querySelector('audio')?.readyState >= 1")
    page.keyboard.press("ArrowRight")
    page.click('[data-source="line"]')
    page.wait_for_function("document.querySelector('audio').src.endsWith('line.flac')")
    page.wait_for_function("Math.abs(document.querySelector('audio').currentTime - 5) < 0.1")
    assert opened.complaints == []


def test_the_timeline_is_drawn_in_both_themes(opened: Opened, written: Written) -> None:
    """The canvas holds more than one colour, and other ones in the dark."""
    page = opened.page
    page.goto(f"{written.index.as_uri()}#/call/{written.material.calls[1]['call_id']}")
    page.wait_for_selector("#timeline canvas")
    colours = """() => { const c = document.querySelector('#timeline canvas');
      const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const s = new Set();
      for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255)
        s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
      return [...s]; }"""
    page.wait_for_timeout(200)
    first = set(page.evaluate(colours))
    page.click("#theme")
    second = set(page.evaluate(colours))
    assert len(first) > 20 and len(second) > 20 and first != second


def test_texts_of_calls_are_never_markup(opened: Opened, written: Written) -> None:
    """A judge's reason that looks like markup is shown as written."""
    page = opened.page
    page.goto(f"{written.index.as_uri()}#/call/{written.material.calls[0]['call_id']}")
    page.wait_for_selector("#verdicts .card")
    assert "<b>that is done</b> & the" in page.text_content("#verdicts")


def test_misheard_words_are_marked(opened: Opened, written: Written) -> None:
    """`right` that was heard as `write` is marked, and says what had been said."""
    page = opened.page
    turn = next(row for row in written.material.turns if row["heard"] and "write" in row["heard"])
    page.goto(f"{written.index.as_uri()}#/call/{turn['call_id']}")
    page.wait_for_selector("#transcript mark.changed")
    marks = page.eval_on_selector_all(
        "#transcript mark.changed", "all => all.map(m => [m.textContent, m.title])"
    )
    assert any("write" in text and "right" in title for text, title in marks)


def test_calls_without_sound_or_without_a_file_say_so(opened: Opened, written: Written) -> None:
    """An infrastructure failure shows its reason and no player; an unknown call is named."""
    page = opened.page
    failed = next(row for row in written.material.calls if row["ended_by"] == "infrastructure")
    page.goto(f"{written.index.as_uri()}#/call/{failed['call_id']}")
    page.wait_for_selector("#timeline canvas")
    assert page.is_disabled("#play") and failed["infrastructure_error"] in page.text_content("#call")
    page.evaluate("location.hash = '#/call/no-such.call.here'")
    page.wait_for_selector("text=There is no call no-such.call.here")
    assert opened.complaints == []


def test_a_recording_that_was_moved_is_named(opened: Opened, written: Written) -> None:
    """The page stays usable and names the file that it does not find."""
    call_id = written.material.calls[2]["call_id"]
    flac = written.material.call_folder / call_id / "call.flac"
    aside = flac.rename(flac.with_suffix(".aside"))
    try:
        opened.page.goto(f"{written.index.as_uri()}#/call/{call_id}")
        opened.page.wait_for_selector("text=could not be read")
    finally:
        aside.rename(flac)
