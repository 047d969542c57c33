import { id, record, text } from "../fields.ts";

/** A site: `GET /po/delivery-sites/list`. */
export const deliverySite = record("Sites that orders are delivered to: one row a site with its address.", {
  site_id: id().describe("Identifier of the site, which other tables name as delivery_site_id."),
  site_name: text()
    .nullable()
    .describe("What the buying company calls the place of delivery; null where it has no name."),
  address: text().nullable().describe("Street address of the site; null where it is not known."),
  city: text().nullable().describe("City that the site is in; null where it is not known."),
  state: text().nullable().describe("State or region that the site is in; null where it is not known."),
  zip_code: text().nullable().describe("Postal code of the site; null where it is not known."),
});
