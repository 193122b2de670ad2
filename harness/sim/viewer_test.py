#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""Opens pages of runs in headless Chromium, presses keys, and looks at what the DOM says.

Usage: viewer_test.py PAGE_FIXTURE. Exits 77 where no Chromium is installed. A browser of one's own
can be named in CHROMIUM.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Runs in the page after its own script: presses the keys one by one and notes what is shown.
PROBE = """
<script>
{
  const all = (selector) => [...document.querySelectorAll(selector)];
  const texts = (selector) => all(selector).map((one) => one.textContent);
  const look = () => ({
    step: Number(document.getElementById("at").textContent.replace("step ", "")),
    arrows: all("line.arrow:not(.copy)").length, copies: all("line.arrow.copy").length,
    drops: all("path.drop.lose").length, cuts: all("path.drop.cut").length,
    faults: all("rect.fault:not(.disk)").length, disks: all("rect.fault.disk").length,
    down: all("line.lane.down").length, crashes: all("text.mark.crash").length,
    cursor: document.querySelector("rect.cursor")?.getAttribute("x"),
    violation: all("rect.violation").length, states: texts("#states tr td:last-child"),
    events: texts("#events li"), invariants: document.getElementById("invariants").textContent,
    verdict: document.getElementById("verdict").textContent,
    title: document.getElementById("title").textContent, bold: all("h1 b").length,
    hash: location.hash, titles: texts("line.arrow title"), shown: all("#lanes *").length});
  const seen = [look()];
  const began = performance.now();
  for (const key of KEYS) {
    document.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
    seen.push(look());
  }
  const took = performance.now() - began;
  const result = document.createElement("pre");
  result.id = "probe";
  result.textContent = JSON.stringify({seen, took, errors: window.errors || []});
  document.body.append(result);
}
</script>
"""
ERRORS = ("<script>window.errors = [];"
          " onerror = (text) => window.errors.push(String(text));</script>")


def open_page(browser, page, keys, fragment=""):
    """What the probe saw: at first, and after each key."""
    probe = PROBE.replace("KEYS", json.dumps(keys))
    text = page.replace("<head>", "<head>" + ERRORS, 1).replace("</body>", probe + "</body>", 1)
    with tempfile.TemporaryDirectory(prefix="promtact-viewer.") as folder:
        path = pathlib.Path(folder, "page.html")
        path.write_text(text, encoding="utf-8")
        # A network that leads nowhere: the page must need none.
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-dev-shm-usage", "--proxy-server=http://127.0.0.1:9",
                   f"--user-data-dir={folder}/profile", "--dump-dom", path.as_uri() + fragment]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)
    if not found:
        sys.exit(f"the page did not load:\n{done.stdout[-500:]}\n{done.stderr[-2000:]}")
    return json.loads(html.unescape(found.group(1)))


def made(fixture, steps, how):
    done = subprocess.run([fixture, str(steps), how], capture_output=True, text=True, check=True)
    return done.stdout


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found.group(1))


def check(holds, what):
    if not holds:
        sys.exit(f"FAIL: {what}")
    print(f"ok: {what}")


def check_violation(browser, fixture):
    page = made(fixture, 400, "broken")
    run = data_of(page)
    seen = open_page(browser, page, ["ArrowLeft", "Home", "PageDown", "PageDown", "p", "End"])
    check(seen["errors"] == [], "the page's script runs without an error")
    first, back, home, ten, twenty, before, end = seen["seen"]
    last = run["steps"]
    check(first["step"] == last and first["violation"] == 1,
          "it opens on the step of the violation")
    check(first["verdict"] == "fail" and first["invariants"].startswith("broken: nobody hears"),
          "the broken invariant is named there")
    check(back["step"] == last - 1 and back["invariants"] == "all hold",
          "a step back everything still holds")
    check(first["title"].startswith("everything <b>happens</b>") and first["bold"] == 0,
          "a name is text, not markup")
    check(home["step"] == 0 and home["hash"] == "#step=0", "Home goes to the start")
    check(ten["step"] == 10 and twenty["step"] == 20, "PageDown goes on by ten")
    check(before["step"] < 20 and before["events"], "p seeks the fault or loss before")
    check(end["step"] == last and end["states"] == first["states"], "End comes back to the same")
    check(first["cursor"] != home["cursor"], "the cursor moves")


def check_marks(browser, fixture):
    page = made(fixture, 400, "broken")
    run = data_of(page)
    kinds = run["kinds"]
    count = lambda kind, low, high: sum(
        1 for event in run["timeline"] if kinds[event[1]] == kind and low <= event[0] <= high)
    at = open_page(browser, page, ["ArrowRight"], "#step=12")["seen"]
    shown = at[0]
    low, high = 0, 24
    check(shown["arrows"] == count("deliver", low, high) > 0, "every delivery is an arrow")
    check(shown["copies"] == count("duplicate", low, high), "every copy is a dashed one")
    check(shown["drops"] == count("lose", low, high) > 0, "every loss is a cross")
    check(shown["cuts"] == count("cut", low, high) > 0, "every cut is one too")
    check(shown["crashes"] == 1 and shown["down"] == 1, "the crash is marked and its lane is down")
    check(shown["disks"] == 1 and shown["faults"] == 3,
          "the disk has a lane, and the faults theirs")
    check(any("count <" in one for one in shown["titles"]), "an arrow says what the message was")
    check(len(shown["states"]) == 5 and any(one.startswith("down") for one in shown["states"]),
          "the state of each node is shown, and which is down")
    check(at[1]["states"] != shown["states"] or at[1]["events"] != shown["events"],
          "a step on shows another state")


def check_large(browser, fixture):
    page = made(fixture, 21_000, "whole")
    run = data_of(page)
    check(len(run["timeline"]) >= 50_000, "a run of 50,000 events and more has a page")
    keys = ["End"] + ["ArrowLeft"] * 40 + ["Home"] + ["ArrowRight"] * 40 + ["n"] * 18
    seen = open_page(browser, page, keys)
    check(seen["errors"] == [] and seen["seen"][1]["step"] == run["steps"], "it loads and steps")
    check(max(one["shown"] for one in seen["seen"]) < 20_000, "and draws only what is in sight")
    print(f"info: {len(run['timeline'])} events, {seen['took'] / len(keys):.1f} ms for each key")


def check_controls(browser, fixture):
    """The probe would see it: a page without its arrows, and one whose script fails."""
    page = made(fixture, 60, "broken")
    bare = page.replace('svg("line", {class: kind === "deliver"', 'svg("desc", {class: "no"', 1)
    check(bare != page and open_page(browser, bare, [], "#step=12")["seen"][0]["arrows"] == 0,
          "control: missing arrows are seen")
    torn = page.replace("const notable", "missing(); const notable", 1)
    check(torn != page and open_page(browser, torn, [])["errors"] != [],
          "control: an error of the script is seen")


def main():
    browser = (os.environ.get("CHROMIUM") or shutil.which("chromium")
               or shutil.which("chromium-browser"))
    if not browser:
        print("unsupported: no Chromium is installed (Debian package chromium)")
        return 77
    for part in (check_violation, check_marks, check_large, check_controls):
        part(browser, sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
