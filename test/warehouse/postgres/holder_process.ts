// Takes the lock of orders and sleeps within a statement until it is killed.
import { sql } from "kysely";
import { openReady } from "./fixture.ts";

const destination = await openReady(process.argv[2]!, "run-to-be-killed");
await destination.lock("acme", ["orders"], 0);
process.stdout.write("held\n");
await sql`select pg_sleep(600)`.execute(destination.db);
