"""What every answer carries: the content policy, and that nothing personal is kept on the way."""

import gzip

from flask import Response, request

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
    "object-src 'none'; frame-ancestors 'none'"
)
ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
WORTH_PACKING = 1000  # bytes


def finish(answer: Response) -> Response:
    """After each request."""
    for name, value in ALWAYS.items():
        answer.headers.setdefault(name, value)
    answer.headers.setdefault("Cache-Control", "no-store")
    answer.vary.update(["Cookie", "HX-Request"])
    return packed(answer)


def packed(answer: Response) -> Response:
    """ANSWER compressed where the browser takes it and it is worth it."""
    taken = "gzip" in request.accept_encodings and "Content-Encoding" not in answer.headers
    if not taken or answer.direct_passthrough or answer.is_streamed or answer.mimetype != "text/html":
        return answer
    body = answer.get_data()
    if len(body) >= WORTH_PACKING:
        answer.set_data(gzip.compress(body, 4, mtime=0))
        answer.headers["Content-Encoding"] = "gzip"
        answer.vary.add("Accept-Encoding")
    return answer
