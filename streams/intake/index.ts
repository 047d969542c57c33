import type { StreamGroup } from "../../src/catalog/stream.ts";
import {
  communicationActions,
  communicationDetails,
  communicationFacts,
  communicationLinkSuggestions,
  communicationThread,
  communicationThreads,
  factLineage,
} from "./communication_details.ts";
import { communicationStats, communications } from "./communications.ts";
import { documentDetails, documents, documentThreads, documentWorkbooks } from "./documents.ts";
import { entities, entityFactsAsOf, entityGraph, entityTimeline, identities, vendorOrdersAsOf } from "./entities.ts";
import { importReviewCensus, importReviewParked, parkedImports } from "./import_review.ts";
import { aggregationLineage, filterFacets, measures, search, vendorCredentialLineage } from "./lineage.ts";

/** In run order: lists before the details that hang on them. */
export const intake: readonly StreamGroup[] = [
  {
    title: "Communications",
    streams: [
      communications,
      communicationStats,
      communicationDetails,
      communicationActions,
      communicationFacts,
      communicationLinkSuggestions,
      communicationThread,
      communicationThreads,
      factLineage,
    ],
  },
  { title: "Documents", streams: [documents, documentDetails, documentThreads, documentWorkbooks] },
  { title: "Import review", streams: [importReviewCensus, importReviewParked, parkedImports] },
  {
    title: "Entities and lineage",
    streams: [
      entities,
      entityGraph,
      entityTimeline,
      identities,
      entityFactsAsOf,
      vendorOrdersAsOf,
      vendorCredentialLineage,
      aggregationLineage,
      measures,
    ],
  },
  { title: "Search", streams: [search, filterFacets] },
];
