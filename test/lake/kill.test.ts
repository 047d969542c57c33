import { inject } from "vitest";
import { killSuite } from "../crash/kill.suite.ts";
import { makeDucklake } from "../crash/warehouse.ts";

killSuite("DuckLake", makeDucklake(inject("postgresUrl"), inject("extensions")), { first: 1, night: 1 });
