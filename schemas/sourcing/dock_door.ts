import { flag, id, record, text } from "../fields.ts";

/** A door: `GET /dock-doors`. */
export const dockDoor = record("Doors of the docks: one row a door and what it is good for.", {
  id: id().describe("Identifier of the door within the service."),
  door_number: text().describe("Number written on the door."),
  door_type: text().describe("What the door is used for, as the service names it; values not documented."),
  facility_location: text().nullable().describe("Place of the dock that the door belongs to; null where not said."),
  capabilities: text().nullable().describe("What the door can handle, as the service writes it; null where not said."),
  notes: text().nullable().describe("Remarks made on the door; null without any."),
  is_active: flag().describe("Whether the door is in use."),
});
