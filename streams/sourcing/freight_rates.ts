import { accessorialAuthorization } from "../../schemas/sourcing/accessorial_authorization.ts";
import { dieselPrice } from "../../schemas/sourcing/diesel_price.ts";
import { defineStream, list } from "../../src/catalog/stream.ts";

export const dieselPrices = defineStream({
  name: "diesel_prices",
  path: "/doe-diesel-prices",
  mode: list({ rows: "rows", absence: "kept" }),
  row: dieselPrice,
  key: ["id"],
  preset: "standard",
});

export const accessorialAuthorizations = defineStream({
  name: "accessorial_authorizations",
  path: "/accessorial-authorizations",
  mode: list({ rows: "authorizations" }),
  row: accessorialAuthorization,
  key: ["id"],
  preset: "standard",
});
