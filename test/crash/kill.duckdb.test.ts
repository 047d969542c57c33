import { killSuite, repeatsSuite } from "./kill.suite.ts";
import { makeDuckdb } from "./warehouse.ts";

killSuite("DuckDB", makeDuckdb);
repeatsSuite("DuckDB", makeDuckdb);
