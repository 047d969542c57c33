import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { withTimeLimit } from "../../clock.ts";
import { type Listen, origin, refuseOpenDoor } from "../../config/listen.ts";
import { ConfigError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import { styleOf } from "../../outputs/html/document.ts";
import { asset } from "../../package_root.ts";
import { type Door, type DoorSources, doorkeeper, isOwnName } from "./access.ts";
import { createFeed } from "./feed.ts";
import { pageMessages } from "./messages.ts";
import { createPageSnapshots, type PageSnapshots } from "./page_snapshot.ts";
import type { Route } from "./route.ts";
import type { PageSource } from "./source.ts";
import { icon, pageDocument } from "./status_page.ts";
import { streamDocument, streamOf } from "./stream_page.ts";

export interface PageOptions extends DoorSources {
  /** Undefined: there is no page, but for `routes`. */
  readonly source: PageSource | undefined;
  readonly routes: readonly Route[];
  readonly redact: (text: string) => string;
}

export interface ServedPage {
  /** Without a token, e.g. http://127.0.0.1:8787. */
  readonly url: string;
  /** Ends everything, visitors' connections too, within half a second. */
  close(): Promise<void>;
}

/** Serves the status page until it is closed. @throws ConfigError for an address that can't be taken, or that is open to all */
export async function servePage(options: PageOptions): Promise<ServedPage> {
  const { listen, access, source, clock, log } = options;
  refuseOpenDoor(listen, access());
  const page = source && openPage(source, options);
  const app = pageApp(options, page);
  // Whatever else runs in this process keeps its own Request and Response.
  const server = createAdaptorServer({
    fetch: app.fetch,
    hostname: listen.host,
    overrideGlobalObjects: false,
  }) as Server;
  try {
    await listening(server, listen);
  } catch (error) {
    page?.feed.close();
    throw error;
  }
  server.on("error", error => log.warn(pageMessages.no_connection(), { err: error }));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${origin(listen.host, port)}`,
    async close() {
      page?.feed.close();
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      await withTimeLimit(clock, CLOSING_MS, closed, undefined);
      server.closeAllConnections();
      await closed;
    },
  };
}

const CLOSING_MS = 500;

interface LivePage {
  readonly snapshots: PageSnapshots;
  readonly feed: ReturnType<typeof createFeed>;
}

function openPage(source: PageSource, { clock, log, redact }: PageOptions): LivePage {
  const snapshots = createPageSnapshots(source, clock, redact);
  return { snapshots, feed: createFeed(source, snapshots.take, clock, log) };
}

function pageApp(options: PageOptions, page: LivePage | undefined): Hono {
  const { listen, routes, log } = options;
  const app = new Hono();
  const door = doorkeeper(options);
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
  });
  app.use(async (c, next) => {
    if (isOwnName(listen.host, c.req.header("host"))) return next();
    return c.text(
      "The status page answers to localhost, 127.0.0.1 and [::1] only. A proxy in front of it has to send `Host: localhost`, and server.token or server.login has to be set.\n",
      421,
    );
  });
  for (const route of routes) if (route.open) add(app, route);
  app.use(async (c, next) => {
    const admission = door.admit(c.req.raw, getConnInfo(c).remote.address ?? "");
    if (admission.kind === "welcome") return next();
    if (admission.kind !== "remember") return c.text(admission.text, admission.status, admission.headers);
    const { cookie, location } = admission;
    c.header("set-cookie", cookie);
    // After a link on another site a redirect is followed without the SameSite=Strict cookie; a refresh of our own page sends it.
    if (c.req.header("sec-fetch-site") !== "cross-site") return c.redirect(location, 303);
    return c.html("<!doctype html><title>…</title>", 200, { refresh: `0;url=${location}` });
  });
  if (page !== undefined) addPage(app, page, door);
  for (const route of routes) if (!route.open) add(app, route);
  app.onError((error, c) => {
    log.warn(pageMessages.no_answer(), { err: error, path: c.req.path });
    return c.text("500 Internal Server Error\n", 500);
  });
  app.notFound(c => c.text("404 Not Found\n", 404));
  return app;
}

function addPage(app: Hono, { snapshots, feed }: LivePage, door: Door): void {
  app.get("/", async c => c.html(pageDocument((await snapshots.take()).view)));
  app.get("/streams/:company/:stream", async c => {
    const { view } = await snapshots.take();
    const named = c.req.param();
    // Only for a stream that there is the warehouse is asked.
    const stream = streamOf(view, named);
    return stream === undefined
      ? c.notFound()
      : c.html(streamDocument(view, stream, await snapshots.look(named.company, named.stream)));
  });
  app.get("/status.json", async c => {
    const { fresh, view } = await snapshots.take();
    return fresh === undefined ? c.json({ error: view.unreadable }, 503) : c.json(fresh);
  });
  app.get("/page.css", c => c.body(styleOf("status_page"), 200, { "content-type": "text/css; charset=utf-8" }));
  app.get("/page.js", c => c.body(asset("status_page.js"), 200, { "content-type": "text/javascript; charset=utf-8" }));
  app.get("/:name{icon-[a-z]+\\.svg}", c => {
    const drawing = icon(c.req.param("name").slice("icon-".length, -".svg".length));
    return drawing === undefined ? c.notFound() : c.body(drawing, 200, { "content-type": "image/svg+xml" });
  });
  app.get("/events", c => {
    if (c.req.method !== "GET") return c.body(null, 200, { "content-type": "text/event-stream" });
    const left = new AbortController();
    const messages = feed.subscribe(left.signal);
    if (messages === undefined) return c.text("Too many pages are open.\n", 503, { "retry-after": "60" });
    return streamSSE(c, async stream => {
      stream.onAbort(() => left.abort());
      for await (const message of messages) {
        if (!door.isWelcome(c.req.raw)) break;
        await stream.writeSSE(message);
      }
    });
  });
}

function add(app: Hono, { method, path, answer }: Route): void {
  app.on(method, path, c => answer(c.req.raw, c.req.param() as Readonly<Record<string, string>>));
}

/** No resources of other origins, nothing inline, no caching, no frames. */
const headers: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

const whyNot: Readonly<Record<string, (place: Listen) => Message>> = {
  EADDRINUSE: pageMessages.port_taken,
  EACCES: pageMessages.port_forbidden,
  EADDRNOTAVAIL: pageMessages.foreign_address,
  ENOTFOUND: pageMessages.unknown_host,
};

async function listening(server: Server, { host, port }: Listen): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message =
      whyNot[code ?? ""]?.({ host, port }) ?? pageMessages.not_listening({ host, port, error_code: code });
    throw new ConfigError(message, cause);
  }
}
