import type { Row } from "../scenario/stand.ts";
import type { Settings, Story } from "../scenario/story.ts";
import { lists, REGIONS } from "./catalogue.ts";
import { COMPANY, NEIGHBOUR } from "./neighbour.ts";

/** What stands in a scenario's configuration beside its destination; `neighbour` is where the second company's service is. */
export function configurationOf(story: Story, settings: Settings, url: string, neighbour?: string): Row {
  const { on, start, audit, publishEvery, guarded, fewRejects, concurrency, unknownFields, history, titles } = settings;
  const own = story.streams.map(name => [name, settingsOf(name, settings)] as const);
  return {
    ...(neighbour === undefined
      ? { company: COMPANY }
      : {
          companies: [
            { name: COMPANY, key: `\${KEY}`, base_url: url },
            { name: NEIGHBOUR, key: `\${OTHER_KEY}`, base_url: neighbour },
          ],
        }),
    api: {
      base_url: url,
      key: `\${KEY}`,
      max_concurrency: concurrency,
      // The service's time stands still while a run waits.
      clock: "ignore",
      // An answer that never comes is waited for in real time.
      timeout: story.steps.some(step => step.do === "run" && "hang" in step.troubles) ? "400ms" : "30s",
    },
    destination: { publish_every: publishEvery },
    streams: {
      preset: "core",
      include: on,
      ...(start === undefined ? {} : { start }),
      defaults: {
        details: { audit },
        max_reject_share: fewRejects ? 0.01 : 0.9,
        unknown_fields: unknownFields,
        history,
      },
      settings: Object.fromEntries(own.filter(([, value]) => Object.keys(value).length > 0)),
    },
    ...(story.archived ? { archive: { path: "./archive" } } : {}),
    ...(titles === "keep"
      ? {}
      : { privacy: { key: "a key of these scenarios' own", [`${titles}_columns`]: ["*.title"] } }),
    deletes: guarded ? { max_share: 0.1, min_rows: 2 } : { max_share: 0.9, min_rows: 50 },
  };
}

function settingsOf(name: string, { volatileTitles, maxDetails, statuses }: Settings): Row {
  return {
    ...(volatileTitles && (lists as readonly string[]).includes(name) ? { volatile: ["title"] } : {}),
    ...(maxDetails !== undefined && /^order_|vendors/.test(name) ? { max_details: maxDetails } : {}),
    ...(statuses && name === "notes" ? { statuses: ["closed"] } : {}),
    ...(name === "prices" ? { values: REGIONS.map(region => ({ region })) } : {}),
  };
}
