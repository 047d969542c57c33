import { catalog, type Message, template } from "./message.ts";

/** The address of the public repository. Undefined until its owner names one. */
const repository = undefined as string | undefined;

const at = (page: string): string =>
  repository === undefined ? "to the people from whom you have tributary" : `at ${repository}/${page}`;

/** Where the makers are reached; package.json and the pages follow. The others complete "report it". */
export const makers = { repository, bugs: at("issues"), vulnerabilities: at("security/advisories/new") };

/** Messages that no room can call its own. */
export const generalMessages = catalog("general", {
  bug: template(
    { what: "TypeError: x is not a function" },
    ({ what }) =>
      `This is a bug in tributary: ${what}. What was saved before it is safe; --log-level debug shows where. Please report it ${makers.bugs}.`,
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
