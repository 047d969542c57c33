import { count, date, json, record } from "../fields.ts";

/** `GET /dock-appointments/stats`. */
export const dockAppointmentStats = record("How many appointments the docks have, measured once a day.", {
  date: date().describe("Day that the service counts the appointments of."),
  total: count().describe("How many appointments the day has in all."),
  by_status: json().describe("How many appointments have each status; its names are not documented, kept as JSON."),
});
