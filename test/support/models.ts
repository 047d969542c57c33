import { readModels } from "../../src/cli/models.ts";

/** The program's own models. */
export const models = await readModels();
