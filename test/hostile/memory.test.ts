import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { endlessly } from "./endless.ts";
import { serving } from "./service.ts";

const run = promisify(execFile);
const child = fileURLToPath(new URL("memory.child.ts", import.meta.url));

const MEGABYTE = 1024 * 1024;
const member = gzipSync(Buffer.alloc(32 * MEGABYTE, "0"), { level: 1 });
/** A gigabyte of zeros: what gzip makes of several is one after another. */
const bomb = Buffer.concat(Array<Buffer>(32).fill(member));
const piece = "1\r\n \r\n".repeat(10_000);

/** How a process ends that asks for it, and how many megabytes that takes beyond a small answer's. */
async function asking(
  answer: Parameters<typeof serving>[0],
  ...settings: readonly string[]
): Promise<{ ended: string; megabytes: number }> {
  const url = await serving((request, response) => {
    if (request.url?.endsWith("/small")) response.end('{"data":[]}');
    else answer(request, response);
  });
  const { stdout } = await run(process.execPath, [child, url, ...settings]);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof asking>>;
}

test("a body of 500 MB and more takes no more memory than a few times the 64 MB that are read of it", async () => {
  const { ended, megabytes } = await asking((_request, response) => endlessly(response, Buffer.alloc(64 * 1024, " ")));
  expect(ended).toBe("too_large");
  expect(megabytes).toBeLessThan(64 * 4);
});

test("a gigabyte in a megabyte of gzip takes no more either", async () => {
  const { ended, megabytes } = await asking((_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
  });
  expect(ended).toBe("too_large");
  expect(megabytes).toBeLessThan(64 * 4);
});

test("bodies of nothing but empty values, sixty bytes of memory for three, are refused before they are read", async () => {
  const { ended, megabytes } = await asking((_request, response) => {
    response.end(`{"data":[${"{},".repeat(20_000_000)}{}]}`);
  });
  expect(ended).toBe("too_large");
  expect(megabytes).toBeLessThan(64 * 4);
});

test("a body in chunks of one byte takes its bytes, not two hundred for each", async () => {
  const { ended, megabytes } = await asking((_request, response) => {
    response.socket?.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    if (response.socket !== null) endlessly(response.socket, piece);
  }, String(MEGABYTE));
  expect(ended).toBe("too_large");
  expect(megabytes).toBeLessThan(64);
});
