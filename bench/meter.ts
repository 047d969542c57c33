import { subscribe } from "node:diagnostics_channel";
import { readFileSync, writeFileSync } from "node:fs";

/*
 * Loaded into the measured process before its program (`node --import`): notes at its very end what it has used.
 */

/** CPU of this process, start and module loading included, and of the helpers it waited for; wall time since its start. */
export interface Usage {
  readonly cpuMs: number;
  /** Linux only, else 0: Node itself doesn't tell. */
  readonly helperCpuMs: number;
  readonly wallMs: number;
  readonly peakBytes: number;
  /** Sent to the warehouse. */
  readonly statements: number;
}

let statements = 0;
subscribe("tributary.statement", () => void statements++);

const file = process.env["BENCH_USAGE_FILE"];
if (file !== undefined) process.on("exit", () => writeFileSync(file, JSON.stringify(usage())));

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return {
    cpuMs: (user + system) / 1000,
    helperCpuMs: helperCpu(),
    wallMs: performance.now(),
    peakBytes: peak(),
    statements,
  };
}

/** Kernels count the resident set of the process that forked us into `maxRSS`; VmHWM begins with our own. */
function peak(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(processFile("status"))?.[1];
  return (kilobytes === undefined ? process.resourceUsage().maxRSS : Number(kilobytes)) * 1024;
}

function helperCpu(): number {
  const fields = /\) (.*)/.exec(processFile("stat"))?.[1]?.split(" ");
  return fields === undefined ? 0 : (Number(fields[13]) + Number(fields[14])) * 10;
}

function processFile(name: string): string {
  try {
    return readFileSync(`/proc/self/${name}`, "utf8");
  } catch {
    return "";
  }
}
