import { catalog, template } from "../../message.ts";

export const viewsMessages = catalog("views", {
  in_the_way:
    "{view=dw_analytics.items} is not tributary's and was left alone, so its own view of that name is missing. Rename yours (ALTER VIEW {view=dw_analytics.items} RENAME TO …, or move it to another schema) and run again.",
  no_rights:
    "The views of {schema=dw_analytics} could not be made; the tables are complete without them. {reason=The role loader lacks rights in database warehouse.} Or set views: false.",
  not_made:
    "The view {view=dw_analytics.items} could not be made as it is to be, and was left as it was: {reason=reports.prices read it}. See to that and run again; the tables are complete without it.",
  still_read:
    "The view {view=dw_analytics.items} is no longer wanted, but {readers[]=reports.prices} read it, so it stays. Drop those first and run again.",
  model_not_worked_out:
    "The model {model=dw_analytics.spend} could not be worked out, and shows what it showed before: {reason=division by zero}",
  rates_not_new: template(
    { reason: "currency.rates, line 7: expected a date, got 7/1", are_kept: true, report: "EUR" },
    ({ reason, are_kept, report }) =>
      `${reason}. ${are_kept ? `Amounts in ${report} keep the rates of an earlier run` : `Amounts in ${report} are null`} until a run can read the rates; \`tributary check\` tries it.`,
  ),
  rates_unreadable:
    "currency: expected a file of rates, or a table with date, currency and rate, and {rates=rates.csv} could not be read: {reason=ENOENT: no such file or directory, open 'rates.csv'}",
});
