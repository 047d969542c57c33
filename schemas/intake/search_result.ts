import { record, whole } from "../fields.ts";

/** `GET /search`, of which neither parameters nor answer are documented. */
export const searchResult = record("What the service answers to each search that the configuration names.", {
  data: whole().describe("The answer as it came, whatever its shape; not documented, kept as JSON."),
});
