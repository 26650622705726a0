"""The page of the relay: 200 messages, a message box, and each piece of an answer as a text node."""

from html import escape

from benchlib import corpus

MESSAGES = 200
HEAD = "<!doctype html><meta charset=utf-8><title>relay</title>"
FOOT = """<pre id="a"></pre><textarea id="text"></textarea>
<script>
const answer = document.getElementById("a"), box = document.getElementById("text");
const socket = new WebSocket(`ws://${location.host}/ws`);
socket.onmessage = (event) => answer.append(event.data);
box.onkeydown = (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  socket.send(box.value);
  box.value = "";
};
</script>"""


def page() -> bytes:
    messages = "".join(f"<p>{escape(message['content'])}</p>" for message in corpus.history(MESSAGES))
    return f"{HEAD}{messages}{FOOT}".encode()
