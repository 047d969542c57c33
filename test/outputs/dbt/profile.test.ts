import { expect, test } from "vitest";
import { profiles } from "./accepted.ts";
import { type Made, madePackage } from "./made.ts";
import { textOf, yamlOf } from "./rendered.ts";

/** The profile's output, each value as its variable and what it takes without. */
function output(made: Made): Record<string, unknown> {
  const files = madePackage({ streams: [], ...made });
  const { dev } = profiles.parse(yamlOf(files, "profiles.yml"))["tributary"]!.outputs;
  for (const name of textOf(files, "profiles.yml").matchAll(/env_var\('(\w+)'/g))
    expect(textOf(files, "README.md")).toContain(`| \`${name[1]}\` |`);
  return dev!;
}

test("DuckDB: dbt has a file of its own, and attaches the warehouse for reading", () => {
  expect(output({ type: "duckdb", at: "/data/it's here\\w.duckdb" })).toEqual({
    type: "duckdb",
    path: "{{ env_var('DBT_DUCKDB_FILE', 'dbt.duckdb') }}",
    threads: 4,
    attach: [
      {
        path: "{{ env_var('TRIBUTARY_WAREHOUSE', '/data/it\\'s here\\\\w.duckdb') }}",
        alias: "warehouse",
        read_only: true,
      },
    ],
  });
});

test("a path that came from a variable has to come from one again", () => {
  const made = output({ type: "duckdb", at: "/secret/w.duckdb", written: `\${DATA}/w.duckdb` });
  expect(made["attach"]).toEqual([
    { path: "{{ env_var('TRIBUTARY_WAREHOUSE') }}", alias: "warehouse", read_only: true },
  ]);
});

const postgres = (at: string, written = at) => output({ type: "postgres", at, written });
const asked = {
  type: "postgres",
  host: "{{ env_var('PGHOST') }}",
  port: "{{ env_var('PGPORT', '5432') | as_number }}",
  user: "{{ env_var('PGUSER') }}",
  password: "{{ env_var('PGPASSWORD') }}",
  dbname: "{{ env_var('PGDATABASE') }}",
  schema: "{{ env_var('DBT_SCHEMA', 'procurement_dbt') }}",
  sslmode: "{{ env_var('PGSSLMODE', 'prefer') }}",
  threads: 4,
};

test("PostgreSQL: what the address says, but no role and no password", () => {
  const said = {
    ...asked,
    host: "{{ env_var('PGHOST', 'db.example.com') }}",
    port: "{{ env_var('PGPORT', '6432') | as_number }}",
    dbname: "{{ env_var('PGDATABASE', 'ware house') }}",
    sslmode: "{{ env_var('PGSSLMODE', 'verify-full') }}",
  };
  const tail = "@db.example.com:6432/ware%20house?sslmode=verify-full";
  expect(postgres(`postgres://sync${tail}`)).toEqual(said);
  expect(postgres(`postgres://sync:pw-of-sync${tail}`)).toEqual(said);
  expect(postgres(`postgres://sync:pw-of-sync${tail}`, `postgres://sync:\${PW}${tail}`)).toEqual(said);
  // A password that is part of the host's name takes nothing away from it.
  expect(postgres(`postgres://sync:db${tail}`, `postgres://sync:\${PW}${tail}`)).toEqual(said);
  expect(postgres("postgres://u@[::1]/w")["host"]).toBe("{{ env_var('PGHOST', '::1') }}");
  expect(postgres("postgres:///w?host=/run/pg")["host"]).toBe("{{ env_var('PGHOST', '/run/pg') }}");
});

test("an address that came from a variable, or begins with one, is not taken apart", () => {
  const at = "postgres://sync:pw-of-sync@db.example.com/warehouse";
  expect(postgres(at, `\${URL}`)).toEqual(asked);
  expect(postgres(at, `\${SERVER}/warehouse`)).toEqual(asked);
  const host = postgres(at, `postgres://sync:pw-of-sync@\${HOST}/warehouse`);
  expect([host["host"], host["dbname"]]).toEqual([asked.host, "{{ env_var('PGDATABASE', 'warehouse') }}"]);
});
