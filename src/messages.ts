import { catalog, type Message, template } from "./message.ts";

/** Messages that no room can call its own. */
export const generalMessages = catalog("general", {
  bug: template(
    { what: "TypeError: x is not a function" },
    ({ what }) =>
      `This is a bug in tributary: ${what}. What was saved before it is safe; --log-level debug shows where. Please report it.`,
  ),
  nothing_loaded: template(
    { wanted: "a table items" },
    ({ wanted }) => `Expected ${wanted}, but nothing has been loaded yet: run \`tributary sync\` first.`,
  ),
  old_node: template(
    { wanted: ">=24", version: "20.20.2", path: "/usr/bin/node" },
    ({ wanted, version, path }) =>
      `Expected Node.js ${wanted}, got ${version} (${path}). Install a newer one, or start tributary with it; nothing was done.`,
  ),
  several: template({ faults: [] as readonly Message[] }, ({ faults }) =>
    faults.map(({ message }) => message).join("\n"),
  ),
});
