import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import { type Company, vendorFor } from "../company/company.ts";
import { orderKey } from "../company/orders.ts";
import { parentOf } from "../company/relations.ts";
import type { MakeDomain } from "../domain.ts";
import { Draw, hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Family, Row } from "../source.ts";
import { Values } from "../values.ts";
import { TOOLS } from "./automation_log.ts";
import { DRAWN, lockGroupOf, sizeOf, timeOf, wholeList } from "./family.ts";

function pendingCount(company: Company): number {
  return sizeOf(company.sizes.orders, 25, 3, 60);
}

/** What a pending action is, apart from how it is written. */
function actionFacts(company: Company, entry: Entry) {
  const value = hash(company.seed, DRAWN.pendingAction, entry.number, 1);
  const size = pendingCount(company);
  return {
    id: `ACT-${entry.number}`,
    value,
    tool: TOOLS[value % TOOLS.length] ?? TOOLS[0],
    order: orderKey(parentOf(entry.number, size, Math.max(1, company.sizes.orders))),
    vendor: vendorFor(company, value >>> 4),
    at: timeOf(company, entry, size, 14),
  };
}

function pendingFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/agent/pending-approvals",
    keyField: "id",
    prefix: "ACT-",
    drawn: DRAWN.pendingAction,
    row: (entry, v) => {
      const { id, tool, order, vendor, at } = actionFacts(company, entry);
      return {
        id,
        action: tool.replaceAll("_", " "),
        tool_id: tool,
        reason:
          entry.revision > 0
            ? `needs another look (${entry.revision})`
            : v.pick(["first use", "amount", "Neuer Lieferant"]),
        trust_level: v.pick(["ask", "suggest", "auto_low_value"]),
        description: v.maybe(`${tool} for ${order} at ${vendor.name}`),
        context: v.maybe({ po_number: order, vendor_id: vendor.id }),
        created_at: v.maybe(v.moment(at)),
      };
    },
  });
}

function reasoning(company: Company, entry: Entry): Row {
  const { id, tool, order, vendor, at, value } = actionFacts(company, entry);
  const v = new Values(hash(company.seed, DRAWN.reasoning, entry.number));
  const summary = `${vendor.name} hat zweimal nicht geantwortet; ${order} is late`;
  return {
    action_id: id,
    tool_id: tool,
    tool_description: v.maybe(`Does this: ${tool.replaceAll("_", " ")}`),
    status: entry.revision > 0 ? `queued again (${entry.revision})` : "queued_for_approval",
    confidence: v.maybe((value % 1001) / 1000),
    reasoning_summary: v.maybe(summary),
    source_signals: v.maybe([
      { kind: "email", id: `EML-${1 + (value % 400)}` },
      { kind: "order", id: order },
    ]),
    source_kind: v.maybe(v.pick(["communication", "finding"])),
    entity_refs: v.maybe([{ type: "purchase_order", id: order }]),
    created_at: v.moment(at),
    expires_at: v.chance(0.7) ? v.moment(at + 14 * DAY_MS) : null,
    agent_principal_id: `agent-${company.id}`,
  };
}

/** What the agent wants to do, and why: /agent/… and /agent-actions/… */
export const agent: MakeDomain = ({ company, source }) => {
  const pending = source(pendingFamily(company), pendingCount(company));
  const figures = (): Row => {
    const draw = new Draw(hash(company.seed, DRAWN.figures, company.today(), 1));
    const executed = draw.below(20);
    return {
      queued_for_approval: pending.collection.count,
      executed_last_24h: executed,
      dismissed_last_24h: draw.below(6),
      failed_last_24h: draw.below(3),
      observations_executed_last_24h: draw.below(90),
      by_tool: executed === 0 ? {} : { [draw.pick(TOOLS)]: { executed } },
    };
  };
  return {
    sources: { pending_agent_actions: pending },
    routes: [
      wholeList(pending, "actions"),
      { template: "/agent-actions/stats", answer: () => ({ data: figures() }) },
      {
        template: "/agent-actions/{action_id}/reasoning",
        answer: ({ params }) => {
          const key = params["action_id"] ?? "";
          const entry = pending.collection.get(pending.family.number(key));
          if (entry === undefined) throw notFound(`Action '${key}'`);
          return { data: reasoning(company, entry) };
        },
      },
    ],
  };
};
