import { catalog, template } from "../../message.ts";

export const replayMessages = catalog("replay", {
  no_archive:
    "replay: expected an archive to load from, but the configuration names none. Set archive.path; from then on answers are kept in it.",
  nothing_archived: "{stream=items}: the archive holds nothing of it that could be loaded.",
  streams_not_archived:
    "The archive holds nothing that could be loaded of {unarchived[]=items, contracts}: their tables stay as they are.",
  archive_behind: template(
    {
      ...{ stream: "items", complete_to: "2026-03-29T01:00:00.000Z" as string | null },
      ...{ unarchived_run_at: undefined as string | undefined, newest: "2026-03-20T01:00:00.000Z" },
      option: "--full",
    },
    ({ stream, complete_to, unarchived_run_at, newest, option }) =>
      `${stream}: its tables ${unarchived_run_at === undefined ? `are complete to ${complete_to}` : `know what a run of ${unarchived_run_at} read`}, which is not in the archive, whose last answers are of ${newest}: nothing was loaded again, as older states would come back. \`tributary sync ${stream} ${option}\` reads it whole; --from or --to loads what the archive has all the same.`,
  ),
  runs_chosen: "runs whose answers are loaded again from the archive",
  scans_chosen: "scans that are loaded again from the archive; those it doesn't hold to their end are left out",
  scan_given_up: "a scan under way is given up for it: the next run reads it anew",
  file_damaged: "{file=/srv/archive/acme/items/20260329.jsonl.zst}: {reason=a line that is no answer of this version}",
  archived_not_found: template(
    { path: "/items/1", reason: "no such item" as string | undefined },
    ({ path, reason }) =>
      `${path} was answered with 404 when it was archived${reason === undefined ? "" : `: ${reason}`}.`,
  ),
  answer_damaged:
    "Expected the answer of {path=/items} in the archive to be as it came at {at=2026-03-29T01:00:00.000Z}, but it is damaged ({reason=it is cut off}): leave it out with --from or --to, or `tributary sync --full` asks the service again.",
  answer_missing: "Expected an answer of {path=/items/1} in the archive, but there is none.",
  rejects_by_place:
    "{stream=items}: its rows are told apart by their place in the list, so its rejects come with the next scan.",
  rejects_after_scan:
    "{stream=items}: a scan of it was broken off, and its rows wait to be published. `tributary sync {stream=items}` goes on with it; its rejects can be tried again after that.",
  rejects_tried: template(
    { stream: "items", tried: 12, staying: 2 },
    ({ stream, tried, staying }) =>
      `${stream}: of ${tried} rejects ${tried - staying} are settled, ${staying} still cannot be stored.`,
  ),
});
