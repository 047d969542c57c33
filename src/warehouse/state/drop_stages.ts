import type { TableSet } from "../../catalog/columns.ts";
import type { Destination } from "../destination.ts";

/** Drops whatever is staged of a company's stream; a scan under way begins anew. */
export async function dropStages(
  destination: Pick<Destination, "stage">,
  company: string,
  tables: TableSet,
): Promise<void> {
  await (await destination.stage(company, tables)).drop();
}
