import { failureKinds } from "../../errors.ts";
import { catalog, template } from "../../message.ts";

const PUT_ADVICE = {
  unavailable: "The way to it is disturbed: call it again later.",
  too_large: "Send less at once: divide it, or make it smaller.",
  invalid:
    "Check that a proxy on the way passes PUT as it is, and this machine's clock; else ask the service's operator.",
};

export const uploadMessages = catalog("upload", {
  directory: template(
    { file: "inbox" },
    ({ file }) => `${file}: expected a file, got a directory: name its files, or watch it with --watch.`,
  ),
  not_a_regular_file: template(
    { file: "/dev/null" },
    ({ file }) => `${file}: expected a regular file, got a device, a pipe or a socket.`,
  ),
  file_empty: template({ file: "a.pdf" }, ({ file }) => `${file}: expected a file with content, got an empty one.`),
  file_not_found: template(
    { file: "a.pdf" },
    ({ file }) => `${file}: expected a file, got nothing of that name: check the path.`,
  ),
  file_not_readable: template(
    { file: "a.pdf", reason: "EACCES" as string | undefined },
    ({ file, reason }) => `${file}: expected a file that can be read, got ${reason}: check its rights.`,
  ),
  media_type_unknown: template(
    { file: "scan" },
    ({ file }) =>
      `${file}: expected a name whose ending tells the media type, got none that is known: give --content-type.`,
  ),
  reading_failed: template(
    { file: "a.pdf", reason: "EIO" as string | undefined },
    ({ file, reason }) => `${file}: expected a file that can be read, got ${reason}.`,
  ),
  outcome_unknown: template(
    { file: "/srv/inbox/a.pdf", reason: "it was ended before an answer came." },
    ({ file, reason }) =>
      `${file}: expected the service to name the document, but whether it made one is not known: ${reason} It is not sent again by itself. Look whether the service has it; --again sends it once more.`,
  ),
  not_taken: template(
    {
      ...{ file: "a.pdf", got: "status 403", addresses: 3 as number | undefined },
      failure: "invalid" as keyof typeof PUT_ADVICE,
    },
    ({ file, got, addresses, failure }) =>
      `${file}: expected its upload address to take it, got ${got}${addresses === undefined ? "" : ` from ${addresses} addresses`}. ${PUT_ADVICE[failure]}`,
  ),
  field_missing: template(
    { field: "doc_id", path: "/ingest/finalize" },
    ({ field, path }) => `Expected ${field} from POST ${path}, got none. ${failureKinds.malformed.advice}`,
  ),
  files_stay: template(
    { reason: "The service could not be reached." },
    ({ reason }) => `${reason} The files stay where they are until then.`,
  ),
  processed_unknown:
    "Nothing says when a document is processed: the service does not document the values that mean it. Set meanings.processed in the configuration, such as { status: [done] }; `tributary meanings processed` shows the values that your service sends.",
});
