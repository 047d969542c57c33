/*
 * A reader in a process of its own (see looking.ts). It says "open" once it holds the file, goes on until its input ends, and
 * then says as JSON what it saw.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { look } from "./looking.ts";

let over = false;
let said = false;
process.stdin.on("end", () => {
  over = true;
});
process.stdin.resume();
const looking = await look(process.argv[2] ?? "", async () => {
  if (!said) process.stdout.write("open\n");
  said = true;
  await sleep(5);
  return over;
});
process.stdout.write(`${JSON.stringify(looking)}\n`);
