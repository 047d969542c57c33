import { catalog, template } from "../../message.ts";

export const protocolMessages = catalog("protocol", {
  file_not_readable: template(
    { file: "state.json", reason: "ENOENT" as string | undefined },
    ({ file, reason }) => `${file} could not be read (${reason}): check what it is and its rights.`,
  ),
  state_not_writable: template(
    { file: "/srv/read/state.json", reason: "ENOENT" as string | undefined },
    ({ file, reason }) =>
      `Expected a place for the state at ${file}, but it cannot be written (${reason}): check the folder and its rights. Nothing was read.`,
  ),
  state_not_written: template(
    { file: "/srv/read/state.json", reason: "ENOSPC" as string | undefined },
    ({ file, reason }) =>
      `The state could not be written to ${file} (${reason}): check its folder and the space. The next reading repeats the rows since the last state there.`,
  ),
  read_stopped: "Stopped by {signal=SIGTERM}: the next reading goes on behind the last state.",
  read_stopping: "stopping after these rows; once more leaves at once",
  read_without_catalog: "A read needs --catalog: what to read of what, and how.",
});
