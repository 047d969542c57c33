import { dirname } from "node:path";
import { select } from "../../config/selection.ts";
import { StoppedError } from "../../errors.ts";
import { entryAt } from "../../files.ts";
import type { Message } from "../../message.ts";
import type { Renewed, Renewing } from "../../sync/run/run_order.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { forgetExport, notedExports } from "../../warehouse/state/noted_exports.ts";
import { isUnder, makeExport } from "./export.ts";
import { readManifest } from "./manifest.ts";
import { exportMessages } from "./messages.ts";
import { linked, type Place, placeAt, versionsAt } from "./place.ts";

/**
 * Makes the exports anew that hold values as they may be kept no longer, and removes their earlier versions. One that cannot be
 * made is told each time until it has been, or is gone. @throws StoppedError
 */
export async function renewExports(destination: Destination, renewing: Renewing): Promise<Renewed> {
  const done: string[] = [];
  const warnings: Message[] = [];
  if (renewing.privacy === "") return { done, warnings };
  for (const noted of await notedExports(destination.db)) {
    const place = placeAt(noted.path);
    try {
      const folders = await versionsAt(place);
      if (folders.length === 0) {
        // Removed by whoever made it; a disk that is not there for the moment has no such folder either.
        const isGone = noted.host === renewing.holder.host && (await entryAt(dirname(noted.path))) !== undefined;
        if (isGone) await forgetExport(destination.db, noted);
        continue;
      }
      const made = await Promise.all(folders.map(readManifest));
      if (made.every(manifest => isUnder(renewing.privacy, manifest))) continue;
      await renew(destination, place, renewing);
      done.push(`privacy: the export in ${noted.path} was made anew, and its earlier versions removed`);
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      warnings.push(exportMessages.not_renewed({ ...place, reason }));
    }
  }
  return { done, warnings };
}

async function renew(
  destination: Destination,
  place: Place,
  { privacy, catalogue, on, holder, version, clock, log, signal }: Renewing,
): Promise<void> {
  const shown = await linked(place);
  const manifest = shown === undefined ? undefined : await readManifest(place.path);
  if (manifest === undefined)
    throw new TypeError(
      `expected to read what it holds from ${place.path}/_manifest.json, but there is nothing of the kind.`,
    );
  const { options } = manifest;
  log.info(exportMessages.renewing(), { path: place.path });
  const order = {
    ...{ place, catalogue, options, version, privacy },
    on: new Set(on.map(({ name }) => name)),
    named: select(catalogue, catalogue, options.streams).named,
  };
  await destination.withRoom("write", () =>
    makeExport(destination, order, { clock, log, signal, holder, watch: () => undefined }),
  );
}
