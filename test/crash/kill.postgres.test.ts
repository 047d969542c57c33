import { inject } from "vitest";
import { killSuite } from "./kill.suite.ts";
import { makePostgres } from "./warehouse.ts";

killSuite("PostgreSQL", makePostgres(inject("postgresUrl")));
