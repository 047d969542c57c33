import { describe, expect, test } from "vitest";
import { ConfigError } from "../../src/errors.ts";
import { office, officeAnswer } from "./office.ts";
import { kinds, type Place, placeOf } from "./place.ts";

const KEY = "a key of the tests' own";

const hashes = Array.from({ length: 5 }, () => expect.stringMatching(/^[0-9a-f]{64}$/));

const emails = async ({ warehouse }: Place) =>
  (await warehouse.query<{ email: string | null }>("select email from procurement.visits")).map(({ email }) => email);

describe.each(kinds)("%s", (_name, make) => {
  test("a backfill that let a run change privacy goes on under the configuration as it is now, or not at all", async () => {
    const place = await placeOf(make);
    await place.night();
    const order = { catalogue: office, names: ["visits"], range: { from: "2026-02-01", to: undefined } };
    let changing: Promise<unknown> | undefined;
    place.look = async request => {
      if (request.path === "/visits" && changing === undefined) {
        place.under({ pii: "hash", key: KEY });
        changing = place.night({ waitMs: 3_600_000 }).catch(error => error);
        // Only by giving way can the backfill end.
        await changing;
      }
      return officeAnswer(place.stock, request);
    };
    const refusal = await place.backfill(order).catch(error => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    expect(refusal.message).toMatch(
      /^privacy: expected .* but a run of .* stores people\.email .*treatment: hash.*Start it again/,
    );
    // While DuckDB's file is written anew it is free for a moment: the run that did it may have lost it, and the next one goes on.
    expect(await place.night()).toMatchObject({ exit_code: 0 });
    expect(await emails(place)).toEqual(hashes);
    expect(await place.backfill({ ...order, resume: true })).toMatchObject({ exit_code: 0 });
    expect(await emails(place)).toEqual(hashes);
  });
});
