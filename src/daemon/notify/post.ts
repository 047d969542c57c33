import { EnvHttpProxyAgent } from "undici";

/** Sends one POST of JSON and returns the answer's status. Redirects are not followed. */
export type Post = (address: string, body: string, signal: AbortSignal) => Promise<number>;

const MAX_ANSWER_BYTES = 64 * 1024;

/** The real thing: a connection of its own for each, as there may be weeks between two. */
export const postJson: Post = async (address, body, signal) => {
  const url = new URL(address);
  const dispatcher = new EnvHttpProxyAgent({ allowH2: false });
  try {
    const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    const answer = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "tributary",
        ...(login === ":" ? {} : { authorization: `Basic ${Buffer.from(login).toString("base64")}` }),
      },
      body,
      signal,
    });
    await answer.body.dump({ limit: MAX_ANSWER_BYTES, signal });
    return answer.statusCode;
  } finally {
    await dispatcher.destroy();
  }
};
