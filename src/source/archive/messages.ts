import { catalog, template } from "../../message.ts";

const unkept = (reason: string): string => `expected to keep its answers in the archive, but ${reason}`;

export const archiveMessages = catalog("archive", {
  not_written: template(
    { stream: "orders", reason: "/srv/archive cannot be written (ENOSPC): see to its rights and its free space." },
    ({ stream, reason }) => `${stream}: ${unkept(reason)} Or set archive.on_error: warn, to go on without the archive.`,
  ),
  incomplete: template(
    { reason: "a secret of the configuration stands across values of one of them." },
    ({ reason }) => `${unkept(reason)} The rest of this run's answers of the stream is not archived.`,
  ),
  unreadable_folder:
    "Expected {folder=/srv/archive/acme} of the archive to be readable, but got {reason=EACCES}: see to its rights.",
  not_rewritten:
    "Expected {path=/srv/archive/acme/orders/20260310T020000-0a1b2c3d.ndjson.zst} of the archive to be rewritten under the configured privacy, but got {reason=ENOSPC}: see to its rights and its free space. Until then it holds the former values, and no run goes on.",
  lost_link:
    "Expected {link=/srv/archive/acme} of the archive, a link, to lead to a folder whose answers are rewritten under the configured privacy, but it leads nowhere: mount its disk, or remove the link. Until then no run goes on.",
});
