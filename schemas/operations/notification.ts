import { flag, id, json, list, moment, record, text } from "../fields.ts";

/** A row of `GET /integrations/notification-config`. */
export const notificationConfig = record("Connections that notifications are sent through, one row a connection.", {
  id: id().describe("Identifier of the connection, unique within the company."),
  provider: text().describe("Provider of the connection, as the service names it; values not documented."),
  channel_config: json().nullable().describe("Which channels are used; content not documented, kept as JSON."),
  enabled: flag().describe("Whether notifications are sent there."),
  created_at: moment().nullable().describe("When the connection was set up; null where that is not known."),
  updated_at: moment().nullable().describe("When the connection was last edited; null where that is not known."),
  team_name: text().nullable().describe("Name of the team that the connection gives; null where it gives none."),
});

/** A row of `GET /notifications/preferences`. */
export const notificationPreference = record("How each type of notification is to be delivered, one row a type.", {
  type: text().describe("Type of notification, by the service's short name for it."),
  category: text().describe("Group the type belongs to, by assumption notification_types.name."),
  description: text().describe("What a notification of the type tells, in the service's words."),
  forceDelivery: flag().describe("Whether the type is delivered whatever the preferences say, going by the name."),
  channels: json().describe("Ways in which it is delivered; content not documented, kept as JSON."),
});

/** A row of `GET /notifications/types`. */
export const notificationCategory = record("Groups of notification types that the service knows, one row a group.", {
  name: text().describe("Name of the group, which is unique among them."),
  types: list().describe("Types of notification in the group, a list not documented, kept as JSON."),
});

/** A row of `GET /integrations/chat/channels`. */
export const chatChannel = record("Channels of the connected chat system, one row a channel.", {
  id: id().describe("The chat system's own identifier of the channel."),
  name: text().describe("Name of the channel in the chat system."),
});
