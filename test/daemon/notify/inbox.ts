import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { onTestFinished } from "vitest";

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came over the wire. */
  readonly text: string;
}

/** A mail server on loopback that takes mails of who knows its password, for the length of a test. */
export async function startInbox(refusal?: string): Promise<{ readonly url: string; readonly mails: readonly Mail[] }> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, answer) =>
      username === "sender" && password === "secret-word"
        ? answer(null, { user: username })
        : answer(new Error("wrong password")),
    onData(stream, { envelope }, answer) {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", () => {
        if (refusal !== undefined) return answer(new Error(refusal));
        const { mailFrom, rcptTo } = envelope;
        mails.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(parts).toString("utf8"),
        });
        answer();
      });
    },
  });
  const listener = server.listen(0, "127.0.0.1");
  await once(listener, "listening");
  onTestFinished(() => new Promise<void>(done => server.close(() => done())));
  const { port } = listener.address() as AddressInfo;
  return { url: `smtp://sender:secret-word@127.0.0.1:${port}`, mails };
}
