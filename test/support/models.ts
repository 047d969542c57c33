import { readModels } from "../../src/library/connector.ts";

/** The program's own models. */
export const models = await readModels();
