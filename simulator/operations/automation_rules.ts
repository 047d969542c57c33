import { DAY_MS } from "../calendar.ts";
import type { Company } from "../company/company.ts";
import { hash } from "../random.ts";
import type { Family } from "../source.ts";
import { DRAWN, lockGroupOf, sizeOf, timeOf } from "./family.ts";

interface Template {
  readonly key: string;
  readonly name: string;
  readonly category: string;
  readonly trigger: string;
  readonly subject: string;
  readonly body: string;
}

export const TEMPLATES: readonly [Template, ...Template[]] = [
  template("chase_confirmation", "Auftragsbestätigung anmahnen", "orders", "po.unconfirmed"),
  template("late_delivery", "Ask about a late delivery", "delivery", "po.past_due"),
  template("price_change", 'Answer a "price change" letter', "pricing", "price.changed"),
  template("missing_receipt", "Fehlender Wareneingang", "receiving", "invoice.unmatched"),
  template("credit_request", "Request a credit memo", "billing", "finding.opened"),
  template("certificate_expiring", "証明書の期限切れ", "compliance", "document.expiring"),
];

function template(key: string, name: string, category: string, trigger: string): Template {
  return {
    key,
    name,
    category,
    trigger,
    subject: `${name} – {{po_number}}`,
    body: `{{contact}},\n\n${name}.\n\n{{buyer}}`,
  };
}

export const ACTIONS = ["send_email", "create_task", "flag_invoice", "notify_channel", "request_approval"];
export const TRIGGERS = [
  "po.unconfirmed",
  "po.past_due",
  "price.changed",
  "invoice.unmatched",
  "finding.opened",
  "document.expiring",
  "schedule.daily",
];

/** What a rule is, apart from how its row is written. */
export interface RuleFacts {
  readonly id: string;
  readonly name: string;
  readonly value: number;
  readonly template: Template;
}

export function ruleCount(company: Company): number {
  return sizeOf(company.sizes.orders, 20, 3, 40);
}

export function ruleFacts(company: Company, number: number): RuleFacts {
  const template = TEMPLATES[(number - 1) % TEMPLATES.length] ?? TEMPLATES[0];
  const round = Math.floor((number - 1) / TEMPLATES.length);
  const name = round === 0 ? template.name : `${template.name} (${round + 1})`;
  return { id: `RUL-${number}`, name, value: hash(company.seed, DRAWN.rule, number, 1), template };
}

export function ruleFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/automations/rules",
    keyField: "id",
    prefix: "RUL-",
    drawn: DRAWN.rule,
    row: (entry, v) => {
      const { number, revision } = entry;
      const { id, name, value, template } = ruleFacts(company, number);
      const at = timeOf(company, entry, ruleCount(company), 300);
      const quiet = v.chance(0.5);
      const fromTemplate = v.chance(0.85);
      return {
        id,
        company_id: v.maybe(company.id),
        template_id: fromTemplate ? v.maybe(`TPL-${((number - 1) % TEMPLATES.length) + 1}`) : null,
        template_key: fromTemplate ? v.maybe(template.key) : null,
        template_name: fromTemplate ? v.maybe(template.name) : null,
        category: v.maybe(template.category),
        template_description: fromTemplate ? v.maybe(`What it does: ${template.name}`) : null,
        step_config: v.maybe([{ step: "wait", hours: 24 }, "send_email"]),
        name: revision > 0 ? `${name} – edited ${revision}` : name,
        enabled: value % 5 !== 0,
        trigger_event: v.maybe(template.trigger),
        conditions: { min_amount: value % 1000, vendors: [] },
        actions: [ACTIONS[value % ACTIONS.length], { action: "notify_channel", channel: "purchasing" }],
        email_subject_template: v.maybe(template.subject),
        email_body_template: v.maybe(template.body),
        cooldown_hours: v.pick([0, 12, 24, 36.5, 72]),
        max_daily_emails: 5 * (1 + (value % 10)),
        require_approval: value % 3 === 0,
        quiet_hours_start: quiet ? v.maybe("18:00") : null,
        quiet_hours_end: quiet ? v.maybe("07:30") : null,
        quiet_hours_timezone: quiet ? v.maybe("Europe/Berlin") : null,
        workflow_mode: v.maybe(v.pick(["single", "sequence"])),
        condition_groups: v.pick<unknown>([null, [{ all: [] }], { any: ["late"] }, "none"]),
        event_types: v.maybe(template.trigger),
        trigger_source: v.maybe(v.pick(["event", "poll"])),
        recipient_role: v.maybe(v.pick(["vendor_contact", "buyer"])),
        execution_count: value % 200,
        last_executed_at: v.chance(0.8) ? v.moment(company.anchorDay * DAY_MS - (value % (9 * DAY_MS))) : null,
        created_at: v.maybe(v.moment(at)),
        updated_at: v.maybe(v.moment(at + 3_600_000)),
      };
    },
  });
}

export function templateFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/automations/templates",
    keyField: "id",
    prefix: "TPL-",
    drawn: DRAWN.template,
    row: ({ number, revision }, v) => {
      const made = TEMPLATES[(number - 1) % TEMPLATES.length] ?? TEMPLATES[0];
      return {
        id: `TPL-${number}`,
        template_key: v.maybe(made.key),
        name: revision > 0 ? `${made.name} v${revision + 1}` : made.name,
        description: v.maybe(`What it does: ${made.name}`),
        category: v.maybe(made.category),
        trigger_event: v.maybe(made.trigger),
        default_conditions: { min_amount: number * 100 },
        default_actions: ["send_email", { action: "notify_channel" }],
        default_email_subject: v.maybe(made.subject),
        default_email_body: v.maybe(made.body),
        configurable_fields: ["min_amount", { name: "recipient_role", choices: ["buyer"] }],
        sort_order: number * 10,
        step_config: v.maybe([{ step: "send_email" }]),
        created_at: v.maybe(v.moment((company.anchorDay - 900 + number) * DAY_MS)),
      };
    },
  });
}

export function actionFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/automations/actions",
    keyField: "name",
    names: ACTIONS,
    prefix: "action_",
    drawn: DRAWN.action,
    row: ({ number, revision }, v) => {
      const name = ACTIONS[number - 1] ?? `action_${number}`;
      return {
        name,
        description: v.maybe(`Does this: ${name.replaceAll("_", " ")}`),
        category: v.maybe(v.pick(["message", "workflow"])),
        schema: v.pick<unknown>([null, { type: "object", required: ["to"] }, "free text"]),
        requiresApproval: (number + revision) % 2 === 0,
      };
    },
  });
}

export function triggerFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/automations/triggers",
    keyField: "name",
    names: TRIGGERS,
    prefix: "trigger.",
    drawn: DRAWN.trigger,
    row: ({ number, revision }, v) => {
      const name = TRIGGERS[number - 1] ?? `trigger.${number}`;
      return {
        name,
        category: v.maybe(name.split(".")[0] ?? name),
        description: v.maybe(`Fires on ${name}`),
        eventTypes: revision > 0 ? [name, `${name}.v${revision}`] : number % 3 === 0 ? [] : [name],
        availableFields: [
          { name: "po_number", type: "string" },
          { name: "amount", type: "number" },
        ],
        hasPollQuery: number % 2 === 0,
      };
    },
  });
}
