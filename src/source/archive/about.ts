import { type Api, through } from "../api.ts";

/** What a request is for, as far as its answer alone doesn't say: kept with the answer, so that it can be loaded again. */
export interface About {
  readonly stream: string;
  readonly scan: string;
  /** No narrowing filter. */
  readonly full: boolean;
  /** Which of the scan's requests it belongs to, and how many there are. */
  readonly part: number;
  readonly parts: number;
  /** What a lookup or snapshot asked with, by column. */
  readonly context: Readonly<Record<string, string>>;
  /** Whose detail it is. */
  readonly parent: Parent;
  /** Its pages are a part of history, read side by side with others. */
  readonly window: true;
  /** Asks whether a missing row is gone. */
  readonly confirms: true;
  /** Asks for a row that is listed, to see whether its path answers. */
  readonly control: true;
  /** Deletions beyond the guard's limits were accepted. */
  readonly accepted: true;
}

/** A detail's parent when it was asked for. */
export interface Parent {
  readonly key: string;
  readonly hash: string;
  /** The path's parameters, by the parent's column. */
  readonly params: Readonly<Record<string, string>>;
}

/** The same service; whatever is asked through it is told to be about this as well. */
export const telling = (api: Api, about: Partial<About>): Api =>
  through(api, (path, query, options) => api.get(path, query, { ...options, about: { ...about, ...options?.about } }));
