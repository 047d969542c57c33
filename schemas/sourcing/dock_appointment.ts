import { date, id, moment, personal, quantity, record, text } from "../fields.ts";

/** An appointment: `GET /dock-appointments`. */
export const dockAppointment = record("Appointments of carriers at the docks: one row an appointment.", {
  id: id().describe("Identifier of the appointment."),
  appointment_number: text().nullable().describe("Number of the appointment as people quote it; null without one."),
  appointment_type: text()
    .nullable()
    .describe("What the truck comes for, as the service names it; values not documented."),
  status: text().nullable().describe("Where the appointment stands, as the service names it; values not documented."),
  carrier_id: id().nullable().describe("The service's identifier of the carrier; null where it is not known."),
  carrier_name: text().nullable().describe("Carrier's name as it was given for the appointment; null where none was."),
  carrier_display_name: text()
    .nullable()
    .describe("Carrier's name as the service shows it; null where it is not known."),
  dock_door: text().nullable().describe("Door that the truck goes to; null where none is assigned."),
  facility_location: text().nullable().describe("Place of the dock; null where it is not said."),
  scheduled_date: date().nullable().describe("Day of the appointment; null where none is set."),
  slot_start: text()
    .nullable()
    .describe("Begin of the time slot, written as the service writes it; null without a slot."),
  slot_end: text().nullable().describe("End of the time slot, written as the service writes it; null without a slot."),
  po_numbers: text()
    .nullable()
    .describe("Orders that the truck delivers, in one text as the service writes it; null where none are named."),
  shipment_doc_id: id().nullable().describe("Document of the shipment that the truck brings; null without one."),
  tracking_number: text().nullable().describe("Number to track the shipment by; null where it is not known."),
  trailer_number: text()
    .nullable()
    .describe("Identification of the trailer that the truck pulls; null where it is not known."),
  seal_number: text()
    .nullable()
    .describe("Identification of the seal that locks the trailer; null where it is not known."),
  commodity_description: text().nullable().describe("What the truck carries, in words; null where nothing is said."),
  total_weight: quantity().nullable().describe("Weight of the load; its unit is not documented, null where unknown."),
  total_pallets: quantity().nullable().describe("How many pallets the load has; null where it is not known."),
  special_instructions: text().nullable().describe("What to mind when the truck is handled; null without any."),
  notes: text().nullable().describe("Remarks made on the appointment; null without any."),
  check_in_at: moment().nullable().describe("When the truck checked in; null before that."),
  check_in_by: personal(text()).nullable().describe("Who checked the truck in; null before that."),
  actual_departure: moment().nullable().describe("When the truck left; null before that."),
  created_by: personal(text()).nullable().describe("Who made the appointment; null where that is not known."),
  created_at: moment().nullable().describe("When the appointment was made; null where the service does not say."),
  updated_at: moment().nullable().describe("When the appointment was last changed; null where it does not say."),
});
