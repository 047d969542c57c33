import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { SITES } from "../company/orders.ts";
import { hash } from "../random.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { Values } from "../values.ts";
import { completeRows } from "./complete.ts";
import { DRAWN_FOR } from "./purposes.ts";

const PLACES = [
  ["Industriestraße 7", "Stuttgart", "BW", "70565"],
  ["2100 Dorr St.", "Toledo", "OH", "43607"],
  ["14 Harbor Way", "Newark", "NJ", "07114"],
  ["中央区1-2-3", "大阪市", "大阪府", "541-0041"],
  ["5 Main St.", "Springfield", "IL", "62701"],
] as const;

export function siteKey(number: number): string {
  return `SITE-${number}`;
}

/** The site's name as orders and requisitions show it. */
export function siteName(number: number): string {
  return SITES[number - 1] ?? `Site ${number}`;
}

/** Where a site is: street, city, state, postal code. */
export function siteAddress(number: number): readonly [string, string, string, string] {
  return PLACES[(number - 1) % PLACES.length] ?? PLACES[0];
}

export function siteFamily(company: Company): Family {
  return {
    path: "/po/delivery-sites/list",
    keyField: "site_id",
    key: siteKey,
    number: key => (/^SITE-[1-9]\d{0,9}$/.test(key) ? Number(key.slice(5)) : Number.NaN),
    row: ({ number, revision }: Entry): Row => {
      const v = new Values(hash(company.seed, DRAWN_FOR.site, number));
      const [address, city, state, zip] = siteAddress(number);
      const street = v.maybe(address);
      return {
        site_id: siteKey(number),
        site_name: v.maybe(siteName(number)),
        address: revision > 0 ? `${address}, Tor ${revision}` : street,
        city: v.maybe(city),
        state: v.maybe(state),
        zip_code: v.maybe(zip),
      };
    },
    ranks: atTheHead,
  };
}

/** /po/delivery-sites/list. */
export function siteRoutes(source: Source): Route[] {
  return [
    { template: "/po/delivery-sites/list", answer: request => ({ data: { sites: completeRows(source, request) } }) },
  ];
}
