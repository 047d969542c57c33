/** A way into the server beside the status page. Requests and answers are those of the web platform. */
export interface Route {
  readonly method: "GET" | "POST";
  /** As hono writes it: `/hooks/:secret`. */
  readonly path: string;
  /** Whether it needs neither token nor login: it tells nothing that is worth one, or has a secret of its own. */
  readonly open: boolean;
  readonly answer: (request: Request, params: Readonly<Record<string, string>>) => Response | Promise<Response>;
}
