"""examples/rings/http_server.c as a server: what it answers, and that it ends with its standard input. Usage: check_http_server.py PROGRAM"""
import math
import subprocess
import sys
import urllib.error
import urllib.request


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def check(base):
    status, text = get(base + "/score?x=1&y=2")
    wanted = 1 / (1 + math.exp(-(1.5 * 1 - 0.5 * 2 + 0.25 * 1 * 2)))
    assert status == 200 and abs(float(text.split(":")[1].strip(" }\n")) - wanted) < 1e-6, text
    for query in ("", "?x=1", "?x=1&y=", "?x=1&y=two", "?x=1&y=nan"):
        status, text = get(base + "/score" + query)
        assert status == 400 and "give numbers x and y" in text, (query, status, text)
    status, text = get(base + "/other")
    assert status == 404 and "there is GET /score" in text, text


def main():
    server = subprocess.Popen([sys.argv[1], "--port", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        check(server.stdout.readline().split("/score")[0])
        server.stdin.close()
        assert server.wait(120) == 0
    finally:
        server.kill()


main()
