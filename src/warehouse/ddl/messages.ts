import { catalog, template } from "../../message.ts";
import { quotedName } from "../database.ts";

const ownership = (schema: string, user: string): string =>
  `CREATE SCHEMA IF NOT EXISTS ${quotedName(schema)} AUTHORIZATION ${quotedName(user)}; ALTER SCHEMA ${quotedName(schema)} OWNER TO ${quotedName(user)};`;

export const rightsMessages = catalog("rights", {
  missing: template(
    {
      user: "loader",
      database: "warehouse",
      schemas: ["dw", "_tributary"] as readonly string[],
      reason: undefined as string | undefined,
    },
    ({ user, database, schemas, reason }) => {
      const statements = schemas.map(schema => ownership(schema, user)).join(" ");
      const said =
        reason === undefined ? "" : ` (PostgreSQL says: ${reason}. \`tributary check\` names tables of another owner.)`;
      return `The role ${user} lacks rights in database ${database}: it has to own the schemas ${schemas.join(" and ")}, and the tables that tributary keeps in them. As an administrator run: ${statements} or: GRANT CREATE ON DATABASE ${quotedName(database)} TO ${quotedName(user)}; (\`tributary ddl --for-dba\` prints all of it.)${said}`;
    },
  ),
  other_owner: template(
    {
      ...{ user: "loader", database: "warehouse", owners: ["dba"] as readonly string[] },
      tables: ["dw.items", "_tributary.runs"] as readonly string[],
      statement: "DO $$ … $$;",
    },
    ({ user, database, owners, tables, statement }) => {
      const [role, first] = [quotedName(user), quotedName(owners[0]!)];
      return `Expected the role ${user} to own the tables that tributary keeps, but ${owners.join(" and ")} owns ${tables.length} of them (${tables.slice(0, 3).join(", ")}). As an administrator run in database ${database}: ${statement} Where ${owners[0]} owns nothing else in it: REASSIGN OWNED BY ${first} TO ${role}; For roles that take turns: GRANT ${first} TO ${role}; ALTER ROLE ${role} SET role = ${first};`;
    },
  ),
  no_temporary_tables: template(
    { user: "loader", database: "warehouse" },
    ({ user, database }) =>
      `The role ${user} may not make temporary tables in database ${database}, which every publish needs. As an administrator run: GRANT TEMPORARY ON DATABASE ${quotedName(database)} TO ${quotedName(user)};`,
  ),
  unknown_role: template(
    { role: "analysts" },
    ({ role }) =>
      `destination.grant_select_to names the role ${role}, which this PostgreSQL does not have. Create it (CREATE ROLE ${quotedName(role)};) or take it out of the configuration.`,
  ),
  closed_schema:
    '{role=analysts} of destination.grant_select_to may not use the schema {schema=dw}, which belongs to {owner=dba}. As {owner=dba} run: {statement=grant usage on schema "dw" to "analysts"};',
});
