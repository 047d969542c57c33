import fc from "fast-check";
import { expect, test } from "vitest";
import { passing } from "../support/warehouse.ts";
import { modelWarehouses } from "./warehouse.ts";

const NINE = 10n ** 9n;
const BOUND = 10n ** 19n;

/** Decimals in units of the ninth place: small and large, whole and with all nine decimals, and halves of the last place. */
const decimal = fc.oneof(
  fc.bigInt({ min: -(10n ** 13n), max: 10n ** 13n }),
  fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }).map(whole => whole * NINE),
  fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
  fc.constantFrom(0n, 1n, -1n, 5n * 10n ** 8n, -(5n * 10n ** 8n), BOUND, BOUND - 1n),
);

function expected(a: bigint, b: bigint): string | null {
  const size = (value: bigint) => (value < 0n ? -value : value);
  if (size(a) >= BOUND || size(b) >= BOUND) return null;
  const product = (size(a) * size(b) + NINE / 2n) / NINE;
  return `=${written(a < 0n !== b < 0n ? -product : product)}`;
}

function written(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(10, "0");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

test.each(modelWarehouses)(
  "a product is exact, half rounded away from zero at the ninth decimal, null beyond what can be counted: $name",
  async ({ make }) => {
    const warehouse = await passing(make({ rows: {} }));
    const { product } = warehouse.reading.dialect;
    const property = fc.asyncProperty(
      fc.array(fc.tuple(decimal, decimal), { minLength: 50, maxLength: 50 }),
      async pairs => {
        const values = pairs.map(
          ([a, b], at) => `(${at}, cast('${written(a)}' as decimal(38, 9)), cast('${written(b)}' as decimal(38, 9)))`,
        );
        const answered = await warehouse.query(
          `select '=' || cast(${product("p.a", "p.b")} as text) as made from (values ${values.join(", ")}) p(place, a, b) order by p.place`,
        );
        expect(answered.map(({ made }) => made)).toEqual(pairs.map(([a, b]) => expected(a, b)));
      },
    );
    await fc.assert(property, { numRuns: 40 });
  },
);
