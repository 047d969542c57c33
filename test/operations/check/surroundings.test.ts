import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkSurroundings } from "../../../src/operations/check/surroundings.ts";
import { loaded } from "./loaded.ts";

async function linesOf(keys: Readonly<Record<string, unknown>>, programs = { path: "", cwd: "/" }) {
  const { config } = await loaded({ server: { listen: "127.0.0.1:0" }, ...keys });
  return Array.fromAsync(checkSurroundings(config, programs));
}

async function occupied(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as { port: number }).port;
}

test("a page that other machines could read without asking fails; with a token or a login it doesn't", async () => {
  const open = await linesOf({ server: { listen: "0.0.0.0:0" } });
  expect(open).toMatchObject([{ name: "status page", level: "fail", exitCode: 2 }]);
  expect(`${open[0]?.message} ${open[0]?.advice}`).toContain("server.token");
  const token = "token-never-shown-1234";
  const [guarded] = await linesOf({ server: { listen: "0.0.0.0:0", token } });
  expect(guarded).toMatchObject({ level: "ok", message: expect.stringContaining("with the token") });
  expect(JSON.stringify(guarded)).not.toContain(token);
  const login = { user: "ops", password: "password-never-shown" };
  expect((await linesOf({ server: { listen: "0.0.0.0:0", login } }))[0]?.message).toContain("with the login");
});

test("an archive that cannot be written fails as it fails every stream, and warns where a run goes on without it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "archive-"));
  writeFileSync(join(folder, "file"), "");
  const lineOf = async (path: string, more = {}) =>
    (await linesOf({ archive: { path: join(folder, path), ...more } }))[0];
  const closed = { name: "archive", message: expect.stringContaining("cannot be written (ENOTDIR)") };
  for (const path of ["file", "file/archive"])
    expect(await lineOf(path)).toMatchObject({ ...closed, level: "fail", exitCode: 1 });
  expect(await lineOf("file/archive", { on_error: "warn" })).toMatchObject({ ...closed, level: "warn", exitCode: 0 });
  expect(await lineOf("a/b")).toMatchObject({ name: "archive", level: "ok" });
  expect(readdirSync(folder)).toEqual(["file"]);
});

test("whether the address can be listened at is tried", async () => {
  const port = await occupied();
  expect(await linesOf({ server: { listen: `127.0.0.1:${port}` } })).toMatchObject([
    { level: "ok", message: expect.stringContaining(`127.0.0.1:${port} is in use: by \`tributary schedule\``) },
  ]);
  // An address from the range for documentation is nobody's.
  expect(await linesOf({ server: { listen: "192.0.2.1:8787", token: "0123456789-abcdef" } })).toMatchObject([
    { level: "warn", message: expect.stringContaining("can't listen at 192.0.2.1:8787 (EADDRNOTAVAIL)") },
  ]);
});

test("hooks tell where they are heard, without their secret", async () => {
  const hooks = { secret: "neverShown-0123456789" };
  const [, near] = await linesOf({ hooks });
  expect(near).toMatchObject({ name: "hooks", level: "ok", message: expect.stringContaining("needs a proxy") });
  const [, far] = await linesOf({ hooks, server: { listen: "0.0.0.0:0", token: "0123456789-abcdef" } });
  expect(far?.message).toContain("POST http://0.0.0.0:0/hooks/<secret>");
  expect(far?.message).not.toContain("proxy");
  expect(JSON.stringify([near, far])).not.toContain(hooks.secret);
});

test("an address is told by its host alone, and warned of where it is not encrypted", async () => {
  const targets = [
    { url: "https://hooks.example.com/services/T0/B0/neverShown", format: "slack", on: ["failure", "recovery"] },
    { url: "http://pager.example.com:8080/neverShown?token=neverShown" },
    { url: "http://127.0.0.1:9/x" },
  ];
  const [, slack, pager, local] = await linesOf({ notify: { targets } });
  expect(slack).toMatchObject({
    name: "notify 1",
    level: "ok",
    message: "POST (slack) to hooks.example.com on failure, recovery; nothing was sent to try it",
  });
  expect(pager).toMatchObject({ name: "notify 2", level: "warn", message: expect.stringContaining("unencrypted") });
  expect(local).toMatchObject({ name: "notify 3", level: "ok" });
  expect(JSON.stringify([slack, pager])).not.toContain("neverShown");
});

test("a program is looked for where it would be, and has to be one that may be run", async () => {
  const folder = mkdtempSync(join(tmpdir(), "programs-"));
  const bin = join(folder, "bin");
  mkdirSync(join(bin, "a_folder"), { recursive: true });
  for (const name of ["page", "plain"]) writeFileSync(join(bin, name), "#!/bin/sh\n");
  chmodSync(join(bin, "page"), 0o755);
  chmodSync(join(bin, "plain"), 0o644);
  const programs = { path: ["/nowhere", bin].join(":"), cwd: folder };
  const commands = ["page", join(bin, "page"), "bin/page", "plain", "a_folder", "absent", "./page"];
  const targets = commands.map(name => ({ command: [name, "--secret=neverShown"] }));
  const [, ...lines] = await linesOf({ notify: { targets } }, programs);
  expect(lines.map(({ level }) => level)).toEqual(["ok", "ok", "ok", "fail", "fail", "fail", "fail"]);
  expect(lines[0]?.message).toBe(`${join(bin, "page")} on failure, recovery, late; it was not started to try it`);
  expect(lines[5]).toMatchObject({
    name: "notify 6",
    exitCode: 2,
    message: "There is no program absent that may be run.",
    advice: expect.stringContaining("full path"),
  });
  expect(JSON.stringify(lines)).not.toContain("neverShown");
});
