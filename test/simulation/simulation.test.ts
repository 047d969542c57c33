import { found } from "./scenario/found.ts";
import { simulationSuite } from "./simulation.suite.ts";

/*
 * Seeds whose scenarios have deaths in them, and together every stream, command, a reset, added columns, a clean
 * warehouse, a second company, and a later program with runs of the one before it.
 */
simulationSuite("duckdb", [255, 82, 547, 107], found);
simulationSuite("postgres", [137, 94], found);
