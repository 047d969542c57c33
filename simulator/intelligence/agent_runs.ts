import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { findingFacts } from "../company/findings.ts";
import type { World } from "../domain.ts";
import { perVersion } from "../endpoints/tally.ts";
import { invalid } from "../refusal.ts";
import type { Request, Route } from "../routes.ts";
import type { Row, Source } from "../source.ts";
import type { Values } from "../values.ts";
import { DRAWN, lockGroupOf, sizeOf, timeOf, valuesOf } from "./family.ts";

export const AGENT_MODES = ["cost", "supply_risk", "compliance"] as const;

/** The run of the procurement agent that brought what it says about a finding. */
export function agentRunOf(company: Company, finding: number): string {
  const runs = runCount(company);
  return `PIR-${1 + (finding % Math.max(1, runs))}`;
}

export function agentModeOf(finding: number): string {
  return AGENT_MODES[finding % AGENT_MODES.length] ?? AGENT_MODES[0];
}

function runCount(company: Company): number {
  return sizeOf(company.sizes.findings, 2, 160);
}

/** /procurement-intel/runs and /procurement-intel/summary. */
export function agentRuns({ company, source: sourceOf, sources }: World): { source: Source; routes: Route[] } {
  const size = runCount(company);
  const source = sourceOf(
    lockGroupOf(company, {
      path: "/procurement-intel/runs",
      keyField: "run_id",
      prefix: "PIR-",
      drawn: DRAWN.agentRun,
      row: (entry, v) => runRow(entry, v),
    }),
    size,
  );
  const latest = (count: number, { faults }: Pick<Request, "faults">, mode?: string): Row[] => {
    const rows: Row[] = [];
    for (const entry of source.collection.walk(Number.NEGATIVE_INFINITY)) {
      const row = source.row(entry, faults);
      if (mode === undefined || row["agent_mode"] === mode) rows.push(row);
      if (rows.length === count) break;
    }
    return rows;
  };
  const figures = agentFigures(company, sources["findings"]);
  return {
    source,
    routes: [
      {
        template: "/procurement-intel/runs",
        answer: request => ({
          data: { runs: latest(limitOf(request.query["limit"]), request, request.query["agent_mode"]) },
        }),
      },
      {
        template: "/procurement-intel/summary",
        answer: request => ({ data: { ...figures(), last_runs: latest(5, request) } }),
      },
    ],
  };

  function runRow(entry: Entry, v: Values): Row {
    const { number, revision } = entry;
    const startedAt = timeOf(company, entry, size, 90);
    const failed = v.chance(0.15);
    const status = v.maybe(failed ? "failed" : "completed");
    return {
      run_id: `PIR-${number}`,
      agent_mode: v.maybe(agentModeOf(number)),
      status: revision > 0 ? `completed (${revision})` : status,
      sensors_run: v.count(v.below(12)),
      findings_generated: failed ? null : v.count(v.below(30)),
      llm_cost_usd: v.decimal(v.between(100, 900_000), 6),
      error_message: failed ? v.maybe("Zeitüberschreitung: no answer") : null,
      started_at: v.maybe(v.moment(startedAt)),
      completed_at: failed ? null : v.maybe(v.moment(startedAt + (number % 900) * 1000 + DAY_MS / 96)),
    };
  }
}

function agentFigures(company: Company, findings: Source | undefined): () => Record<"by_status" | "by_mode", Row[]> {
  if (findings === undefined) return () => ({ by_status: [], by_mode: [] });
  return perVersion(findings.collection, () => {
    const statuses = new Map<string, { count: number; cents: number }>();
    const modes = new Map<string, { count: number; cents: number }>();
    const add = (tally: Map<string, { count: number; cents: number }>, name: string, cents: number): void => {
      const known = tally.get(name) ?? { count: 0, cents: 0 };
      tally.set(name, { count: known.count + 1, cents: known.cents + cents });
    };
    for (const entry of findings.collection.walk(Number.NEGATIVE_INFINITY)) {
      const { status, cents } = findingFacts(company, entry);
      add(statuses, status ?? "open", cents ?? 0);
      add(modes, agentModeOf(entry.number), cents ?? 0);
    }
    const v = valuesOf(company, DRAWN.agentFigures, 1);
    const sorted = (tally: typeof statuses) => [...tally].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      by_status: sorted(statuses).map(([status, { count, cents }]) => ({
        status,
        count: v.count(count),
        total_savings: v.money(cents),
      })),
      by_mode: sorted(modes).map(([mode, { count, cents }]) => ({
        agent_mode: mode,
        count: v.count(count),
        new_count: v.count(Math.floor(count / 3)),
        total_savings: v.money(cents),
      })),
    };
  });
}

function limitOf(text: string | undefined): number {
  const limit = Number(text ?? 25);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw invalid("limit", `limit must be a whole number from 1 to 100, got '${text}'`);
  return limit;
}
