import { readModels } from "../../src/cli/invocation/models.ts";

/** The program's own models. */
export const models = await readModels();
