import {
  count,
  date,
  flag,
  id,
  inName,
  json,
  lineId,
  list,
  money,
  quantity,
  record,
  score,
  table,
  text,
} from "../fields.ts";

const undocumented = "content not documented, kept as JSON.";

const byKind = table("exposure_by_kind", "Money exposed to each kind of signal, one set of rows a day.", {
  signal_kind: lineId(text()).describe(
    "What sort of risk or event the signal is, by the service's own labels, which are not documented.",
  ),
  label: text().describe("Name of the kind for display."),
  total_usd: money(inName).nullable().describe("Money exposed to the kind, in US dollars; null where not known."),
  amount_label: text().describe("What the amount is, in the service's words for display."),
  currency_code: text().describe("Currency that the service names for the kind."),
  window_label: text().describe("Window that the amount is of, in the service's words for display."),
  count: count().describe("How many signals are of the kind."),
});

const signals = table("exposure_signals", "Signals and the money exposed to each, one set of rows a day.", {
  signal_kind: text().describe(
    "What sort of risk or event the signal is, by the service's own labels, which are not documented.",
  ),
  signal_kind_label: text().describe("Name of the signal's kind for display."),
  signal_ref: lineId(id()).describe("What the signal is known by within its kind."),
  signal_label: text().describe("Name of the signal for display."),
  exposure_amount_usd: money(inName).nullable().describe("Money exposed to it, in US dollars; null where not known."),
  amount_label: text().describe("What the amount is, in the service's words for display."),
  currency_code: text().describe("Currency that the service names for the signal."),
  window_label: text().describe("Window that the amount is of, in the service's words for display."),
  exposure_basis: text().describe("What the exposure rests on, as the service names it; values not documented."),
  confidence: score().nullable().describe("How sure the service is of it; the scale is not documented."),
  as_of_date: date().nullable().describe("Day that the signal is as of; null where not known."),
  snapshot_status: text().describe("How fresh the signal is, as the service names it; values not documented."),
  source: json().nullable().describe(`Where the signal comes from; ${undocumented}`),
  evidence_summary: json().describe(`What speaks for the exposure; ${undocumented}`),
  related_events: list().describe(
    `Events that belong to the signal, a list whose content is not documented, kept as JSON.`,
  ),
});

/** `GET /exposure`. */
export const exposure = record("How much money is exposed to what the service calls signals, one row a day.", {
  as_of_date: date().nullable().describe("Day that the figures are as of; null where not known."),
  base_currency: text().describe("The company's base currency."),
  total_exposed_usd: money(inName).nullable().describe("All exposed money, in US dollars; null where not known."),
  currency_code: text().describe("Currency that the service names for the answer as a whole."),
  money_available: flag().describe("Whether the service could put amounts to it."),
  money_unavailable_reason: text().nullable().describe("Why there are no amounts; null where there are."),
  portfolio_as_of_date: date().nullable().describe("Day that the purchases behind it are as of; null where not known."),
  events_linked: quantity().describe("How many events are linked to the signals."),
  briefing: json().nullable().describe(`A short account of the exposure; ${undocumented}`),
  by_kind: byKind,
  signals,
});
