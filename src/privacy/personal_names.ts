import { snakeCase } from "../catalog/columns.ts";

const PERSONAL =
  /(^|_)(e?mails?|email_address(es)?|mail_address(es)?|phones?|phone_(no|number)s?|mobiles?|mobile_(no|number)|telephone|fax|first_name|last_name|full_name|given_name|family_name|surname|contact_name|contact_person|person_name|user_name|username|employee_name|driver_name|signature|body|body_(text|html|preview)|html_body|text_body|snippet|senders?|recipients?|attendees|participants)$/;

/** Whether a field's name alone says that it holds personal data: for fields that the documents don't name. */
export function isPersonalName(field: string): boolean {
  return PERSONAL.test(snakeCase(field).replace(/[^a-z0-9]+/g, "_"));
}
