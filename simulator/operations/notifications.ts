import type { Company } from "../company/company.ts";
import type { MakeDomain } from "../domain.ts";
import { hash } from "../random.ts";
import type { Family } from "../source.ts";
import { DRAWN, lockGroupOf, timeOf, wholeList } from "./family.ts";

const CATEGORIES = ["orders", "invoices", "findings", "system"];
const TYPES = ["po_late", "po_unconfirmed", "invoice_hold", "invoice_due", "finding_opened", "digest", "sync_failed"];
const CHANNELS = ["purchasing", "einkauf-süd", "ap-team", "受入検査", "alerts 🔔"];

const categoryOf = (place: number): string => CATEGORIES[Math.floor(place / 2) % CATEGORIES.length] ?? "system";

function configFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/integrations/notification-config",
    keyField: "id",
    prefix: "NCF-",
    drawn: DRAWN.notification,
    row: (entry, v) => {
      const { number, revision } = entry;
      const at = timeOf(company, entry, 2, 400);
      return {
        id: `NCF-${number}`,
        provider: number % 2 === 1 ? "slack" : "teams",
        // What a chat system trusts its holder with belongs in no table.
        channel_config: v.maybe({
          channel: CHANNELS[number % CHANNELS.length],
          bot_token: `xoxb-${hash(company.seed, DRAWN.notification, number, 9)}`,
        }),
        enabled: (hash(company.seed, DRAWN.notification, number, 1) + revision) % 2 === 0,
        created_at: v.maybe(v.moment(at)),
        updated_at: v.maybe(v.moment(at + 60_000)),
        team_name: v.maybe(company.name),
      };
    },
  });
}

function preferenceFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/notifications/preferences",
    keyField: "type",
    names: TYPES,
    prefix: "type_",
    drawn: DRAWN.preference,
    row: ({ number, revision }, v) => {
      const type = TYPES[number - 1] ?? `type_${number}`;
      return {
        type,
        category: categoryOf(number - 1),
        description: `Tells about ${type.replaceAll("_", " ")}`,
        forceDelivery: number % 4 === 0,
        channels: { email: v.chance(0.8), chat: v.chance(0.4), changes: revision },
      };
    },
  });
}

function categoryFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/notifications/types",
    keyField: "name",
    names: CATEGORIES,
    prefix: "category_",
    drawn: DRAWN.preference,
    row: ({ number, revision }) => {
      const name = CATEGORIES[number - 1] ?? `category_${number}`;
      const types = TYPES.filter((_, place) => categoryOf(place) === name).map(type => ({ type }));
      return { name, types: revision > 0 ? [...types, { type: `new_${revision}` }] : types };
    },
  });
}

function channelFamily(company: Company): Family {
  return lockGroupOf(company, {
    path: "/integrations/chat/channels",
    keyField: "id",
    prefix: "C0",
    drawn: DRAWN.notification,
    row: ({ number, revision }) => {
      const name = CHANNELS[number - 1] ?? `channel-${number}`;
      return { id: `C0${number}`, name: revision > 0 ? `${name}-${revision}` : name };
    },
  });
}

/** /notifications/…, /integrations/notification-config and /integrations/chat/channels. */
export const notifications: MakeDomain = ({ company, source }) => {
  const configs = source(configFamily(company), 2);
  const preferences = source(preferenceFamily(company), TYPES.length);
  const categories = source(categoryFamily(company), CATEGORIES.length);
  const channels = source(channelFamily(company), CHANNELS.length);
  return {
    sources: {
      notification_configs: configs,
      notification_preferences: preferences,
      notification_types: categories,
      chat_channels: channels,
    },
    routes: [
      wholeList(configs, "configs"),
      wholeList(preferences, "preferences"),
      wholeList(categories, "categories"),
      wholeList(channels, "channels"),
    ],
  };
};
