import type { StreamGroup } from "../../src/stream.ts";

/** In run order: lists before the details that hang on them. */
export const sourcing: readonly StreamGroup[] = [];
