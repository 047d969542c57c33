import { resolve } from "node:path";
import { z } from "zod";
import { parseDuration } from "../duration.ts";
import { type Duration, type FilePath, type ListenAddress, parseSize, type Size } from "./fields.ts";

/*
 * What the schema declares, in the program's form: `max_time: 4h` is `maxTimeMs: 14400000`, paths are absolute, sizes bytes.
 */

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

export type Named<Key, Value> = Key extends string
  ? string extends Key
    ? Key
    : NonNullable<Value> extends Duration
      ? `${Camel<Key>}Ms`
      : Camel<Key>
  : never;

export type Program<T> = T extends Duration | Size
  ? number
  : T extends FilePath
    ? string
    : T extends ListenAddress
      ? { readonly host: string; readonly port: number }
      : T extends string | number | boolean | undefined
        ? T
        : T extends readonly (infer Item)[]
          ? readonly Program<Item>[]
          : { readonly [Key in keyof T as Named<Key, T[Key]>]-?: Program<T[Key]> };

/** A schema without its default, optional and preprocess wrappers. */
export function bareSchema(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return bareSchema(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? bareSchema(schema.out) : schema;
}

export function programForm(schema: z.core.$ZodType, value: unknown, directory: string): unknown {
  if (value === undefined) return undefined;
  const bare = bareSchema(schema);
  const { is, other } = z.globalRegistry.get(bare) ?? {};
  if (is === "duration") return parseDuration(value as string);
  if (is === "size") return parseSize(value as string);
  if (is === "path") return resolve(directory, value as string);
  if (is === "path or other")
    return (other as RegExp).test(value as string) ? value : resolve(directory, value as string);
  if (is === "listen") return hostAndPort(value as string);
  if (bare instanceof z.ZodArray)
    return (value as readonly unknown[]).map(item => programForm(bare.element, item, directory));
  const record = value as Readonly<Record<string, unknown>>;
  if (bare instanceof z.ZodRecord)
    return Object.fromEntries(
      Object.entries(record).map(([name, item]) => [name, programForm(bare.valueType, item, directory)]),
    );
  if (!(bare instanceof z.ZodObject)) return value;
  return Object.fromEntries(
    Object.entries<z.core.$ZodType>(bare.shape).map(([name, inner]) => [
      programName(name, inner),
      programForm(inner, record[name], directory),
    ]),
  );
}

export function programName(name: string, schema: z.core.$ZodType): string {
  const camel = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return z.globalRegistry.get(bareSchema(schema))?.["is"] === "duration" ? `${camel}Ms` : camel;
}

function hostAndPort(listen: string): Program<ListenAddress> {
  const colon = listen.lastIndexOf(":");
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(listen.slice(colon + 1)) };
}
