#!/usr/bin/env python3
"""The page of examples/browser in Chromium without a window: on its software adapter all rungs have to be right and the picture has to
be one; without an adapter the page has to say so. Status 77 where there is no Chromium.
usage: check_browser.py QUERN FOLDER [SCREENSHOT.png]"""
import base64, json, os, shutil, subprocess, sys, tempfile, time

SECONDS = 250
RUNGS = 9
WITH_GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]
WITHOUT = ["--disable-features=WebGPUService", "--use-webgpu-adapter=default", "--disable-gpu", "--disable-software-rasterizer"]


class Browser:
    """Chromium, spoken to by the DevTools protocol over two pipes: fd 3 of it is read, fd 4 written, messages end in zeros."""

    def __init__(self, program, options, page):
        self.profile = tempfile.mkdtemp()
        self.number, self.rest = 0, b""
        to, from_ = os.pipe(), os.pipe()
        command = 'exec 3<&%d 4>&%d; exec "$0" "$@"' % (to[0], from_[1])
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", command, program, "--headless=new", "--no-sandbox", "--remote-debugging-pipe",
             "--user-data-dir=" + self.profile, "--window-size=900,1100", *options],
            pass_fds=(to[0], from_[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to[0]), os.close(from_[1])
        self.to, self.source, self.session = to[1], from_[0], None
        target = self.call("Target.createTarget", url=page)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.source, 1 << 20)
                if not more:
                    sys.exit("the browser ended")
                self.rest += more
            text, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.number:
                return answer["result"]

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression)["result"].get("value")

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def show(program, options, page, end, screenshot=None):
    """The page's message when it ends so, how many rungs are right, and how many colours the picture has."""
    browser = Browser(program, options, page)
    try:
        until = time.monotonic() + SECONDS
        message = ""
        while time.monotonic() < until and not end(message):
            time.sleep(0.2)
            message = browser.value("(document.getElementById('message') || {}).textContent") or ""
        right = browser.value("Array.from(document.querySelectorAll('td')).filter(cell => cell.textContent === 'ok').length")
        colours = browser.value("(canvas => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width,"
                                " canvas.height).data.buffer)).size)(document.getElementById('picture'))")
        if screenshot:
            with open(screenshot, "wb") as file:
                file.write(base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"]))
        return message, right, colours
    finally:
        browser.close()


def main():
    quern, folder = sys.argv[1:3]
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        print("skipped: no chromium")
        sys.exit(77)
    subprocess.run(["examples/browser/make", quern, folder], check=True)
    page = "file://" + os.path.abspath(folder) + "/index.html?n=64&rungs=%d" % RUNGS
    is_end = lambda message: message.endswith(".") and not message.endswith("...")
    message, right, colours = show(program, WITH_GPU, page, is_end, *sys.argv[3:4])
    print("%s %d rungs right, %d colours" % (message, right, colours))
    good = "all right." in message and right == RUNGS and colours > 1000
    message, _, _ = show(program, WITHOUT, page, is_end)
    print("without a GPU: " + message)
    sys.exit(0 if good and message.startswith("This browser has") else 1)


main()
