/*
 * What the documents say about fields, as far as the other vocabulary has to know: which may be null, which objects have
 * fields that nobody documents, and which fields a list can be filtered by. A test holds it against the documented shapes.
 */

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Fields that are never null, wherever they stand. */
export const NEVER_NULL = names(`
accessorial_count account_code account_type acknowledged action_items action_required actionable_review actions
active_rules actor affected_count affected_fields agent_principal_id agg_function agreed alert_id alerts aliases all
all_coded already_exists alt_vendor_count amendment_type amount_basis amount_declared amount_label anchor_basis
approval_rules_count approved approved_due approved_this_month_amount archived at_risk attachments avg_age_days
awaiting_po awaiting_receipt awaiting_response basis blocked bucket_type by_status cancel_at_period_end cancelled
capturable change_order_id changed_fields changes_requested channels charge_code charge_type citation coded_lines
column committed_30d communication_types company_name contributor_count cooldown_hours credential_type critical
currency_complete current_usage delivered denied_claims desc_match_threshold detected_at diff_available
discount_available discount_capturable discount_capturable_count discrepancy dismissed dismissed_last_24h
doc_count_seen docs_with_audit docs_without_audit dollars_caught door_number door_type drafts dual_source_count
due_soon duty_is_precise duty_snapshot_status early_tolerance_days emails_processed emails_sent_30d enabled
entity_links entries entry_count equipment_types erp_type eventTypes event_at event_subtype event_time events_linked
excluded_non_usd_count executed_last_24h execution_count execution_id executions_30d expired expiring expiring_soon
exposure_basis fact fact_count failed_30d failed_last_24h field_key field_path field_type filed finding_title
forceDelivery found from_entity_id from_entity_type gl_coding_enabled grain hasPollQuery has_anomaly has_documents
has_lineage has_more hazmat high high_variance_count history hold import_run_id inbound inconsistent insight_id
insurance_type is_active is_demo is_edited is_filterable is_grandfathered is_open is_overage is_renewal is_summable
issue_id items key kind label_text lane_count last_event_at late_tolerance_days leg lifetime_usage line_items lines
llm_parsed low_confidence matched material max_daily_emails max_overdue_days miss_count miss_rate
missed_discount_12mo missed_discount_count_12mo mixed_currency money_available moved_in_last_7d multi_source_count
negotiation_id new new_value next_30d next_7d next_90d no_data_as_of no_po obligation_id observation_count
observations_executed_last_24h occurred_at on_track open_claims open_issues open_po_count open_total order_count
outbound over_1d over_7d_total over_nte over_shipped overage_count overage_price_cents overdue parking_reason
penalize_early_delivery pending pending_approval pending_approval_due pending_approval_total percentage_used period
period_days pilot_active pilot_days_remaining po_generated po_qty_label pr_number price price_tolerance_pct primary
procedural provider publishable_key push_bills qty_tolerance_pct queued_for_approval rate_card_id record_id
recovered_claims region rejected relationship_type renewed replies_received_30d require_approval requiresApproval
requisition_id resolved resolved_claims response_count row_id row_number row_type rows rule_type schema scope_kind
side signal_kind signal_kind_label signal_label signal_ref sink site_id snapshot_status snoozed sole_source_count
sort_order source_field stale stalled status_changed_at status_changed_by subject_key successful_30d
suggested_canonical_key superseded surfaceable_total sync_accounts sync_pos sync_vendors system_type table tables
tax_tolerance_pct term_scope thread_count thread_kind to_entity_id to_entity_type to_recipients total_claims
total_due total_items total_outstanding total_rules triggering_facts truncated trust_level uncoded_invoice_count
undated_events undated_excluded unlinked unnumbered_excluded unresolved_currency_events unsettled unvalued_doc_count
urgent url usage_complete use_business_days value_recovered_30d vendor_questions vendors walkable warning_pct
week_ending window window_label within_limit you`);

