/** A route of the server beside the status page, with the web platform's Request and Response. */
export interface Route {
  readonly method: "GET" | "POST";
  /** A path pattern of hono: `/hooks/:secret`. */
  readonly path: string;
  /** Whether it is served without token and login: it reveals nothing, or has a secret of its own. */
  readonly open: boolean;
  readonly answer: (request: Request, params: Readonly<Record<string, string>>) => Response | Promise<Response>;
}
