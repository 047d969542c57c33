import { catalog } from "../../message.ts";

export const protocolMessages = catalog("protocol", {
  file_not_readable: "{file=state.json} could not be read ({reason?=ENOENT}): check what it is and its rights.",
  state_not_writable:
    "Expected a place for the state at {file=/srv/read/state.json}, but it cannot be written ({reason?=ENOENT}): check the folder and its rights. Nothing was read.",
  state_not_written:
    "The state could not be written to {file=/srv/read/state.json} ({reason?=ENOSPC}): check its folder and the space. The next reading repeats the rows since the last state there.",
  read_stopped: "Stopped by {signal=SIGTERM}: the next reading goes on behind the last state.",
  read_stopping: "stopping after these rows; once more leaves at once",
  read_without_catalog: "A read needs --catalog: what to read of what, and how.",
});
