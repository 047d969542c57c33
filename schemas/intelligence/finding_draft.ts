import { flag, id, json, lineId, personal, record, table, text } from "../fields.ts";

const evidenceLinks = table("finding_draft_evidence_links", "Sources that the draft for each finding points to.", {
  kind: text().describe("What sort of thing was read, by the service's own labels, which are not documented."),
  id: lineId(id()).describe("Identifier of the source within its kind."),
  url: text().describe("Address under which the service shows the source."),
  label: text().nullable().describe("Name of the source for display; null where it has none."),
});

/** The draft for one finding: `GET /findings/{finding_id}/draft`. */
export const findingDraft = record("Messages and actions drafted for each finding, or that none has been drafted.", {
  action_id: id().nullable().describe("Action that the draft belongs to; null where there is none."),
  status: text().nullable().describe("Where the draft stands, as the service names it; values not documented."),
  draft: personal(json())
    .nullable()
    .describe("The draft itself; content not documented, kept as JSON, null where there is none."),
  evidence_links: evidenceLinks,
  draftable_kind: text()
    .nullable()
    .describe("What can be drafted for the finding, as the service names it; values not documented."),
  already_exists: flag().describe("Whether a draft for the finding exists already."),
});
