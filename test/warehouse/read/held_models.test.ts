import { expect, test } from "vitest";
import { readMeanings } from "../../../src/catalog/meaning.ts";
import { holdModels } from "../../../src/warehouse/read/held_models.ts";
import { ask } from "../../../src/warehouse/read/question.ts";
import { streams } from "../../../streams/index.ts";
import { modelWarehouses, usualMeanings } from "../../models/warehouse.ts";
import { models } from "../../support/models.ts";

test.each(modelWarehouses)("a held model answers from its own table until it is dropped: $name", async ({ make }) => {
  const warehouse = await make({ rows: { invoices: [{ doc_id: "I-1", total_amount: "5" }] } });
  try {
    const { db, dialect, schema, stateSchema } = warehouse.reading;
    const place = { schema, stateSchema };
    const meanings = readMeanings(models.meanings, streams, usualMeanings);
    const order = { ...models, meanings, currency: undefined, schema: "procurement_analytics" };
    const wanted = ["spend_by_vendor_month"];
    const count = 'select sum(invoice_count) as n from "procurement_analytics".spend_by_vendor_month';
    await db.transaction().execute(async trx => {
      const asked = async (text: string) => Number((await ask(trx, text))[0]!["n"]);
      const hold = (from = order) => holdModels(trx, dialect, place, from, { wanted, questions: [count] });
      const held = await hold();
      expect(held.over(count)).toBe("select sum(invoice_count) as n from held_spend_by_vendor_month");
      await ask(
        trx,
        `insert into procurement.invoices (_company, doc_id, total_amount, _changed_at)
          select _company, 'I-2', total_amount, _changed_at from procurement.invoices`,
      );
      expect([await asked(held.over(count)), await asked(count)]).toEqual([1, 2]);
      // What no question names is not worked out.
      expect(await ask(trx, held.over('select * from "procurement_analytics".spend_by_vendor_month'))).toEqual([
        { invoice_count: expect.anything() },
      ]);
      await held.drop();
      // Only where nothing is left of it can it be made again.
      const again = await hold();
      expect([again.over(count) === count, await asked(again.over(count))]).toEqual([false, 2]);
      await again.drop();

      // A view that is another than this version's is read as it stands.
      const other = { ...order, meanings: readMeanings(models.meanings, streams, { ...usualMeanings, credit: {} }) };
      expect((await hold(other)).over(count)).toBe(count);
    });
  } finally {
    await warehouse.drop();
  }
});
