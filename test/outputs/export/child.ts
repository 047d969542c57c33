import { symlink } from "node:fs/promises";
import { TributaryError } from "../../../src/errors.ts";
import { exported } from "./exporting.ts";

/*
 * An export in a process of its own, which kills itself at a point of it: node child.ts <destination as JSON> <out> <point>
 */

const [destination = "", out = "", point] = process.argv.slice(2);
const streams = ["purchase_orders", "invoices", "items", "findings"];
/** Not the first table: something is half done by then. */
const TABLE = 3;

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

let written = 0;
try {
  const report = await exported({ destination: JSON.parse(destination) }, out, {
    streams,
    tools: {
      watch: ({ nth, rows }) => {
        if (nth === TABLE && rows === 0 && point === "writing") die();
      },
      log: { info: () => void (++written === TABLE && point === "written" && die()) },
      makeLink: async (target, path) => {
        if (point === "before the link") die();
        await symlink(target, path);
        if (point === "before the rename") die();
      },
    },
  });
  process.stdout.write(JSON.stringify(report));
} catch (error) {
  process.stdout.write(JSON.stringify({ message: String(error) }));
  process.exitCode = error instanceof TributaryError ? error.exitCode : 70;
}
