import { z } from "zod";
import type { Faults } from "../../../simulator/faults.ts";
import type { Simulator, VocabularyName } from "../../../simulator/simulator.ts";
import { ConfigError, refuse } from "../../errors.ts";
import { nearest } from "../../nearest_name.ts";
import { whole } from "../../options/fields.ts";
import { type Given, required } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";
import { commandMessages } from "./messages.ts";

const own = {
  port: required(whole(0, 65_535).default(8099), "port; 0 takes a free one", "<n>"),
  host: required(z.string().default("127.0.0.1"), "address to listen on", "<address>"),
  key: required(z.string().default("demo-key"), "the only API key it takes", "<key>"),
  seed: required(whole(0, 2 ** 32 - 1).default(1), "the same seed makes the same data", "<n>"),
  orders: required(
    whole(0, 10_000_000).default(200),
    "purchase orders; there are as many invoices, and other rows in proportion",
    "<n>",
  ),
  vocabulary: required(
    z.enum(["plain", "other"] satisfies VocabularyName[]).default("plain"),
    "values and formats that the service's documents leave open",
    "<name>",
  ),
  fault: required(z.array(z.string()).default([]), "a misbehaviour; may be repeated", "<name=value>"),
};

type SimulateOptions = Pick<CommonOptions, "json"> & Given<typeof own>;

export const register = defined({
  description: "Run a simulated service: made-up but consistent orders, invoices, items, findings and documents.",
  options: [own, "json"],
  examples: [
    "tributary simulate",
    "tributary simulate --port 0 --orders 20000 --fault latencyMs=20",
    "tributary simulate --fault error500=0.05 --fault 'hang={\"next\":3}' --fault only=/po",
    'curl -X POST http://127.0.0.1:8099/_simulator/change -d \'{"update":{"items":5}}\'',
  ],
  run: simulate,
});

async function simulate(options: SimulateOptions, context: CliContext): Promise<void> {
  const simulator = await started(options, context);
  const ended = Promise.withResolvers<void>();
  const forget = context.onSignal(() => ended.resolve());
  const { url, key, port } = simulator;
  if (options.json) context.printJson({ url, key, port });
  else context.print(announcement(url, key));
  await ended.promise;
  forget();
  await simulator.close();
}

async function started(options: SimulateOptions, context: CliContext): Promise<Simulator> {
  const { startSimulator } = await import("../../../simulator/simulator.ts");
  const faults = parseFaults(options.fault, await import("../../../simulator/faults.ts"));
  const { orders, host, port, key, seed, vocabulary } = options;
  try {
    const part = (share: number) => Math.ceil(orders * share);
    const sizes = { orders, invoices: orders, items: part(0.5), findings: part(0.3), ingested: part(2) };
    const now = () => new Date(context.clock.now());
    return await startSimulator({ seed, sizes, key, host, port, now, vocabulary, faults, control: true });
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (syscall !== "listen" && syscall !== "getaddrinfo") throw cause;
    throw new ConfigError(commandMessages.simulate_not_listening({ host, port, reason: code }), cause);
  }
}

function announcement(url: string, key: string): string {
  return `The simulated service listens on ${url}, API key ${key}. Ctrl-C ends it.
A configuration for it:

api:
  base_url: ${url}
  key: ${JSON.stringify(key)}
company: demo
destination:
  path: ./demo.duckdb
`;
}

type FaultsModule = typeof import("../../../simulator/faults.ts");

/** `name=value` pairs → switches; a value is JSON, or text where it isn't. @throws ConfigError */
function parseFaults(pairs: readonly string[], { faultsSchema, noFaults }: FaultsModule): Faults {
  const faultNames = Object.keys(faultsSchema.shape);
  const given = pairs.map(pair => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined)
      throw new ConfigError(commandMessages.simulate_fault_without_value({ given: pair }));
    if (!faultNames.includes(name)) {
      const suggestion = nearest(name, faultNames);
      throw new ConfigError(commandMessages.simulate_unknown_fault({ name, suggestion, known: faultNames }));
    }
    return [name, jsonOrText(value)];
  });
  const parsed = faultsSchema.safeParse({ ...noFaults(), ...Object.fromEntries(given) });
  if (!parsed.success)
    refuse(
      parsed.error.issues.map(({ path, message: reason }) => {
        const value = given.find(([name]) => name === path[0])?.[1];
        return commandMessages.simulate_fault_value({ fault: path.join("."), value, reason });
      }),
    );
  return parsed.data!;
}

function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
