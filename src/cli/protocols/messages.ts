import { catalog, template } from "../../message.ts";

export const protocolMessages = catalog("protocol", {
  file_not_readable: template(
    { file: "state.json", reason: "ENOENT" as string | undefined },
    ({ file, reason }) => `${file} could not be read (${reason}): check what it is and its rights.`,
  ),
  read_stopped: template(
    { signal: "SIGTERM" },
    ({ signal }) => `Stopped by ${signal}: the next reading goes on behind the last state.`,
  ),
  read_stopping: "stopping after these rows; once more leaves at once",
  read_without_catalog: "A read needs --catalog: what to read of what, and how.",
});
