"""Sources of data for tests: a web server on this machine, and entries that name it."""

import hashlib
import io
import threading
import zipfile
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from budgetbench.datasets.registry import DatasetSpec, FileSpec

GOOD = b"1,2,a\n3,4,b\n" * 100
HTML = b"\n<!DOCTYPE html><html><body>moved</body></html>"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return buffer.getvalue()


class Server:
    """Answers of a small web server: path to a list of (status, body), the last one for good.

    A body may be a function that writes to the connection; then the length stands third.
    """

    def __init__(self):
        self.answers, self.requests = {}, []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests.append(self.path)
                answers = outer.answers.get(self.path, [(404, b"")])
                status, body, *length = answers.pop(0) if len(answers) > 1 else answers[0]
                self.send_response(status)
                self.send_header("Content-Length", str(length[0] if length else len(body)))
                self.end_headers()
                with suppress(OSError):  # who asks may hang up
                    if callable(body):
                        body(self.wfile)
                    else:
                        self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def spec_of(*mirrors, content=GOOD, path="toy/toy.csv", **more):
    hashes = () if content is None else (sha256(content),)
    file = FileSpec(path, hashes, mirrors)
    return DatasetSpec("toy", "Toy", "classification", "files", "table", files=(file,), **more)


def leftovers(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
