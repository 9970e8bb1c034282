# SPDX-License-Identifier: Apache-2.0
"""Opens pages of the site in a headless browser, as a reader would: docc's pages are drawn by scripts."""

import functools
import http.server
import re
import shutil
import subprocess
import tempfile
import threading

from docsite import Failure, say

# A page of each kind, and what must be read on it once it has been drawn.
PAGES = {
    "/": ["Coroutines", "Getting started"],
    "/documentation/coroutines/launching/": ["A coroutine and its handle", "PoolScheduler"],
    "/documentation/coroutines/design/": ["The contract", "Decided against"],
    "/documentation/coroutines/channel/": ["Carries values from coroutines to coroutines", "receiveIfReady"],
    "/documentation/coroutinesio/": ["StreamListener"],
}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def check_in_browser(site):
    """Complaints about pages that do not show what they should, or whose scripts complain."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise Failure("--browser needs chromium")
    complaints = []
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, \
            tempfile.TemporaryDirectory() as profile:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for path, wanted in PAGES.items():
            command = [
                browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                "--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom",
                f"http://127.0.0.1:{server.server_address[1]}{path}",
            ]
            try:
                done = subprocess.run(command, text=True, capture_output=True, timeout=120)
            except subprocess.TimeoutExpired:
                complaints.append(f"{path}: the browser did not come to an end")
                continue
            text = re.sub(r"<(script|style).*?</\1>", "", done.stdout, flags=re.S)
            text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", text))
            complaints += [f"{path}: does not show “{words}”" for words in wanted if words not in text]
            complaints += [
                f"{path}: {line.strip()}" for line in done.stderr.splitlines()
                if "CONSOLE" in line and re.search(r"error|fail", line, re.I)
            ]
        server.shutdown()
    say(f"browser: {len(PAGES)} pages")
    return complaints
