// The worker has one task: when the server cannot be reached, a page says so. It keeps no conversation.
// (The server writes a line before this one: VERSION, OFFLINE, the page's path, and PARTS, the paths of what it needs.)

const CACHE = `${registration.scope} ${VERSION}`;

addEventListener("install", (event) => event.waitUntil(keep()));
addEventListener("activate", (event) => event.waitUntil(tidy()));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode === "navigate" && request.method === "GET") event.respondWith(page(event));
  else if (PARTS.includes(new URL(request.url).pathname)) event.respondWith(part(request));
});

// The page as nobody would get it, so that nothing personal is kept. (The browser has the parts already.)
async function keep() {
  const cache = await caches.open(CACHE);
  await cache.addAll([new Request(OFFLINE, { credentials: "omit" }), ...PARTS]);
  await skipWaiting();
}

// The older ones of this Parley go; others on the same site have another scope.
async function tidy() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(`${registration.scope} `) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await registration.navigationPreload?.enable();
}

async function page(event) {
  try {
    return (await event.preloadResponse) || (await fetch(event.request));
  } catch {
    return caches.match(OFFLINE, { cacheName: CACHE });
  }
}

async function part(request) {
  return (await caches.match(request, { cacheName: CACHE, ignoreVary: true })) || fetch(request);
}
