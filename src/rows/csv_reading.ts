/** Reads lines of CSV as the encoder writes them: NULL is a field with nothing in it, text is quoted. */
export function* readCsv(bytes: Uint8Array): Generator<(string | null)[]> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  let line: (string | null)[] = [];
  for (let at = 0; at < text.length; ) {
    const { value, end } = text.charCodeAt(at) === QUOTE ? quoted(text, at + 1) : plain(text, at);
    line.push(value);
    if (text.charCodeAt(end) === NEWLINE) {
      yield line;
      line = [];
    }
    at = end + 1;
  }
}

const QUOTE = 34;
const COMMA = 44;
const NEWLINE = 10;

interface Field {
  readonly value: string | null;
  /** Where the comma or line break after it stands. */
  readonly end: number;
}

function plain(text: string, start: number): Field {
  let end = start;
  for (let code = text.charCodeAt(end); code !== COMMA && code !== NEWLINE && end < text.length; )
    code = text.charCodeAt(++end);
  return { value: end === start ? null : text.slice(start, end), end };
}

function quoted(text: string, start: number): Field {
  let close = text.indexOf('"', start);
  let doubled = false;
  while (text.charCodeAt(close + 1) === QUOTE) {
    doubled = true;
    close = text.indexOf('"', close + 2);
  }
  const raw = text.slice(start, close);
  return { value: doubled ? raw.replaceAll('""', '"') : raw, end: close + 1 };
}
