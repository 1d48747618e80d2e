"""A loopback Messages API: answers the client and Playbook's worker, and keeps every request.

A prompt may ask for something to happen: RUN-A-FAILING-TOOL, RUN-A-SUBAGENT, SAYS-DONE-TOO-EARLY,
RUNS-GUARDED.
Every other prompt gets an answer that cites [pat-001].
"""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REFLECTOR = "You judge finished coding sessions."
CURATOR = "You keep a list of key points small and true."
CITING = "Following [pat-001], this is done."
DONE = "All done: the tests pass."
# A model takes longer than a client needs to write down what went before.
THINKING = 0.5


def text_of(content):
    """All text of a message's content, tool results included."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content or []:
        if isinstance(block, dict):
            inner = block.get("text") or block.get("content") or ""
            parts.append(text_of(inner))
    return "\n".join(parts)


class Request:
    """One request to /v1/messages, and when its answer was sent."""

    def __init__(self, body, key=None):
        self.body = body
        self.key = key
        self.system = text_of(body.get("system"))
        self.messages = "\n".join(text_of(m.get("content")) for m in body.get("messages") or [])
        self.answered = None

    def is_reflector(self):
        return REFLECTOR in self.system

    def is_curator(self):
        return CURATOR in self.system

    def is_ours(self):
        return self.is_reflector() or self.is_curator()

    def last(self):
        """The last message that is neither a note of the client nor an answer."""
        users = [m for m in self.body.get("messages") or [] if m.get("role") == "user"]
        return users[-1] if users else {}

    def tool(self, *names):
        offered = {tool.get("name") for tool in self.body.get("tools") or []}
        return next((name for name in names if name in offered), None)


def answer(request):
    """The content blocks that answer a request."""
    if request.is_reflector():
        names = ["pat-001", "pat-002"] if "TAG-BOTH" in request.messages else ["pat-001"]
        tags = [{"name": name, "tag": "helpful", "rationale": "cited"} for name in names]
        return [text_block(json.dumps({"analysis": "as the test wants it", "bullet_tags": tags}))]
    if request.is_curator():
        return [text_block(json.dumps({"reasoning": "nothing to add", "operations": []}))]
    last = request.last()
    has_result = any(
        isinstance(block, dict) and block.get("type") == "tool_result"
        for block in (last.get("content") or [])
    )
    asked = text_of(last.get("content"))
    if not has_result and "RUN-A-FAILING-TOOL" in asked and request.tool("Bash"):
        tool = {"command": "echo wanted to fail >&2; exit 3", "description": "Fails"}
        return [text_block(CITING), tool_block("Bash", tool)]
    agent = request.tool("Agent", "Task")
    if "SUBAGENT-RUNS-GUARDED" in asked and not has_result and agent:
        tool = {"description": "Makes", "prompt": "RUNS-GUARDED", "subagent_type": "general-purpose"}
        return [tool_block(agent, {**tool, "run_in_background": False})]
    if "RUNS-GUARDED" in request.messages and request.tool("Bash"):
        return guarded(asked, has_result)
    if "SAYS-DONE-TOO-EARLY" in request.messages and request.tool("Bash"):
        return too_early(request, asked, has_result)
    if not has_result and "RUN-A-SUBAGENT" in asked and agent:
        tool = {
            "description": "Says a word",
            "prompt": "Say one word: TAG-BOTH." if "TAG-BOTH" in asked else "Say one word.",
            "subagent_type": "general-purpose",
            "run_in_background": False,
        }
        return [text_block(CITING), tool_block(agent, tool)]
    if "<summary>" in asked:
        return [text_block("<summary>\nThe user asked for something, and it was done.\n</summary>")]
    return [text_block(CITING)]


def guarded(asked, has_result):
    """Runs a guarded command, and another one where it is turned back."""
    if "RUNS-GUARDED" in asked and not has_result:
        times = 2 if "TWICE-AT-ONCE" in asked else 1
        return [tool_block("Bash", {"command": "make proto", "description": "Makes"}) for _ in range(times)]
    if has_result and "run it again to run it anyway" in asked:
        return [tool_block("Bash", {"command": "echo stubs > other", "description": "Makes"})]
    return [text_block(CITING)]


def too_early(request, asked, has_result):
    """Runs the tests and says that they pass; mends what fails when a hook says so."""
    if has_result:
        time.sleep(THINKING)
        return [text_block(DONE)]
    is_guided = "Stop hook feedback:" in asked
    if is_guided and "SLOW-WHEN-GUIDED" in request.messages:
        time.sleep(5)
    mends = is_guided and "NEVER-MENDS" not in request.messages
    command = "touch mended && cargo test" if mends else "cargo test"
    return [tool_block("Bash", {"command": command, "description": "Tests"})]


def text_block(text):
    return {"type": "text", "text": text}


def tool_block(name, tool_input):
    made = f"toolu_{time.time_ns()}"
    return {"type": "tool_use", "id": made, "name": name, "input": tool_input}


class Api:
    """The server; `requests` grows as they come. Our questions about a word in `refused` are
    answered as if their key were none."""

    def __init__(self):
        self.requests = []
        self.refused = set()
        self.lock = threading.Lock()
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def send(self, body, kind="application/json", status=200):
                data = body.encode()
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_HEAD(self):
                self.send("")

            def do_GET(self):
                self.send("{}")

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                if "count_tokens" in self.path:
                    return self.send('{"input_tokens": 10}')
                if not self.path.startswith("/v1/messages"):
                    return self.send("{}")
                request = Request(json.loads(raw), self.headers.get("x-api-key"))
                with api.lock:
                    api.requests.append(request)
                    count = len(api.requests)
                if request.is_ours() and any(word in request.messages for word in api.refused):
                    error = {"type": "authentication_error", "message": "invalid x-api-key"}
                    return self.send(json.dumps({"type": "error", "error": error}), status=401)
                message = reply(count, request)
                try:
                    if request.body.get("stream"):
                        self.send(streamed(message), "text/event-stream")
                    else:
                        self.send(json.dumps(message))
                except (BrokenPipeError, ConnectionResetError):
                    pass  # The client was ended on purpose.
                request.answered = time.monotonic()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def all(self):
        with self.lock:
            return list(self.requests)

    def of_client(self, words):
        """The client's own requests that hold all `words`."""
        return [
            request
            for request in self.all()
            if not request.is_ours() and all(word in request.messages for word in words)
        ]


def reply(count, request):
    blocks = answer(request)
    stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
    return {
        "id": f"msg_{count}_{time.time_ns()}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "model"),
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "output_tokens": 5,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def streamed(message):
    events = [("message_start", {"message": {**message, "content": [], "stop_reason": None}})]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append(("content_block_start", {"index": index, "content_block": empty}))
        events.append(("content_block_delta", {"index": index, "delta": delta}))
        events.append(("content_block_stop", {"index": index}))
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append(("message_delta", {"delta": stop, "usage": {"output_tokens": 5}}))
    events.append(("message_stop", {}))
    lines = (f"event: {n}\ndata: {json.dumps({'type': n, **d})}\n\n" for n, d in events)
    return "".join(lines)
