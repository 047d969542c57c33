import { deathInWords } from "../engine/deaths.ts";
import type { Change } from "../world/world.ts";
import type { Loss, Settings, Step, Story } from "./story.ts";

/** A story in plain sentences, one a line. */
export function inSentences(story: Story): string[] {
  const { facts, streams } = story;
  const sizes = Object.entries(facts.sizes).filter(([name]) => streams.includes(name));
  return [
    `Seed ${story.seed} in ${story.database}${story.database === "duckdb" ? ` (readers: ${story.readers})` : ""}: ${streams.join(", ")}.`,
    `The service has ${sizes.map(([name, size]) => `${size} ${name}`).join(", ") || "no lists"}, pages of ${facts.pageRows} by ${facts.paging}${facts.totals ? "" : ", without totals"}.${story.archived ? " Answers are archived." : ""}`,
    ...story.steps.map((step, i) => `${i + 1}. ${sentence(step)}`),
  ];
}

const changeInWords = ({ what, list, count }: Change): string => {
  switch (what) {
    case "drift":
      return "the day's figures change";
    case "addition":
      return `fields appear that nobody documented, in ${count * 10} % of the rows`;
    case "restore":
      return `up to ${count} deleted ${list} come back`;
    case "move":
      return `${count} ${list} move to the head of their list`;
    default:
      return `${what} ${count} ${list}`;
  }
};

export const lossInWords = (how: Loss): string =>
  how === "archive" ? "a stream's run is lost from the archive" : `the work file is ${how}`;

function sentence(step: Step): string {
  switch (step.do) {
    case "change":
      return `At the service: ${changeInWords(step.change)}.`;
    case "clock":
      return `The clock goes on ${step.ms / 3_600_000} h.`;
    case "configure":
      return `The configuration now says ${settingsInWords(step.settings)}.`;
    case "upgrade":
      return "The program is replaced by a later one, which knows the fields that the service adds.";
    case "lose":
      return `${lossInWords(step.how)}.`;
    case "neighbour": {
      const { change, full, reset, death } = step;
      const parts = [
        ...(change === undefined ? [] : [`at its service ${changeInWords(change)}`]),
        ...(reset === undefined ? [] : [`reset ${reset.names.join(" ")}${reset.drop ? " --drop" : ""}`]),
        full ? "sync --full" : "sync",
        ...(death === undefined ? [] : [deathInWords(death)]),
      ];
      return `The neighbour: ${parts.join("; ")}.`;
    }
    case "reset":
      return `reset ${step.names.join(" ")}${step.drop ? " --drop" : ""}${step.death === undefined ? "" : `; ${deathInWords(step.death)}`}.`;
    case "run": {
      const words = [
        step.command,
        ...step.names,
        ...(step.rejects ? ["--rejects"] : []),
        ...(step.full ? ["--full"] : []),
        ...(step.allDetails ? ["--details"] : []),
        ...(step.confirmDeletes ? ["--confirm-deletes"] : []),
        ...(step.from === undefined ? [] : [`--from ${step.from}`]),
        ...(step.to === undefined ? [] : [`--to ${step.to}`]),
        ...(step.restart ? ["--restart"] : []),
        ...(step.maxTimeMs === undefined ? [] : [`--max-time ${step.maxTimeMs}ms`]),
        ...(step.maxRequests === undefined ? [] : [`--max-requests ${step.maxRequests}`]),
      ];
      const troubles = Object.entries(step.troubles).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
      const clauses = [
        ...(step.older === "run" ? ["by the program before the upgrade"] : []),
        ...step.during.map(({ at, change }) => `at request ${at} ${changeInWords(change)}`),
        ...(troubles.length === 0 ? [] : [`from request ${step.troublesAt} on the service has ${troubles.join(", ")}`]),
        ...(step.second === undefined ? [] : [`at request ${step.second} a second run starts`]),
        ...(step.beside === undefined
          ? []
          : [
              `at request ${step.beside} the neighbour runs too${step.older === "neighbour" ? ", by the program before the upgrade" : ""}`,
            ]),
        ...(step.looks.length === 0 ? [] : [`a reader looks at requests ${step.looks.join(", ")}`]),
        ...(step.death === undefined ? [] : [deathInWords(step.death)]),
      ];
      return `${words.join(" ")}${clauses.length === 0 ? "" : `: ${clauses.join("; ")}`}.`;
    }
  }
}

function settingsInWords(settings: Settings): string {
  return Object.entries(settings)
    .filter(([, value]) => value !== undefined && value !== false && value !== 0)
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join("+") : String(value)}`)
    .join(", ");
}
