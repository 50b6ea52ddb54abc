"""A service for k slots on a page: POST /ask for a set, POST /tell its rewards. Only the standard library.

    python examples/service.py sqlite:///shop.db 8000
    curl -X POST localhost:8000/ask -d '{}'
    curl -X POST localhost:8000/tell -d '{"id": "...", "rewards": {"Nikon": 1}}'

Start several on one file, or with a postgresql:// address on many machines: they learn together. Answers are durable,
and requests with an id are idempotent: retry them if there is no answer.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import setwise as sw

ARMS = ["Nikon", "Canon", "Sony", "Digital Camera", "Keyboard", "Shoes"]


def make_handler(study: sw.Study) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            try:
                given = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "{}")
                if self.path == "/ask":
                    answer, status = study.ask(given.get("available"), id=given.get("id")).to_json(), 200
                elif self.path == "/tell":
                    answer = study.tell(given.get("id"), given.get("rewards"), given.get("winner")).to_json()
                    status = 200
                else:
                    answer, status = {"error": "POST /ask or /tell"}, 404
            except (sw.InputError, json.JSONDecodeError) as error:
                answer, status = {"error": str(error)}, 400
            except sw.StorageError as error:
                answer, status = {"error": str(error)}, 503  # the client may retry
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


if __name__ == "__main__":
    address = sys.argv[1] if len(sys.argv) > 1 else "sqlite:///shop.db"
    port = sys.argv[2] if len(sys.argv) > 2 else "8000"
    with sw.Study.create(address, "homepage", ARMS, k=3, policy=sw.KLUCB(), window="30m", exist_ok=True) as homepage:
        print(f"{homepage} on port {port}")
        ThreadingHTTPServer(("", int(port)), make_handler(homepage)).serve_forever()
