import { catalog, template } from "../message.ts";

const inTheWay = {
  no_file: "a folder or a link",
  changed: "changed since tributary wrote it",
  foreign: "not written by tributary",
};

export interface InTheWay {
  readonly path: string;
  readonly is: keyof typeof inTheWay;
}

export const folderMessages = catalog("folder", {
  not_writable: template(
    { folder: "/srv/dbt", error_code: "EACCES", is_full: false },
    ({ folder, error_code, is_full }) =>
      `The folder ${folder} could not be written (${error_code}): ${is_full ? "make room on its disk" : "check what it is and its rights, or name another folder"}.`,
  ),
  foreign_list:
    "{file=/srv/dbt/.tributary-dbt.json} is not the list that `{command=tributary dbt}` wrote of its files: name another folder, or remove it.",
  in_the_way: template(
    {
      folder: "/srv/dbt",
      command: "tributary dbt",
      files: [{ path: "README.md", is: "foreign" } as InTheWay],
      more: 0,
    },
    ({ folder, command, files, more }) =>
      [
        `${folder} holds what is in the way of \`${command}\`:`,
        ...files.map(({ path, is }) => `  ${path} (${inTheWay[is]})`),
        ...(more > 0 ? [`  and ${more} more`] : []),
        `Nothing was written: ${files[0]?.is === "no_file" ? "move it away, or name another folder" : "move them away, or name another folder"}.`,
      ].join("\n"),
  ),
});

export const reportMessages = catalog("report", {
  not_a_file: template(
    { path: "/srv/report", is_folder: true },
    ({ path, is_folder }) =>
      `--out ${path}: expected a file's name, found ${is_folder ? "a folder" : "something else"}. Name a file, such as report.html.`,
  ),
  foreign_file:
    "--out {path=/srv/report.html}: there is a file already that tributary report did not write. Name another file, or move this one away.",
  not_writable: template(
    { path: "/srv/report.html", reason: "EACCES", is_full: false },
    ({ path, reason, is_full }) =>
      `The report could not be written to ${path} (${reason}): ${is_full ? "make room on its disk" : "check that its folder is one and can be written, or name another file"}.`,
  ),
  view_unusable:
    "Expected a view {view=months} in schema {schema=analytics}, but it is {why=missing}. `tributary sync` makes it, or says what keeps it from that.",
  no_views:
    "Expected the views for analysts in schema {schema=analytics}, but there are none. `tributary sync` makes them, or says what keeps it from that.",
  not_readable:
    'The role {role=analyst} may not read {views[]=months, orders} in schema {schema=analytics}, which the report is made of. Name the role in destination.grant_select_to and run `tributary sync` as the owner, or let the owner run: GRANT USAGE ON SCHEMA "{schema=analytics}" TO "{role=analyst}"; GRANT SELECT ON ALL TABLES IN SCHEMA "{schema=analytics}" TO "{role=analyst}";',
});
