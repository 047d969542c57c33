import { killSuite } from "./kill.suite.ts";
import { makeDuckdb } from "./warehouse.ts";

killSuite("DuckDB", makeDuckdb);
