import type { MakeDomain } from "../domain.ts";
import { booksOf } from "./books.ts";
import { briefingRoutes } from "./briefing.ts";
import { carrierRoutes } from "./carriers.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { exposureRoutes } from "./exposure.ts";
import { freightRoutes } from "./freight.ts";
import { invoiceFigureRoutes } from "./invoices.ts";
import { savingsRoutes } from "./savings.ts";
import { settingRoutes } from "./settings.ts";
import { spendingRoutes } from "./spending.ts";
import { tariffRoutes } from "./tariffs.ts";
import { trackerDomain } from "./tracker.ts";

/** What is computed from the rest of the company: analytics, the figures beside the lists, and savings. */
export const analyticsDomain: MakeDomain = world => {
  const books = booksOf(world);
  const tracker = trackerDomain(world);
  return {
    sources: tracker.sources,
    routes: [
      ...spendingRoutes(books),
      ...freightRoutes(books),
      ...carrierRoutes(books),
      ...deliveryRoutes(books),
      ...savingsRoutes(books),
      ...tariffRoutes(books),
      ...exposureRoutes(books),
      ...briefingRoutes(books),
      ...invoiceFigureRoutes(books),
      ...settingRoutes(books),
      ...tracker.routes,
    ],
  };
};
