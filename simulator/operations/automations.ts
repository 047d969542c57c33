import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Domain, MakeDomain } from "../domain.ts";
import { answerOf } from "../endpoints/lists.ts";
import { noFaults } from "../faults.ts";
import { pageOf } from "../paging.ts";
import { Draw, hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Request } from "../routes.ts";
import type { Row, Source } from "../source.ts";
import {
  executionCount,
  executionDetail,
  executionFacts,
  executionFamily,
  executionPreview,
} from "./automation_executions.ts";
import { eventCount, eventFamily, historyCount, historyFamily, isAgents } from "./automation_log.ts";
import {
  ACTIONS,
  actionFamily,
  ruleCount,
  ruleFamily,
  TEMPLATES,
  TRIGGERS,
  templateFamily,
  triggerFamily,
} from "./automation_rules.ts";
import { DRAWN, wholeList } from "./family.ts";

/** /automations/…: rules and what they are made of, events, executions, and the history of rules and agent. */
export const automations: MakeDomain = ({ company, mode, source }): Domain => {
  const events = source(eventFamily(company), eventCount(company));
  const history = source(historyFamily(company), historyCount(company));
  const executions = source(executionFamily(company), executionCount(company));
  const rules = source(ruleFamily(company), ruleCount(company));
  const templates = source(templateFamily(company), TEMPLATES.length);
  const actions = source(actionFamily(company), ACTIONS.length);
  const triggers = source(triggerFamily(company), TRIGGERS.length);

  const figures = (): Row => {
    const draw = new Draw(hash(company.seed, DRAWN.figures, company.today()));
    const since = (company.today() - 30) * DAY_MS;
    const recent = Array.from(executions.collection.walk(Number.NEGATIVE_INFINITY), entry =>
      executionFacts(company, entry),
    ).filter(({ at }) => at >= since);
    const enabled = rowsOf(rules).filter(row => row["enabled"] === true).length;
    return {
      active_rules: enabled,
      total_rules: rules.collection.count,
      executions_30d: recent.length,
      successful_30d: recent.filter(({ status }) => status === "completed").length,
      failed_30d: recent.filter(({ status }) => status === "failed").length,
      emails_sent_30d: recent.length,
      replies_received_30d: Math.floor(recent.length / 3),
      avg_response_hours_30d: draw.chance(0.2) ? null : draw.between(10, 900) / 10,
      committed_30d: draw.below(12),
      value_recovered_30d: draw.below(5_000_000) / 100,
    };
  };

  return {
    sources: {
      automation_events: events,
      automation_history: history,
      automation_executions: executions,
      automation_rules: rules,
      automation_templates: templates,
      automation_actions: actions,
      automation_triggers: triggers,
    },
    routes: [
      {
        template: "/automations/events",
        answer: request => {
          const page = pageOf(events, request, mode);
          return answerOf({ events: page.rows }, page);
        },
      },
      {
        template: "/automations/history",
        answer: request => {
          const { rows, pagination } = pageOf(history, request, mode);
          return pagination === undefined ? { data: rows } : { data: rows, pagination };
        },
      },
      { template: "/automations/history/stats", answer: () => ({ data: historyFigures(history) }) },
      {
        template: "/automations/history/agent/{id}",
        answer: request => {
          const entry = entryOf(history, request, "History entry");
          if (!isAgents(entry.number)) throw notFound("History entry of the agent");
          return { data: history.row(entry, request.faults) };
        },
      },
      wholeList(executions, "executions", rows => ({ total: rows.length })),
      {
        template: "/automations/executions/{id}",
        answer: request => {
          const entry = entryOf(executions, request, "Execution");
          return { data: executionDetail(company, entry, executions.row(entry, request.faults)) };
        },
      },
      {
        template: "/automations/executions/{id}/preview",
        answer: request => ({ data: executionPreview(company, entryOf(executions, request, "Execution")) }),
      },
      wholeList(rules, "rules"),
      wholeList(templates, "templates"),
      wholeList(actions, "actions"),
      wholeList(triggers, "triggers"),
      { template: "/automations/stats", answer: () => ({ data: figures() }) },
    ],
  };
};

function entryOf(source: Source, { params }: Request, what: string): Entry {
  const key = params["id"] ?? "";
  const entry = source.collection.get(source.family.number(key));
  if (entry === undefined) throw notFound(`${what} '${key}'`);
  return entry;
}

function rowsOf(source: Source): Row[] {
  const plain = noFaults();
  return Array.from(source.collection.walk(Number.NEGATIVE_INFINITY), entry => source.row(entry, plain));
}

function historyFigures(history: Source): Row {
  const counts = new Map<string, number>();
  const rows = rowsOf(history);
  for (const row of rows) {
    const status = String(row["status"]);
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return { by_status: Array.from(counts, ([status, count]) => ({ status, count })), total: rows.length };
}
