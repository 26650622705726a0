"""How a request becomes a websocket (RFC 6455, 4.2), and whose request may."""

import base64
import binascii
from urllib.parse import urlsplit

from werkzeug.exceptions import BadRequest, Forbidden, HTTPException
from wsproto.utilities import generate_accept_token


class UpgradeRequired(HTTPException):
    code = 426
    description = "This address speaks websocket only."

    def get_headers(self, *args: object, **names: object) -> list[tuple[str, str]]:
        return [*super().get_headers(*args, **names), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]


def accept(environ: dict, allowed_origin: str) -> None:
    """Let only our own pages in: the Origin must be that of the address ALLOWED_ORIGIN.

    Raises Forbidden (403), or UpgradeRequired (426) for a request that is no websocket's.
    """
    if environ.get("HTTP_UPGRADE", "").lower() != "websocket":
        raise UpgradeRequired
    try:
        own = origin_of(allowed_origin)
    except ValueError:  # no address: a request may name any host
        own = ""
    if not own or environ.get("HTTP_ORIGIN") != own:
        raise Forbidden("This socket was opened by another site. Open Parley itself and try again.")


def origin_of(address: str) -> str:
    """The origin of an address as browsers write it (RFC 6454, 6.2): lower case, no default port, no path."""
    parts = urlsplit(address)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if parts.port in (None, usual) else f":{parts.port}")


def handshake(environ: dict) -> bytes:
    """The answer to an opening handshake (RFC 6455, 4.2.2). Raises BadRequest or UpgradeRequired."""
    if environ.get("HTTP_SEC_WEBSOCKET_VERSION") != "13":
        raise UpgradeRequired
    key = environ.get("HTTP_SEC_WEBSOCKET_KEY", "")
    try:
        whole = len(base64.b64decode(key, validate=True)) == 16
    except binascii.Error:
        whole = False
    if environ["REQUEST_METHOD"] != "GET" or not whole:
        raise BadRequest("This is no opening handshake of a websocket (RFC 6455, 4.2.1).")
    token = generate_accept_token(key.encode()).decode()
    upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    return f"{upgrade}Sec-WebSocket-Accept: {token}\r\n\r\n".encode()
