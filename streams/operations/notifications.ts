import {
  chatChannel,
  notificationCategory,
  notificationConfig,
  notificationPreference,
} from "../../schemas/operations/notification.ts";
import { defineStream, list } from "../../src/catalog/stream.ts";

export const notificationConfigs = defineStream({
  name: "notification_configs",
  path: "/integrations/notification-config",
  mode: list({ rows: "configs" }),
  row: notificationConfig,
  key: ["id"],
  preset: "standard",
});

export const notificationPreferences = defineStream({
  name: "notification_preferences",
  path: "/notifications/preferences",
  mode: list({ rows: "preferences" }),
  row: notificationPreference,
  key: ["type"],
  preset: "standard",
});

export const notificationTypes = defineStream({
  name: "notification_types",
  path: "/notifications/types",
  mode: list({ rows: "categories" }),
  row: notificationCategory,
  key: ["name"],
  preset: "standard",
});

export const chatChannels = defineStream({
  name: "chat_channels",
  path: "/integrations/chat/channels",
  mode: list({ rows: "channels" }),
  row: chatChannel,
  key: ["id"],
  preset: "standard",
});
