/** What a hash is taken for in this domain; apart from the company's own purposes. */
export const DRAWS = {
  mail: 601,
  mailRow: 602,
  mailDetail: 603,
  mailFact: 604,
  mailAction: 605,
  mailThread: 606,
  lineage: 607,
  document: 608,
  workbook: 609,
  thread: 610,
  parked: 611,
  entity: 612,
  measure: 613,
  credential: 614,
} as const;
