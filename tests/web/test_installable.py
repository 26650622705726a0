"""Parley as an app of its own: what a browser installs, and what it shows when the server is away."""

from collections.abc import Callable

import httpx2

from tests.browser import Browser, connected, held
from tests.place import Place
from tests.scripted import Scripted
from web.installable import SHADES

KEPT = "caches.keys().then(all => caches.open(all[0])).then(one => one.keys()).then(all => all.map(one => one.url))"
READY = "navigator.serviceWorker.ready.then(one => Boolean(one.active))"


def test_what_is_installed_lives_below_the_path_of_parley(open_place: Callable[..., Place]):
    place = open_place(CHAT_PUBLIC_URL="http://chat.example/team")
    with httpx2.Client(base_url=f"http://127.0.0.1:{place.port}", trust_env=False, timeout=30) as client:
        manifest = client.get("/manifest.webmanifest").json()
        assert {manifest[name] for name in ("id", "start_url", "scope")} == {"/team/"}
        for icon in manifest["icons"]:
            picture = client.get(icon["src"].removeprefix("/team"))
            assert (picture.status_code, picture.headers["Content-Type"]) == (200, icon["type"])
        worker = client.get("/service-worker.js")
        assert worker.headers["Cache-Control"] == "no-cache"
        assert worker.headers["Service-Worker-Allowed"] == "/team/"
        assert 'OFFLINE = "/team/offline"' in worker.text and '"/team/assets/app-' in worker.text
        assert "worker-src 'self'" in worker.headers["Content-Security-Policy"]
        page = client.get("/offline").text
        assert "data-worker" not in page and 'href="/team/manifest.webmanifest"' in page


def test_the_page_says_so_when_the_server_is_away_and_comes_back_with_it(
    place: Place, script: Scripted, browser: Browser
):
    script.says("Still here.")
    ada = place.visitor("Ada")
    garden = ada.begins("Hello")
    place.settled(garden)
    asked: list[str] = []
    context = browser.context(ada, service_workers="allow", color_scheme="light")
    context.on("request", lambda request: asked.append(request.url.removeprefix(place.url)))
    page = context.new_page()
    page.goto(f"{place.url}/conversations/{garden}")
    connected(page)
    assert page.evaluate(READY)
    assert "/service-worker.js" in asked and len(set(asked)) <= 10, asked
    kept = [url.removeprefix(place.url) for url in page.evaluate(KEPT)]
    assert kept[0] == "/offline" and len(kept) == 5, kept
    assert all(path.startswith("/assets/") for path in kept[1:]), "no page of a person"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "oklch(0.989 0.003 95)"
    page.reload()
    connected(page)

    place.kill()
    page.reload()
    page.get_by_role("heading", name="Parley is not in reach").wait_for()
    assert page.url.endswith(f"/conversations/{garden}")
    assert page.evaluate("document.styleSheets[0].cssRules.length") > 100, "it is dressed"
    place.start()
    page.get_by_text("Still here.").wait_for()
    assert page.evaluate("caches.keys().then(all => all.length)") == 1
    context.close()


def test_the_colour_of_the_window_is_that_of_the_page(place: Place, browser: Browser):
    ada = place.visitor("Ada")
    context = browser.context(ada)
    page = context.new_page()
    page.goto(f"{place.url}/agents")
    drawn = """shade => {
      const ink = document.createElement("canvas").getContext("2d");
      return [getComputedStyle(document.body).backgroundColor, shade].map((colour) => {
        ink.fillStyle = colour;
        ink.fillRect(0, 0, 1, 1);
        return ink.getImageData(0, 0, 1, 1).data.join();
      });
    }"""
    for scheme, shade in SHADES.items():
        page.emulate_media(color_scheme=scheme)
        ground, told = page.evaluate(drawn, shade)
        assert ground == told, scheme
    assert held(page, "document.querySelectorAll('meta[name=theme-color]').length === 2")
    context.close()
