/** A value that cannot stand in a path: the request is not made, the row is a problem. */
export class PathError extends RangeError {
  override readonly name = "PathError";
}

const placeholder = /^\{(.+)\}$/;

/** Fills `/po/{po_number}` with percent-encoded values. Throws PathError where a URL parser would read other segments ('', '.', '..') or a fixed sibling path comes out. */
export function buildPath(
  template: string,
  params: Readonly<Record<string, string>>,
  siblings: readonly string[],
): string {
  const wanted: string[] = [];
  let filled = false;
  for (const segment of template.split("/")) {
    const name = placeholder.exec(segment)?.[1];
    if (name === undefined) wanted.push(segment);
    else {
      filled = true;
      wanted.push(encoded(template, name, params[name]));
    }
  }
  const path = wanted.join("/");
  const parsed = new URL(`http://service/api/v1${path}`).pathname;
  if (parsed !== `/api/v1${path}`) {
    throw new PathError(
      `Expected values that fill ${template} segment by segment, but a URL parser reads ${parsed}: not requested.`,
    );
  }
  if (filled && siblings.includes(path)) {
    throw new PathError(
      `Expected an id for ${template}, but ${path} is another endpoint of the service: not requested.`,
    );
  }
  return path;
}

function encoded(template: string, name: string, value: string | undefined): string {
  if (value === undefined || value === "") {
    throw new PathError(`Expected a value for {${name}} in ${template}, but it is empty: not requested.`);
  }
  try {
    return encodeURIComponent(value);
  } catch {
    throw new PathError(`Expected text for {${name}} in ${template}, but it holds half a character: not requested.`);
  }
}

/** `?a=1&b=x`, or the empty string; names and values percent-encoded. */
export function buildQuery(query: Readonly<Record<string, string | number | boolean>>): string {
  let text = "";
  for (const name in query) {
    text += `${text === "" ? "?" : "&"}${encodeURIComponent(name)}=${encodeURIComponent(query[name]!)}`;
  }
  return text;
}

/** Requests of like cost: the first segment and how many there are. */
export function kindOf(path: string): string {
  const segments = path.split("/");
  return `${segments[1]}/${segments.length}`;
}
