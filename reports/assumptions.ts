import type { Question, Section } from "../src/outputs/report/definition.ts";

/** How many rows each meaning takes in, over all months. */
export const standing: Question = {
  sql: `
    select
      meaning,
      cast(sum(row_count) as bigint) as row_count,
      cast(sum(touched_count) as bigint) as touched_count,
      cast(sum(unclear_count) as bigint) as unclear_count
    from procurement_analytics.assumptions
    where _company = :company and column_name is null
    group by meaning
    order by meaning`,
};

export const assumptions: Section = {
  slug: "assumptions",
  title: "How values were read",
  lead: "The service doesn't document what its values mean. These lines of the configuration decide what is taken for a credit, paid, open or late, and can be changed there; the counts are of all rows, whatever their date.",
  blocks: [
    {
      title: "Rules and what they touch",
      note: "A line that is true of far more or far fewer rows than you would expect is read wrongly: `tributary meanings` shows the values behind it.",
      empty: "None of the tables that values are read from is loaded.",
      fields: [
        { name: "config_line", label: "Line of the configuration", format: "text" },
        { name: "row_count", label: "Rows", format: "count" },
        { name: "touched_count", label: "True of", format: "count" },
        { name: "touched_share", label: "Share", format: "share" },
        { name: "unclear_count", label: "Nothing says it", format: "count" },
        { name: "left_out_of", label: "Left out of", format: "text" },
      ],
      sql: `
        select
          config_line,
          cast(sum(row_count) as bigint) as row_count,
          cast(sum(touched_count) as bigint) as touched_count,
          round(cast(cast(sum(touched_count) as double precision) / sum(row_count) as decimal(18, 9)), 4) as touched_share,
          cast(sum(unclear_count) as bigint) as unclear_count,
          left_out_of
        from procurement_analytics.assumptions
        where _company = :company
        group by meaning, column_name, config_line, left_out_of
        order by meaning, column_name nulls first`,
    },
  ],
};
