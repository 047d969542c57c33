import { type Discrepancy, isFault } from "./discrepancy.ts";

/** Discrepancies of a stream that are kept one by one; the rest is counted. */
export const MOST_KEPT = 10_000;

/** What the comparison of a stream has come to. A key that comes again replaces what was found of it before. */
export class Result {
  readonly #byKey = new Map<string, readonly Discrepancy[]>();
  readonly #seen = new Set<string>();
  readonly #damaged = new Set<string>();
  readonly #further: Discrepancy[] = [];

  row(key: readonly string[], discrepancies: readonly Discrepancy[]): void {
    const id = idOf(key);
    this.#seen.add(id);
    if (discrepancies.length > 0) this.#byKey.set(id, discrepancies);
    else this.#byKey.delete(id);
  }

  /** Something was found without the service's help; the row of this key is not whole, whatever the service says of it. */
  add(key: readonly string[], discrepancy: Discrepancy): void {
    this.#damaged.add(idOf(key));
    this.#further.push(discrepancy);
  }

  hasSeen(key: readonly string[]): boolean {
    return this.#seen.has(idOf(key));
  }

  isUnequal(key: readonly string[]): boolean {
    return this.#byKey.has(idOf(key));
  }

  /** Tells apart which changes of details their list's rows show: `isShown` says it of a key. */
  tellApart(isShown: (key: readonly string[]) => boolean): void {
    for (const [id, found] of this.#byKey) {
      if (isShown(JSON.parse(id) as readonly string[])) continue;
      const unseen = (one: Discrepancy): Discrepancy =>
        one.kind === "changed_since" ? { ...one, kind: "changed_unseen" } : one;
      this.#byKey.set(id, found.map(unseen));
    }
  }

  get checked(): number {
    return this.#seen.size;
  }

  get equal(): number {
    const unequal = this.#damaged.intersection(this.#seen).union(new Set(this.#byKey.keys()));
    return this.#seen.size - unequal.size;
  }

  /** What is wrong, and then what the service has changed since; at most so many of each that it can be kept. */
  get discrepancies(): readonly Discrepancy[] {
    const all = [...[...this.#byKey.values()].flat(), ...this.#further];
    const faults = all.filter(({ kind }) => isFault(kind));
    const changes = all.filter(({ kind }) => !isFault(kind));
    return [...faults, ...changes].slice(0, MOST_KEPT);
  }

  get differences(): number {
    return this.#count(isFault);
  }

  get changedSince(): number {
    return this.#count(kind => kind === "changed_since");
  }

  get changedUnseen(): number {
    return this.#count(kind => kind === "changed_unseen");
  }

  #count(wanted: (kind: Discrepancy["kind"]) => boolean): number {
    const of = (discrepancies: readonly Discrepancy[]): number =>
      discrepancies.filter(({ kind }) => wanted(kind)).length;
    return [...this.#byKey.values()].reduce((sum, discrepancies) => sum + of(discrepancies), of(this.#further));
  }
}

const idOf = (key: readonly string[]): string => JSON.stringify(key);
