import { streams } from "../../streams/index.ts";

/** The streams that a configuration reads that says nothing of streams. */
export const core = streams.filter(stream => stream.preset === "core");
