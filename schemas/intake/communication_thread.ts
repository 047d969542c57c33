import { record } from "../fields.ts";
import { threadFields } from "./thread.ts";

/** A row of `GET /communications/{id}/threads`. */
export const communicationThread = record(
  "Business threads, such as an order's course, that each message is part of.",
  {
    ...threadFields,
  },
);
