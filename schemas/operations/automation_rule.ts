import { anyJson, count, flag, id, json, list, moment, money, notGiven, quantity, record, text } from "../fields.ts";

/** A row of `GET /automations/rules`. */
export const automationRule = record("Automation rules the company has set up, one row a rule.", {
  id: id().describe("Identifier of the rule, unique within the company."),
  company_id: id().nullable().describe("The service's identifier of the company; null where the row does not say."),
  template_id: id().nullable().describe("Template that the rule was made from, automation_templates.id; null if none."),
  template_key: text().nullable().describe("Short name of that template; null where the rule was made from none."),
  template_name: text().nullable().describe("Name of that template as a label; null where there is none."),
  category: text().nullable().describe("What the rule is for, as the service names it; values not documented."),
  template_description: text().nullable().describe("What the template says of itself; null where there is none."),
  step_config: list().nullable().describe("Settings of the rule's steps, a list not documented, kept as JSON."),
  name: text().describe("Name of the rule as the company gave it."),
  enabled: flag().describe("Whether the rule is switched on."),
  trigger_event: text().nullable().describe("Event that sets the rule off, as the service names it."),
  conditions: json().describe("Conditions under which the rule acts; content not documented, kept as JSON."),
  actions: list().describe("What the rule does, a list whose content is not documented, kept as JSON."),
  email_subject_template: text().nullable().describe("Pattern of the e-mail's subject line; null if it sends none."),
  email_body_template: text().nullable().describe("Pattern of the e-mail's text; null if it sends none."),
  cooldown_hours: quantity().describe(
    "How many hours must pass before the rule acts again; on what, is not documented.",
  ),
  max_daily_emails: quantity().describe("How many e-mails the rule may send in a day."),
  require_approval: flag().describe("Whether somebody must approve before the rule acts."),
  quiet_hours_start: text().nullable().describe("Time of day from which it keeps quiet, as the service writes it."),
  quiet_hours_end: text().nullable().describe("Time of day until which it keeps quiet, as the service writes it."),
  quiet_hours_timezone: text().nullable().describe("Time zone in which the quiet hours are meant; null where not set."),
  workflow_mode: text().nullable().describe("Way in which the rule's steps run, as the service names it."),
  condition_groups: anyJson()
    .nullable()
    .describe("Under which combinations of conditions the rule acts; content not documented, kept as JSON."),
  event_types: text()
    .nullable()
    .describe("Kinds of event the rule listens to, as one text; its form is not documented."),
  trigger_source: text().nullable().describe("Where the rule's events come from, as the service names it."),
  recipient_role: text().nullable().describe("Role of those the rule writes to, as the service names it."),
  execution_count: count().describe("How often the rule has been executed."),
  last_executed_at: moment().nullable().describe("When the rule was last executed; null where it never was."),
  created_at: moment().nullable().describe("When the rule was set up; null where that is not known."),
  updated_at: moment().nullable().describe("When the rule was last edited; null where that is not known."),
});

/** A row of `GET /automations/templates`. */
export const automationTemplate = record("Templates that automation rules can be made from, one row a template.", {
  id: id().describe("Identifier of the template."),
  template_key: text().nullable().describe("Short name of the template; null where it has none."),
  name: text().describe("Name of the template for display."),
  description: text().nullable().describe("What rules made from it do; null where the template does not say."),
  category: text().nullable().describe("What the template is for, as the service names it; values not documented."),
  trigger_event: text().nullable().describe("Event that sets off rules made from it, as the service names it."),
  default_conditions: json().describe("Conditions a new rule begins with; content not documented, kept as JSON."),
  default_actions: list().describe("Actions a new rule begins with, a list not documented, kept as JSON."),
  default_email_subject: text().nullable().describe("Subject line a new rule begins with; null where it has none."),
  default_email_body: text().nullable().describe("E-mail text a new rule begins with; null where it has none."),
  configurable_fields: list().describe("What can be set in rules made from it, a list not documented, kept as JSON."),
  sort_order: quantity().describe("Place of the template when templates are shown in order."),
  step_config: list().nullable().describe("Settings of the template's steps, a list not documented, kept as JSON."),
  created_at: moment().nullable().describe("When the template was added; null where that is not known."),
});

/** A row of `GET /automations/actions`. */
export const automationAction = record("Actions that automation rules can take, one row an action.", {
  name: text().describe("Name of the action, by which rules refer to it."),
  description: text().nullable().describe("What the action does; null where the service does not say."),
  category: text().nullable().describe("Group the action belongs to, as the service names it; values not documented."),
  schema: anyJson().nullable().describe("What the action takes as input; content not documented, kept as JSON."),
  requiresApproval: flag().describe("Whether somebody must approve before the action is taken."),
});

/** A row of `GET /automations/triggers`. */
export const automationTrigger = record("Triggers that can set off automation rules, one row a trigger.", {
  name: text().describe("Name of the trigger, by which rules refer to it."),
  category: text().nullable().describe("Group the trigger belongs to, as the service names it; values not documented."),
  description: text().nullable().describe("When the trigger fires; null where the service does not say."),
  eventTypes: list().describe("Kinds of event the trigger listens to, a list of names kept as JSON."),
  availableFields: list().describe("Fields that conditions can use, a list not documented, kept as JSON."),
  hasPollQuery: flag().describe("Whether the trigger has a query by which the service looks for its events."),
});

/** `GET /automations/stats`. */
export const automationStats = record("Key figures of the company's automations, measured once a day.", {
  active_rules: quantity().describe("How many rules are switched on."),
  total_rules: quantity().describe("How many rules there are, switched on or off."),
  executions_30d: quantity().describe("How many executions there were in the last 30 days."),
  successful_30d: quantity().describe("How many executions of the last 30 days succeeded."),
  failed_30d: quantity().describe("How many executions of the last 30 days failed."),
  emails_sent_30d: quantity().describe("How many e-mails the rules sent in the last 30 days."),
  replies_received_30d: quantity().describe("How many replies to such e-mails came in the last 30 days."),
  avg_response_hours_30d: quantity()
    .nullable()
    .describe("Hours until a reply came, on average over the last 30 days; null where that is not known."),
  committed_30d: quantity().describe("What was committed in the last 30 days; what it counts is not documented."),
  value_recovered_30d: money(notGiven).describe("Value that automations recovered in the last 30 days."),
});
