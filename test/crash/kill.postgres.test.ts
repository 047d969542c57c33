import { inject } from "vitest";
import { killSuite, repeatsSuite } from "./kill.suite.ts";
import { makePostgres } from "./warehouse.ts";

killSuite("PostgreSQL", makePostgres(inject("postgresUrl")));
repeatsSuite("PostgreSQL", makePostgres(inject("postgresUrl")));
