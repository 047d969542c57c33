import { catalog, template } from "../../message.ts";

export const changesMessages = catalog("changes", {
  unreadable_state: template(
    { from: "state.json", got: "[]" },
    ({ from, got }) =>
      `Expected in ${from} a state that \`tributary read\` wrote, got ${JSON.stringify(got)}. Without a state, or with {}, everything is read from the start.`,
  ),
  state_of_others: template(
    { companies: ["acme"] as readonly string[], got: ["beta"] as readonly string[] },
    ({ companies, got }) =>
      `Expected a state of ${companies.join(", ")}, got one of ${got.join(", ")}. Pass the state of an earlier reading of the same company. Without a state, or with {}, everything is read from the start.`,
  ),
  unfit_key: template(
    { table: "items", key: ["id"] as readonly string[], got: ["A-1", "2"] as readonly string[] },
    ({ table, key, got }) =>
      `Expected in the state of ${table} a row by its key (${key.join(", ")}), got ${JSON.stringify(got)}. Without ${table} in the state it is read from the start.`,
  ),
  unknown_tables: "The catalog names {tables[]=itms}, which there is not: discover the tables again.",
  unreadable_input: template(
    { expected: "a configured catalog of Airbyte's protocol", got: "[]" },
    ({ expected, got }) => `Expected ${expected}, got ${JSON.stringify(got)}.`,
  ),
});
