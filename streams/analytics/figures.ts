import { briefing as briefingRow } from "../../schemas/analytics/briefing.ts";
import { invoiceCashFlow as invoiceCashFlowRow } from "../../schemas/analytics/invoice_cash_flow.ts";
import * as ofInvoices from "../../schemas/analytics/invoice_figures.ts";
import * as ofOrders from "../../schemas/analytics/order_figures.ts";
import { defineStream, list, snapshot } from "../../src/catalog/stream.ts";

export const briefing = defineStream({
  name: "briefing",
  path: "/briefing",
  mode: snapshot(),
  row: briefingRow,
  key: ["observed_on"],
  preset: "standard",
});

export const purchaseOrderStats = defineStream({
  name: "purchase_order_stats",
  path: "/po/stats",
  mode: snapshot(),
  row: ofOrders.purchaseOrderStats,
  key: ["observed_on"],
  preset: "standard",
});

export const itemFacets = defineStream({
  name: "item_facets",
  path: "/items/facets",
  mode: snapshot(),
  row: ofOrders.itemFacets,
  key: ["observed_on"],
  preset: "standard",
});

export const itemStats = defineStream({
  name: "item_stats",
  path: "/items/stats",
  mode: snapshot(),
  row: ofOrders.itemStats,
  key: ["observed_on"],
  preset: "standard",
});

export const invoiceCashFlow = defineStream({
  name: "invoice_cash_flow",
  path: "/reconciliation/cash-flow",
  mode: snapshot(),
  row: invoiceCashFlowRow,
  key: ["observed_on"],
  preset: "standard",
});

export const invoiceFacets = defineStream({
  name: "invoice_facets",
  path: "/reconciliation/facets",
  mode: snapshot(),
  row: ofInvoices.invoiceFacets,
  key: ["observed_on"],
  preset: "standard",
});

export const invoicePaymentFunnel = defineStream({
  name: "invoice_payment_funnel",
  path: "/reconciliation/payment-funnel",
  mode: snapshot(),
  row: ofInvoices.invoicePaymentFunnel,
  key: ["observed_on"],
  preset: "standard",
});

export const invoiceStats = defineStream({
  name: "invoice_stats",
  path: "/reconciliation/stats",
  mode: snapshot(),
  row: ofInvoices.invoiceStats,
  key: ["observed_on"],
  preset: "standard",
});

export const invoiceVendors = defineStream({
  name: "invoice_vendors",
  path: "/reconciliation/vendors",
  mode: list({ rows: "vendors", scalar: "vendor_name" }),
  row: ofInvoices.invoiceVendor,
  key: ["_index"],
  preset: "standard",
});
