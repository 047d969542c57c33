import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { type Clock, withTimeLimit } from "../../clock.ts";
import { DestinationError } from "../../errors.ts";
import type { Address } from "./failure.ts";
import { postgresMessages } from "./messages.ts";

const PATIENCE_MS = 3_000;
const LOOKS = 4;

interface Seen {
  readonly backend: number;
  readonly mark: string | null;
}

/**
 * Refuses a connection whose statements may land in different backends. A mark is left in the session's backend; a
 * second client's transaction then takes the backend a pooler would give away, and the first looks for its mark. Nothing
 * else is left behind: that backend may be other programs'.
 */
export async function refusePooler(client: Client, second: Client, address: Address, clock: Clock): Promise<void> {
  const mark = randomUUID();
  const { rows } = await client.query<Seen>(
    "select pg_backend_pid() as backend, set_config('tributary.session', $1, false) as mark",
    [mark],
  );
  const first = rows[0]!;
  const own = (seen: Seen) => seen.backend === first.backend && seen.mark === mark;
  second.on("error", () => undefined);
  try {
    await second.connect();
    // A pool of one server in session mode never lets the second in: then the first has the server for itself.
    const looking = second.query("begin; set local idle_in_transaction_session_timeout = 0").then(() => look(second));
    const other = await withTimeLimit(clock, PATIENCE_MS, looking, undefined);
    if (other === undefined) return;
    const shared = other.backend === first.backend || other.mark === mark || !own(await look(client));
    await second.query("rollback");
    if (shared) throw refusal(address);
    for (let i = 0; i < LOOKS; i++) if (!own(await look(client))) throw refusal(address);
  } finally {
    void second.end().catch(() => undefined);
  }
}

async function look(client: Client): Promise<Seen> {
  const { rows } = await client.query<Seen>(
    "select pg_backend_pid() as backend, current_setting('tributary.session', true) as mark",
  );
  return rows[0]!;
}

const refusal = ({ host, port }: Address): DestinationError =>
  new DestinationError(postgresMessages.transaction_pooler({ host, port }));