/** Fields that are never null in a place, by the field or the path that holds their object. */
export const NEVER_NULL_IN: Readonly<Record<string, ReadonlySet<string>>> = {
  "/agent-actions/{action_id}/reasoning": names("action_id created_at status tool_id"),
  "/alerts/date-drift/count": names("new_count"),
  "/analytics/savings": names("months"),
  "/analytics/value-surfaced": names("currency_code"),
  "/as-of/vendor/{vendor_id}/orders": names("as_of vendor_id"),
  "/as-of/{entity_type}/{entity_id}": names("as_of entity_id entity_type"),
  "/auth/company-settings": names("company_id"),
  "/automations/executions": names("total"),
  "/automations/history": names("id source status"),
  "/automations/history/agent/{id}": names("id source status"),
  "/automations/history/stats": names("total"),
  "/billing/usage": names("company_id plan"),
  "/budgets/{id}": names("id invoice_count"),
  "/communications/stats": names("open total"),
  "/communications/{id}": names("amounts id"),
  "/communications/{id}/facts": names("email_ingest_id"),
  "/completeness/vendors/{vendorId}": names("doc_count vendor_id vendor_name"),
  "/dock-appointments": names("total"),
  "/dock-appointments/stats": names("date total"),
  "/entities/{type}/{id}/timeline": names("total_count"),
  "/erp/import/runs/{id}/rows": names("status"),
  "/exposure": names("base_currency currency_code"),
  "/findings": names("waiting_on"),
  "/findings/stats": names("total"),
  "/freight-claims/{id}": names("id"),
  "/insights/runs/{run_id}": names("run_id status"),
  "/invoices/{doc_id}/intelligence": names("doc_id generated_at"),
  "/invoices/{invoice_number}/amendments": names("invoice_number total"),
  "/items/stats": names("active_contract_count"),
  "/items/{item_id}/linked-documents": names("item_id total"),
  "/items/{item_id}/price-history": names("item_id"),
  "/items/{item_id}/vendors": names("item_id"),
  "/lineage/fact/{id}": names("fact_id"),
  "/lineage/finding/{id}": names("finding_id finding_type"),
  "/lineage/promise/{po_number}": names("po_number"),
  "/lineage/vendor-credential/{vendor_id}/{label}": names("category label source vendor_id"),
  "/measures/{id}": names("id title"),
  "/negotiations/stats": names("active total"),
  "/negotiations/{id}": names("current_offer id status subject target_terms vendor_id"),
  "/negotiations/{id}/brief-v2": names("generated_at vendor_id vendor_name"),
  "/orders/{po_number}/landed-cost": names("po_number"),
  "/po/stats": names("total"),
  "/po/{po_number}": names("po_number"),
  "/po/{po_number}/as-of": names("as_of po_number"),
  "/po/{po_number}/blanket-releases": names("summary"),
  "/procurement-intel/{finding_id}": names("entity_refs finding_id supporting_data"),
  "/rate-cards/stats": names("active total"),
  "/rate-cards/{id}": names("carrier_name mode status"),
  "/reconciliation/{doc_id}/history": names("current_status doc_id"),
  "/requisitions/stats": names("this_month"),
  "/requisitions/{id}": names("id status title"),
  "/rfqs/{id}": names("id line_count vendor_count"),
  accessorial_rates: names("rate_type"),
  accounts: names("account_name"),
  accusation_audit: names("findings"),
  acknowledged_findings: names("title"),
  action_buckets: names("count label link"),
  action_logs: names("id"),
  actions: names("action id name reason tool_id"),
  alerts: names("po_number"),
  aliases: names("type value"),
  amendments: names("created_at field_name id invoice_number source updated_at"),
  anomalies: names("anomaly_type current_value expected_value finding_id id severity status total"),
  appointments: names("id"),
  attachments: names("doc_id"),
  authorizations: names("id pro_number source"),
  buckets: names("invoice_count"),
  budgets: names("id invoice_count"),
  by_carrier: names("carrier_name"),
  by_country: names("country"),
  by_kind: names("count currency_code label"),
  by_mode: names("agent_mode"),
  by_status: names("count status"),
  by_type: names("anomaly_type"),
  by_vendor: names("vendor_name"),
  canonical: names("id type"),
  carriers: names("carrier_name"),
  categories: names("category events label name"),
  category_counts: names("category context count label"),
  changes: names("field"),
  channels: names("id name"),
  communication_hints: names("price_update quantity_update"),
  communications: names("amounts id provenance sender"),
  configs: names("id"),
  connections: names("id status system_name"),
  contracts: names("contract_id"),
  contributors: names("doc_id"),
  counter_proposals: names("justification"),
  counts: names("active total"),
  data: names("id line_count vendor_count"),
  discount_opportunities: names("invoice_count"),
  documents: names("doc_id"),
  doors: names("id"),
  email: names("total"),
  emails: names("direction id"),
  entries: names("id status"),
  events: names("created_at event_data event_id event_type id payload source"),
  evidence_links: names("id"),
  evidence_walk: names("label"),
  execution: names("id rule_id status"),
  executions: names("id rule_id status"),
  facts: names("fact_id value"),
  findings: names("description item_id title"),
  header_fields: names("document_count line_item_count"),
  highlights: names("title"),
  history: names("action_type created_at created_by id status value"),
  import_runs: names("id status"),
  invoices: names("doc_id five_way_match payability"),
  issues: names("id severity source status type"),
  items: names("id item_id po_number source type"),
  lane: names("dest_zip mode origin_zip"),
  lanes: names("id"),
  last_runs: names("run_id"),
  legs: names("source stated"),
  line_fields: names("document_count line_item_count"),
  lines: names("description id line_no unit volume_tiers"),
  linked_documents: names("doc_id"),
  logs: names("id status"),
  mappings: names("category entity_type gl_account_code id status"),
  merged_from: names("id"),
  missed_labels: names("category"),
  monthly: names("month"),
  monthly_actuals: names("invoice_count"),
  monthly_buckets: names("invoice_count"),
  narrative_comms: names("id provenance"),
  nodes: names("id relation type"),
  observations: names("created_at fact_id"),
  over_time: names("month"),
  pending_approvals: names("doc_id"),
  po_invoice_rollup: names("invoice_count po_number"),
  preferences: names("category description type"),
  provenance: names("fact_id"),
  purchase_orders: names("po_number"),
  rate_cards: names("carrier_name mode status"),
  recommendations: names("carrier_name"),
  reconciliation: names("past_due total"),
  related_entities: names("id"),
  requisitions: names("id status title"),
  rfqs: names("id line_count vendor_count"),
  root: names("id relation type"),
  rows: names("description id line_id line_no line_total"),
  rules: names("conditions id name priority rule_name"),
  runs: names("run_id"),
  savings_over_time: names("month"),
  signals: names("currency_code"),
  situation_totals: names("po_number"),
  source_docs: names("doc_id"),
  spend_by_category: names("category"),
  spend_by_vendor: names("vendor_name"),
  spend_over_time: names("month"),
  stages: names("invoice_count stage"),
  stats: names("active total unconfirmed"),
  subjects: names("id status"),
  suggestions: names("doc_id"),
  summary: names("total_lines"),
  talking_points: names("topic"),
  templates: names("id name"),
  thread: names("id provenance sender"),
  threads: names("events status thread_id"),
  timeline: names("date ts type"),
  top_vendors: names("vendor_name"),
  trend: names("month week_start"),
  triggering_facts: names("fact_id"),
  triggers: names("name"),
  unmapped_columns: names("id"),
  unread_attachments: names("note"),
  unsettled: names("total"),
  vendors: names("vendor_id vendor_name"),
  waiting_on_counts: names("vendor"),
  window: names("label"),
  workbook: names("doc_id origin"),
};

