/*
 * Whether a description tells more than the name it explains: of its words those count that are neither words of the name
 * nor said of nearly every column ("as the service names it; values not documented").
 */

const idle = new Set(
  `a an the of to for in on at by from with as is are was were be been has have had its it that this which who whose what
  when where whether how and or not no none null than other others any all each every one own out up so far far if they
  them their there then but only also into over under between beside within
  service services names named name gives given give value values documented document's kept content json list known
  unknown column field row rows table said says say asked object text unit scale api`
    .split(/\s+/)
    .filter(word => word !== ""),
);

/** Words in a form that does not tell "invoices" from "invoiced". */
export function stems(text: string): string[] {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? [])
    .filter(word => !idle.has(word))
    .map(word => word.replace(/(ies|ing|ed|es|s|e|y)$/, ""))
    .filter(word => word.length > 1);
}

/** The words of a description that its name does not say already. */
export function tellingWords(name: string, description: string): string[] {
  const said = stems(name.replaceAll("_", " "));
  return [...new Set(stems(description))].filter(
    word =>
      !said.some(
        own => own === word || (own.length > 3 && word.length > 3 && (own.startsWith(word) || word.startsWith(own))),
      ),
  );
}
