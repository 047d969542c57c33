import type { MakeDomain } from "../domain.ts";
import { documentFamily, documentRoutes } from "./document_routes.ts";
import { listedDocuments } from "./documents.ts";
import { entityRoutes } from "./entity_routes.ts";
import { importReviewRoutes, parkedCount, parkedFamily } from "./import_review.ts";
import { lineageRoutes } from "./lineage_routes.ts";
import { mailFamily, mailRoutes } from "./mail_routes.ts";
import { mailCount } from "./mails.ts";
import { Uploads } from "./uploads.ts";

/** What comes in and what is known of it: mails, documents, imports under review, entities and where facts come from. */
export const intakeDomain: MakeDomain = world => {
  const { company, source, sources, clock } = world;
  const communications = source(mailFamily(company), mailCount(company));
  const documents = source(documentFamily(company), listedDocuments(company));
  const parked = source(parkedFamily(company), parkedCount(company));
  const uploads = new Uploads(
    company,
    { documents, ingested: sources["ingested"]!, findings: sources["findings"]! },
    clock,
  );
  return {
    uploads,
    sources: { communications, documents, parked_imports: parked },
    routes: [
      ...mailRoutes(world, communications),
      ...documentRoutes(world, documents, uploads),
      ...importReviewRoutes(world, parked),
      ...entityRoutes(world),
      ...lineageRoutes(world),
    ],
  };
};
