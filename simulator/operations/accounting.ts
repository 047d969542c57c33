import type { Company } from "../company/company.ts";
import { itemRow } from "../company/items.ts";
import type { MakeDomain } from "../domain.ts";
import { hash } from "../random.ts";
import type { Family, Row } from "../source.ts";
import { DRAWN, lockGroupOf, sizeOf, timeOf, wholeList } from "./family.ts";

interface Account {
  readonly code: string;
  readonly name: string;
  readonly type: string;
}

const ACCOUNTS: readonly [Account, ...Account[]] = [
  { code: "0400", name: "Maschinen & Anlagen", type: "asset" },
  { code: "1140", name: "Raw materials", type: "asset" },
  { code: "1571", name: "Vorsteuer 19 %", type: "asset" },
  { code: "1600", name: "Accounts payable", type: "liability" },
  { code: "3000", name: "Rohstoffe, Hilfsstoffe", type: "expense" },
  { code: "3400", name: "Goods for resale", type: "expense" },
  { code: "3800", name: "Freight, customs, insurance", type: "expense" },
  { code: "4670.1", name: "Travel", type: "expense" },
  { code: "4930", name: "Bürobedarf", type: "expense" },
  { code: "4985", name: "Tools < 250 €", type: "expense" },
];
const FIELDS = ["project_code", "cost_center", "incoterms", "zeichnungsnummer", "batch_no", "buyer_ref"];
/** Items that are looked at for the categories in use. */
const LOOKED_AT = 60;

function accountFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/chart-of-accounts",
    keyField: "account_code",
    names: ACCOUNTS.map(({ code }) => code),
    prefix: "9-",
    drawn: DRAWN.account,
    row: ({ number, revision }, v) => {
      const made = ACCOUNTS[number - 1] ?? { code: `9-${number}`, name: `Account ${number}`, type: "expense" };
      return {
        account_code: made.code,
        account_name: revision > 0 ? `${made.name} (${revision})` : made.name,
        account_type: made.type,
        is_active: v.chance(0.9),
      };
    },
  });
}

type Category = readonly [category: string, subcategory: string | null];

/** The categories that the first items bear, each once. */
function categoriesOf(company: Company): Category[] {
  const found = new Map<string, Category>();
  for (let number = 1; number <= Math.min(LOOKED_AT, company.sizes.items); number += 1) {
    const row = itemRow(company, { number, revision: 0, insertedAt: undefined, rank: 0 });
    const { category, subcategory } = row;
    if (typeof category !== "string") continue;
    const pair: Category = [category, typeof subcategory === "string" ? subcategory : null];
    found.set(pair.join("/"), pair);
  }
  return [...found.values()];
}

function mappingFamily(company: Company, categories: readonly Category[]): Family {
  return lockGroupOf(company, {
    path: "/gl-category-mappings",
    keyField: "id",
    prefix: "GLM-",
    drawn: DRAWN.glMapping,
    row: (entry, v) => {
      const { number, revision } = entry;
      const [category, subcategory] = categories[number - 1] ?? [`Category ${number}`, null];
      const value = hash(company.seed, DRAWN.glMapping, number, 1);
      const account = ACCOUNTS[(value + revision) % ACCOUNTS.length] ?? ACCOUNTS[0];
      return {
        id: `GLM-${number}`,
        category,
        subcategory,
        gl_account_code: account.code,
        created_at: v.maybe(v.moment(timeOf(company, entry, categories.length, 400))),
        account_name: v.maybe(account.name),
      };
    },
  });
}

/** Fields found on documents and on their lines; some bear the same name in both places. */
function customFields(company: Company): Row {
  const most = sizeOf(company.sizes.ingested, 40, 2, FIELDS.length);
  const rows = (from: number, scope: number): Row[] =>
    FIELDS.slice(from, most).map((field_key, i) => ({
      field_key,
      document_count: 1 + (hash(company.seed, DRAWN.customField, i, scope) % company.sizes.ingested),
      line_item_count: scope === 0 ? 0 : 1 + (hash(company.seed, DRAWN.customField, i, 2) % 900),
    }));
  return { header_fields: rows(0, 0), line_fields: rows(1, 1) };
}

/** /chart-of-accounts, /gl-category-mappings and /custom-fields/discovered. */
export const accounting: MakeDomain = ({ company, source }) => {
  const categories = categoriesOf(company);
  const accounts = source(accountFamily(company), company.sizes.orders === 0 ? 0 : ACCOUNTS.length);
  const mappings = source(mappingFamily(company, categories), categories.length);
  return {
    sources: { chart_of_accounts: accounts, gl_category_mappings: mappings },
    routes: [
      wholeList(accounts, "accounts"),
      wholeList(mappings, "mappings"),
      { template: "/custom-fields/discovered", answer: () => ({ data: customFields(company) }) },
    ],
  };
};
