import type { Faults } from "./faults.ts";
import { notFound } from "./refusal.ts";

/** One request as an endpoint sees it: path parameters decoded, faults only where they are meant for this path. */
export interface Request {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly faults: Faults;
  readonly draw: () => number;
}

export interface Pagination {
  next_cursor: string | null;
  has_more: boolean;
  limit: number;
}

/** What an endpoint answers: the envelope's data, and its pagination where the endpoint has one. */
export interface Answer {
  readonly data: unknown;
  readonly pagination?: Pagination;
}

/** One GET endpoint; `template` is relative to /api/v1, with {names} for parameters. Throws a Refusal otherwise. */
export interface Route {
  readonly template: string;
  readonly answer: (request: Request) => Answer;
}

export interface Match {
  readonly route: Route;
  readonly params: Record<string, string>;
}

/** Finds the route of a raw (still encoded) path; fixed segments win over parameters. */
export function routeTable(routes: readonly Route[]): (path: string) => Match | undefined {
  const fixed = new Map<string, Route>();
  const open: { route: Route; segments: readonly string[] }[] = [];
  for (const route of routes) {
    if (route.template.includes("{")) open.push({ route, segments: route.template.split("/") });
    else fixed.set(route.template, route);
  }
  return path => {
    const exact = fixed.get(path);
    if (exact !== undefined) return { route: exact, params: {} };
    const parts = path.split("/");
    for (const { route, segments } of open) {
      const params = match(segments, parts);
      if (params !== undefined) return { route, params };
    }
    return undefined;
  };
}

function match(segments: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  if (segments.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const part = parts[i] ?? "";
    if (!segment.startsWith("{")) {
      if (segment !== part) return undefined;
    } else if (part === "") return undefined;
    else params[segment.slice(1, -1)] = decoded(part);
  }
  return params;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw notFound("Resource");
  }
}
