import { failureKinds } from "../../errors.ts";
import { catalog, template } from "../../message.ts";

const PUT_ADVICE = {
  unavailable: "The way to it is disturbed: call it again later.",
  too_large: "Send less at once: divide it, or make it smaller.",
  invalid:
    "Check that a proxy on the way passes PUT as it is, and this machine's clock; else ask the service's operator.",
};

export const uploadMessages = catalog("upload", {
  directory: "{file=inbox}: expected a file, got a directory: name its files, or watch it with --watch.",
  not_a_regular_file: "{file=/dev/null}: expected a regular file, got a device, a pipe or a socket.",
  file_empty: "{file=a.pdf}: expected a file with content, got an empty one.",
  file_not_found: "{file=a.pdf}: expected a file, got nothing of that name: check the path.",
  file_not_readable: "{file=a.pdf}: expected a file that can be read, got {reason?=EACCES}: check its rights.",
  not_a_document:
    "{file=run.sh}: expected a document (PDF, office, CSV, text, XML, mail, image), got a file of another kind. If it is a document, name its media type with --content-type.",
  hidden: "{file=.env}: expected a document, got a hidden file, which is never sent. Rename it if it is a document.",
  own_file:
    "{file=config.yaml}: expected a document, got a file of tributary's own (configuration, secrets, warehouse, archive), which is never sent.",
  reading_failed: "{file=a.pdf}: expected a file that can be read, got {reason?=EIO}.",
  outcome_unknown:
    "{file=/srv/inbox/a.pdf}: expected the service to name the document, but whether it made one is not known: {reason=it was ended before an answer came.} It is not sent again by itself. Look whether the service has it; --again sends it once more.",
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
  candidates: "Documents that have its name and came since: {found[]=DOC-1, DOC-2}.",
  no_such_folder: template(
    { folder: "/srv/inbx", suggestion: "/srv/inbox" as string | undefined },
    ({ folder, suggestion }) =>
      `--watch: expected a folder, but nothing is at ${folder}. ${suggestion === undefined ? "Make it, or correct the path." : `Did you mean ${suggestion}?`}`,
  ),
  not_a_folder:
    "--watch: expected a folder, but {folder=/srv/a.pdf} is a file. Leave --watch out to send it, or name the folder it lies in.",
  folder_not_usable:
    "--watch: expected a folder in which files can be read and moved, but {folder=/srv/inbox} refuses it ({reason?=EACCES}). Check that it is there, and its rights.",
  not_moved:
    "{file=/srv/inbox/a.pdf} could not be moved to {to=/srv/inbox/done/a.pdf} ({reason?=EACCES}). Check the rights of both folders, and that they lie on one disk.",
  changed_meanwhile:
    "{file=a.pdf}: a program wrote to it while it was sent. Its present content goes back to the folder, as a new file.",
  files_stay: "{reason=The service could not be reached.} The files wait in the folder until then.",
  processed_unknown:
    "Nothing says when a document is processed: the service does not document the values that mean it. Set meanings.processed in the configuration, such as { status: [done] }; `tributary meanings processed` shows the values that your service sends.",
});