/** Objects and lists whose content the documents do not show. */
export const UNDOCUMENTED = names(`
action_data active amount amounts amounts_mentioned asserted_by attachment_check attachments_mentioned
availableFields award_summary benchmark briefing by_material by_sink by_tool category_metric_backing cc_recipients
cells chain_order_ref changed_by channel_config chunk_citations claim claims column_mapping comm_updates comparison
condition condition_groups conditions configurable_fields confirmation context contract_drift contract_nte
counterparty_position credits current_offer current_value dates decision_required default_actions default_conditions
delivery delivery_health delivery_site detail detail_coverage details display_fields domestic draft email_context
email_preferences enabled_modules entity entity_refs erp_connections event_data evidence evidence_summary exceptions
expected_value extracted_fields extraction_config extras facets failed_checks first_pass_match_window five_way_match
flags graded_basis grid header import intelligence invoice key_contacts key_info last_bought latest
line_item_updates link_resolution match match_reasons material_by_country material_coverage metric_backing
negotiated_savings next_tier open_amount open_ref order_confirmations order_coverage order_links org_usage origin
otif_window payability payload payment people performance price_update promise_move promise_vs_request quality_issue
quantity_update receipts recoverable_amount recovery reference references related_documents related_events
relationships releases result return_rma risk_profiles rule sample_values schedule sensor_sources settings shipments
shipping source source_signals source_urls specifics stated status_summary step_config supporting_data synthesis
talking_points_raw target target_terms terms_unacknowledged total_spend_window transform_config transit_prediction
trigger_data types value vendor view volume_tiers`);

/** Fields that a list can be filtered by, by its path: a filter and what it lets through must agree. */
export const FILTERED: Readonly<Record<string, ReadonlySet<string>>> = {
  "/anomalies": names("status severity anomaly_type doc_type doc_id vendor_id"),
  "/communications": names("status direction email_direction"),
  "/contracts": names("status vendor_id contract_type"),
  "/documents": names("doc_type vendor_name status document_date"),
  "/findings": names("status category po_number vendor_id doc_id"),
  "/freight-claims": names("vendor_id status claim_type"),
  "/ingested": names("source type email_direction"),
  "/issues": names("status severity type vendor_name vendor_id"),
  "/items": names("category sourcing_strategy"),
  "/procurement-intel/runs": names("agent_mode"),
  "/budgets": names("scope_kind"),
};
