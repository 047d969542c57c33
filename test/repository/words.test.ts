import { expect, test } from "vitest";
import { sourcesIn } from "./sources.ts";

const sources = sourcesIn("src");

/** Names that are gone, by what is said instead; a commit that brings one back brings back what it hid. */
const retired: Readonly<Record<string, string>> = {
  Standing: "TableCounts, WarehouseSample, AlertState, RunDefaults",
  Kin: "ChildStream",
  Tally: "StreamProgress",
  Commons: "SharedClients",
  Relay: "WindowStage",
  Looker: "PageSnapshots",
  Outlook: "ViewChanges",
  Glance: "CachedStatus",
  HeldError: "LockedError",
  heldBack: "suppressed, blockedDeletes",
  unshown: "releaseState",
  Discord: "StateMismatch",
  isStorm: "isMassChange",
  familyOf: "lockGroupOf",
  layoutStamp: "schemaFingerprint",
  ledgerRef: "rowStateRef",
  Publication: "LoadTarget",
  PublishPlan: "Load",
  PublishOrder: "LoadDecision",
  AbsenceDecision: "DeleteDecision",
  settlePrivacy: "reconcilePrivacy",
  Village: "World",
  Yard: "Workspace",
  Crew: "EngineProcess",
  nextMark: "nextHighWaterMark",
};

test.each(Object.keys(retired))("%s is not said any more", name => {
  const word = new RegExp(`(?<![A-Za-z0-9_$"'>])${name}(?![A-Za-z0-9_$:])`);
  expect(sources.filter(({ text }) => word.test(text)).map(({ path }) => path)).toEqual([]);
});
