import { anyJson, id, json, list, moment, percent, record, score, text } from "../fields.ts";

/** A row of the anomalies list: `GET /anomalies`, which shows flagged ones unless asked for others. */
export const anomaly = record(
  "Anomalies that are flagged at present, one row an anomaly; a dealt-with one leaves the list.",
  {
    id: id().describe("The service's identifier of the row; the key of this table."),
    finding_id: id().describe("The finding that the anomaly is, which lineage and drafts refer to."),
    anomaly_type: text().describe(
      "What is out of the ordinary, by the service's own labels, which are not documented.",
    ),
    severity: text().describe("How severe the anomaly is, as the service names it; values not documented."),
    status: text().describe(
      "Where the anomaly stands, as the service names it; flagged unless other states are read too.",
    ),
    title: text().nullable().describe("Headline of the anomaly, in words; null where it has none."),
    summary: text().nullable().describe("What was found, in a few words; null where nothing is said."),
    description: text().nullable().describe("What was found, at more length; null where nothing more is said."),
    claim: json().nullable().describe("The claim that the anomaly makes; content not documented, kept as JSON."),
    verification_status: text().nullable().describe("Whether the anomaly has been verified; values not documented."),
    detected_at: moment().describe("When the service detected the anomaly."),
    related_doc_ids: list()
      .nullable()
      .describe("Documents that the anomaly concerns, a list of their ids kept as JSON."),
    field_name: text().nullable().describe("Field whose value is out of the ordinary; null where it is not about one."),
    current_value: anyJson()
      .nullable()
      .describe("What field_name holds on the document, any JSON value; null where there is none."),
    expected_value: anyJson()
      .nullable()
      .describe("What field_name should hold in the service's judgement, any JSON value; null where there is none."),
    deviation_score: score()
      .nullable()
      .describe("How far the value is from the expected one; the scale is not documented."),
    deviation_percent: percent()
      .nullable()
      .describe("How far the value is from the expected one, in the service's own percentage unit."),
    expectation_part_key: text()
      .nullable()
      .describe("Part that the expectation was formed for, by the service's own key; null where it was for none."),
    provenance: json()
      .nullable()
      .describe("Where the anomaly's facts come from; content not documented, kept as JSON."),
  },
);
