import type { Company } from "./company/company.ts";
import type { Uploads } from "./intake/uploads.ts";
import type { PagingMode } from "./paging.ts";
import type { Route } from "./routes.ts";
import type { Family, Source } from "./source.ts";

/** What a domain is built on: the company, and the sources of the domains before it, by stream. */
export interface World {
  readonly company: Company;
  readonly mode: PagingMode;
  readonly clock: () => Date;
  readonly sources: Readonly<Record<string, Source>>;
  /** Rows that the control endpoints can change; `size` of them to begin with. */
  readonly source: (family: Family, size: number) => Source;
}

/** A domain's endpoints, and by stream the sources behind its lists. */
export interface Domain {
  readonly sources: Readonly<Record<string, Source>>;
  readonly routes: readonly Route[];
  readonly uploads?: Uploads;
}

export type MakeDomain = (world: World) => Domain;
