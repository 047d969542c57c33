/** A sentence for people with its code and facts for programs: what happened, what was expected, what to do. */
export interface Message {
  /** Stays when the sentence is improved: `source.rate_limited`. */
  readonly code: string;
  readonly message: string;
  /** JSON values by snake_case names: what the sentence is rendered from. They show nothing that the sentence doesn't. */
  readonly fields: Fields;
}

/** Fields of a message by name. */
export type Fields = Readonly<Record<string, unknown>>;

/** How a message is rendered; `example` gives its fields their types, and the documents a sentence to show. */
interface Template<F extends Fields> {
  readonly example: F;
  render(fields: F): string;
}

export function template<F extends Fields>(example: F, render: (fields: F) => string): Template<F> {
  return { example, render };
}

/** The fields of a sentence by its `{name=example}`: numbers where the example is one, else texts; `name?` may be undefined, `name[]` is a list. */
type FieldsIn<S extends string> = S extends `${string}{${infer Name}=${infer Example}}${infer Rest}`
  ? FieldIn<Name, Example extends `${number}` ? number : string> & FieldsIn<Rest>
  : unknown;
type FieldIn<Name extends string, T> = Name extends `${infer N}?`
  ? { readonly [K in N]: T | undefined }
  : Name extends `${infer N}[]`
    ? { readonly [K in N]: readonly string[] }
    : { readonly [K in Name]: T };

type Entry = string | Template<Fields>;
type FieldsOf<T> = T extends Template<infer F> ? F : T extends string ? FieldsIn<T> : never;

/** Makes the messages of one code; `example` is one of them. */
type Maker<T> = (unknown extends FieldsOf<T> ? () => Message : (fields: FieldsOf<T>) => Message) & {
  readonly example: Message;
};

const FIELD = /\{(\w+)(\?|\[\])?=([^{}]*)\}/g;

/** A sentence that is rendered by its fields alone, as a template. */
function templateIn(sentence: string): Template<Fields> {
  const typed = (text: string) => (text === String(Number(text)) ? Number(text) : text);
  const example = Object.fromEntries(
    sentence.matchAll(FIELD).map(([, name, mark, text]) => [name!, mark === "[]" ? text!.split(", ") : typed(text!)]),
  );
  const shown = (value: unknown) => (Array.isArray(value) ? value.join(", ") : String(value));
  return { example, render: fields => sentence.replace(FIELD, (_, name: string) => shown(fields[name])) };
}

/**
 * The messages of a room, by the second half of their codes: `topic.name`. A text is a message whose fields stand in it, each with an
 * example: `{path=/po}`, `{reason?=EACCES}`, `{names[]=a, b}`.
 */
export function catalog<const T extends Readonly<Record<string, Entry>>>(
  topic: string,
  entries: T,
): { readonly [Name in keyof T]: Maker<T[Name]> } {
  const makers = Object.entries(entries).map(([name, entry]) => {
    const code = `${topic}.${name}`;
    const { example, render } = typeof entry === "string" ? templateIn(entry) : entry;
    const make = (fields: Fields = {}): Message => ({ code, message: render(fields), fields });
    return [name, Object.assign(make, { example: make(example) })];
  });
  return Object.fromEntries(makers) as { readonly [Name in keyof T]: Maker<T[Name]> };
}

/** A message within another's words, or with names in front; `fields` are added to its own. */
export function reworded(message: Message, text: string, fields: Fields = {}): Message {
  return { code: message.code, message: text, fields: { ...message.fields, ...fields } };
}

/** Their sentences. */
export const textsOf = (messages: readonly Message[]): string[] => messages.map(({ message }) => message);
