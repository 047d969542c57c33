import { deliverySite } from "../../schemas/sourcing/delivery_site.ts";
import { dockAppointment } from "../../schemas/sourcing/dock_appointment.ts";
import { dockAppointmentStats } from "../../schemas/sourcing/dock_appointment_stats.ts";
import { dockDoor } from "../../schemas/sourcing/dock_door.ts";
import { defineStream, list, snapshot } from "../../src/catalog/stream.ts";

export const deliverySites = defineStream({
  name: "delivery_sites",
  path: "/po/delivery-sites/list",
  mode: list({ rows: "sites" }),
  row: deliverySite,
  key: ["site_id"],
  preset: "standard",
});

export const dockAppointments = defineStream({
  name: "dock_appointments",
  path: "/dock-appointments",
  mode: list({ rows: "appointments" }),
  row: dockAppointment,
  key: ["id"],
  preset: "standard",
});

export const dockAppointmentCounts = defineStream({
  name: "dock_appointment_stats",
  path: "/dock-appointments/stats",
  mode: snapshot(),
  row: dockAppointmentStats,
  key: ["observed_on"],
  preset: "standard",
});

export const dockDoors = defineStream({
  name: "dock_doors",
  path: "/dock-doors",
  mode: list({ rows: "doors" }),
  row: dockDoor,
  key: ["id"],
  preset: "standard",
});
