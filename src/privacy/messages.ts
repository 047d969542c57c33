import type { Treatment } from "../catalog/columns.ts";
import { catalog, template } from "../message.ts";

const possible = { hash: "texts, ids and JSON can be hashed", mask: "texts and ids can be masked" };

export const privacyMessages = catalog("privacy", {
  unknown_column:
    "privacy.{list=hash_columns}: expected a column such as {example=orders.contact_email}, got {column=orders.contact_mail}, which no table has.",
  needed_column:
    "privacy.{list=exclude_columns}: {column=orders.id} cannot be treated: {reason=it is part of the key}. Switch the stream off instead.",
  unfit_column: template(
    { treatment: "mask" as Exclude<Treatment, "exclude">, column: "orders.total_amount" },
    ({ treatment, column }) =>
      `privacy.${treatment}_columns: ${column} is none that this can be done to: only ${possible[treatment]}. Exclude it instead.`,
  ),
  named_twice: template(
    { column: "orders.contact_email", treatments: ["exclude", "hash"] as readonly Treatment[] },
    ({ column, treatments }) =>
      `privacy: ${column} stands under ${treatments.map(each => `${each}_columns`).join(" and under ")}; keep one of them.`,
  ),
  needed_by_setting:
    "streams.settings.{stream=entities}: it needs the values of {column=orders.contact_email}, but under privacy they are not stored as they come. Take the column out of privacy, or this setting away.",
  other_key:
    "privacy.key: this warehouse holds hashes ({column=orders.contact_email} and others) made with another key: values hashed with this one would match none of them. Set the key back. To begin anew with this one, run once with what is hashed excluded (pii: exclude), then hash again: the values come back as they are read.",
  not_applied:
    "privacy: the warehouse's values are not stored as the configuration says yet. Run `tributary sync` first, which rewrites them; nothing was written.",
  replaced: template(
    {
      asked_at: "2026-03-10T02:00:00.000Z",
      since: "2026-03-10T02:05:00.000Z",
      column: "orders.contact_email",
      treatment: "hash" as Treatment | null,
    },
    ({ asked_at, since, column, treatment }) =>
      `privacy: expected the values to be stored as the configuration said at ${asked_at}, when this began; but a run of ${since} stores ${column} under another one (treatment: ${treatment ?? "none"}). Start it again, under the configuration as it is now; what was published stays.`,
  ),
  rewriting: "writing anew what held the former values of treated columns",
  archive_rewritten: "rewrote the archive under the configured privacy",
  not_cleansed: template(
    {
      reason:
        "privacy: expected nobody to see any more what treated columns held before, but psql began before that was rewritten, so PostgreSQL keeps it in the tables' files (_tributary.privacy.cleaned_at stays NULL). The first run after the end of it removes it.",
    },
    ({ reason }) => reason,
  ),
  outdated_exports: template(
    { paths: ["/srv/lake"] as readonly string[], state_schema: "_tributary" },
    ({ paths, state_schema }) =>
      `privacy: ${paths.length === 1 ? "an export holds" : `${paths.length} exports hold`} values that another policy stored: ${paths.join(", ")}. Run \`tributary export\` for each again. If a folder is gone, delete its row from ${state_schema}.exports.`,
  ),
  too_deep:
    "Expected an answer that can be kept without its personal data, but it is nested too deeply to be written again.",
});
