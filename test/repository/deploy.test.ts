import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { COPIED } from "../../build.ts";
import { systemClock } from "../../src/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import { requireSchedules } from "../../src/config/schedules.ts";
import { createMetrics } from "../../src/daemon/page/metrics.ts";
import { COMPANIES } from "../../src/fleet/worker.ts";
import { specMessage } from "../../src/operations/changes/airbyte.ts";
import { streams } from "../../streams/index.ts";
import { emptyFolder, tributary } from "../cli/process.ts";
import { withAddress } from "../config/sample.ts";
import { blocks, read, userPages } from "./pages.ts";
import { root } from "./sources.ts";

const pages = ["docs/running.md", "deploy/README.md"];
const running = read("docs/running.md");
const containerfile = read("deploy/Containerfile");
const units = ["deploy/tributary.service", "deploy/tributary-sync.service"];
const yamlFiles = globSync("deploy/**/*.yaml", { cwd: root });

const documents = (file: string) => parseAllDocuments(read(file)).map(document => document.toJS());
const [configMap, , { spec: cron }] = documents("deploy/kubernetes/cronjob.yaml");
const job = cron.jobTemplate.spec;
const [workersMap, ...deployments] = documents("deploy/kubernetes/workers.yaml");
const [queueAccess, scaler] = documents("deploy/kubernetes/workers-scaler.yaml");
const compose = parse(read("deploy/compose.yaml"));

const containers: readonly { readonly args: readonly string[] }[] = [
  job.template,
  ...deployments.map(({ spec }) => spec.template),
].flatMap(({ spec }) => spec.containers);

/** Command lines of `tributary`, as words, wherever a page or a file names one. */
function commandLines(): string[][] {
  const code = pages.flatMap(page => [...read(page).matchAll(/```[a-z]*\n([\s\S]+?)```|`([^`\n]+)`/g)]);
  const written = [
    ...code.map(match => match[1] ?? match[2]!),
    ...units.flatMap(unit => read(unit).match(/^ExecStart=.+$/gm) ?? []),
  ];
  const lines = written.flatMap(text =>
    [...text.matchAll(/\btributary (?!tributary\b)([a-z]+\b[^\n&|;#>")]*)/g)].map(match =>
      match[1]!.trim().split(/\s+/),
    ),
  );
  const quoted = (text: string) => [...text.matchAll(/"([^"]+)"/g)].map(match => match[1]!);
  const listed = [
    /^CMD (\[.+\])$/m.exec(containerfile)![1]!,
    ...[...running.matchAll(/arguments=(\[.+\])/g)].map(match => match[1]!),
    /^COMMAND = \[\s*"tributary",([\s\S]+?)^\]/m.exec(read("deploy/airflow/tributary_sync.py"))![1]!,
  ].map(quoted);
  return [...lines, ...listed, ...containers.map(({ args }) => [...args])];
}

test("commands and options that pages, units, containers and the DAG name are there", async () => {
  const uses = commandLines();
  const commands = [...new Set(uses.map(([command]) => command!))];
  expect(commands).toEqual(expect.arrayContaining(["schedule", "sync", "check", "status", "backfill"]));
  const place = { cwd: emptyFolder() };
  for (const command of commands) {
    const { code, stdout: help } = await tributary([command, "--help"], place);
    expect({ command, code, usage: help.slice(0, help.indexOf("[")) }).toEqual({
      command,
      code: 0,
      usage: `Usage: tributary ${command} `,
    });
    const options = uses
      .filter(([name]) => name === command)
      .flatMap(words => words.filter(word => word.startsWith("--")));
    expect({ command, missing: options.filter(option => !new RegExp(`${option}\\b`).test(help)) }).toEqual({
      command,
      missing: [],
    });
  }
});

test("the table of exit codes has every code once, in the type's order, and the order of several is the code's", () => {
  const type = /^export type ExitCode = (.+);$/m.exec(read("src/errors.ts"))![1]!.split(" | ");
  const section = running.split("\n## Exit codes\n")[1]!.split("\n## ")[0]!;
  expect([...section.matchAll(/^\| (\d+) \|/gm)].map(match => match[1]!)).toEqual(type);
  const precedence = /PRECEDENCE: readonly ExitCode\[\] = \[(.+)\];/.exec(read("src/sync/run/report.ts"))![1]!;
  expect(section).toContain(`the first of ${precedence}.`);
});

test("whatever goes by exit codes agrees about which of them somebody has to look at", () => {
  const needsSomebody = [2, 3, 70];
  const numbers = (text: string, key: string) =>
    new RegExp(`^${key}=(.+)$`, "m").exec(text)![1]!.split(" ").map(Number);
  const oneShot = read("deploy/tributary-sync.service");
  expect(numbers(oneShot, "RestartPreventExitStatus")).toEqual(needsSomebody);
  expect(numbers(oneShot, "SuccessExitStatus")).toEqual([4, 5, 143]);
  expect(numbers(read("deploy/tributary.service"), "RestartPreventExitStatus")).toEqual([2]);
  const rules: readonly { readonly action: string; readonly onExitCodes?: { readonly values: number[] } }[] =
    job.podFailurePolicy.rules;
  const byAction = rules.flatMap(({ action, onExitCodes }) => (onExitCodes ? [[action, onExitCodes.values]] : []));
  expect(byAction).toEqual([
    ["FailJob", needsSomebody],
    ["Ignore", [4, 130, 143]],
  ]);
  const dag = read("deploy/airflow/tributary_sync.py");
  expect([...dag.matchAll(/^ {4}(\d+): "/gm)].map(match => Number(match[1]))).toEqual(needsSomebody);
  expect(dag).toMatch(/^HELD = 4$/m);
});

test.each(yamlFiles)("%s is YAML without a key that stands twice", file => {
  for (const document of parseAllDocuments(read(file))) {
    expect(document.errors).toEqual([]);
    expect(document.warnings).toEqual([]);
  }
});

const configurations: [string, string][] = [
  ["deploy/host.yaml", read("deploy/host.yaml")],
  ["deploy/container.yaml", read("deploy/container.yaml")],
  ["deploy/kubernetes/cronjob.yaml", configMap.data["config.yaml"]],
  ["deploy/kubernetes/workers.yaml", workersMap.data["config.yaml"]],
  ...userPages.flatMap(page =>
    blocks(page, "yaml")
      // dbt's own file.
      .filter(text => !/^(packages|models):/.test(text))
      .map((text, index): [string, string] => [`${page}, block ${index + 1}`, text]),
  ),
];

test.each(configurations)("the configuration of %s can be used", async (_, text) => {
  const folder = mkdtempSync(join(tmpdir(), "deploy-"));
  // Secrets are mounted elsewhere; here they lie beside the file.
  const local = text.replaceAll(/\$\{file:\/[^}]*\/([^}/]+)\}/g, (_, name: string) => {
    const secret = name.endsWith("_url")
      ? "postgresql://tributary@db.example.com/warehouse"
      : "0123456789abcdef".repeat(2);
    writeFileSync(join(folder, name), `${secret}\n`);
    return `\${file:./${name}}`;
  });
  const file = join(folder, "config.yaml");
  writeFileSync(file, withAddress(local));
  const env = {
    PROCUREMENT_API_KEY: "a-key",
    SLACK_WEBHOOK: "https://hooks.example.com/services/x",
    SMTP_URL: "smtp://mail.example.com",
    DATABASE_URL: "postgresql://tributary@db.example.com/warehouse",
    AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "a secret",
    TRIBUTARY_HASH_KEY: "0123456789abcdef",
  };
  const loaded = await loadConfig(file, env);
  requireSchedules(loaded, streams, Date.UTC(2026, 0, 1));
  expect(loaded.warnings).toEqual([]);
});

test("the image holds what it is told to copy, all of it let in, and everything that the package is made of", () => {
  const copied = [...containerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(match => match[1]!.split(" "));
  expect(copied.filter(path => !existsSync(join(root, path)))).toEqual([]);
  const ignore = read(".dockerignore").split("\n");
  expect(ignore.find(line => !/^(#|$)/.test(line))).toBe("*");
  expect(ignore.flatMap(line => /^!(.+)$/.exec(line)?.[1] ?? []).sort()).toEqual([...copied].sort());
  expect(COPIED.filter(path => !copied.includes(path))).toEqual([]);
  // Nothing but these may bring a value in, and none of them is a secret.
  const variables = [...containerfile.matchAll(/^(?:ENV|ARG)((?:.*\\\n)*.*)$/gm)].flatMap(match =>
    [...match[1]!.matchAll(/(\w+)=/g)].map(name => name[1]!),
  );
  expect(variables).toEqual(["PATH", "HOME", "NODE_ENV", "TRIBUTARY_CONFIG"]);
  expect(containerfile).toMatch(/^USER node$/m);
});

test("the image's health check says what /healthz says", async () => {
  const [, command, ...args] = JSON.parse(
    /^HEALTHCHECK .*\\\n\s+CMD (\[.+\])$/m.exec(containerfile)![1]!.replace("[", '["check", '),
  ) as string[];
  expect(command).toBe("node");
  let status = 200;
  const server = createServer((request, response) =>
    response.writeHead(request.url === "/healthz" ? status : 404).end(),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const check = async (at: number) => {
    const words = args.map(word => word.replace("8787", String(at)));
    const [code] = await once(spawn(process.execPath, words), "close");
    return code as number;
  };
  expect(await check(port)).toBe(0);
  status = 503;
  expect(await check(port)).toBe(1);
  server.closeAllConnections();
  await new Promise(done => server.close(done));
  expect(await check(port)).toBe(1);
});

test("what has to come back comes back, and a read-only container has a home where DuckDB's extensions can be run", () => {
  for (const { restart } of Object.values<{ readonly restart: string }>(compose.services))
    expect(restart).toBe("unless-stopped");
  const home = /\bHOME=(\S+)/.exec(read("deploy/Containerfile"))?.[1];
  const { read_only, volumes } = compose.services.tributary;
  expect([read_only, volumes]).toEqual([true, expect.arrayContaining([`data:${home}`])]);
  const cronJob = documents("deploy/kubernetes/cronjob.yaml").find(({ kind }) => kind === "CronJob");
  for (const { spec } of [...deployments, cronJob.spec.jobTemplate]) {
    const [container] = spec.template.spec.containers;
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
    const mounts: { mountPath: string; readOnly?: true }[] = container.volumeMounts;
    expect(mounts.filter(({ mountPath, readOnly }) => mountPath === home && readOnly !== true)).toHaveLength(1);
  }
});

test("the daemon of compose.yaml is not process 1, and packages before their first release are for tests", () => {
  expect(compose.services.tributary.init).toBe(true);
  const { dependencies, devDependencies } = JSON.parse(read("package.json"));
  const isEarly = ([, version]: [string, unknown]) => /-(alpha|beta|rc|next|canary)/.test(String(version));
  expect(Object.entries(dependencies).filter(isEarly)).toEqual([]);
  for (const [name] of Object.entries(devDependencies).filter(isEarly))
    expect(read("CONTRIBUTING.md")).toContain(`\`${name}\``);
});

test("what compose.yaml mounts is there or is a secret that git and the image leave out", () => {
  const mounts = Object.values<{ readonly volumes: readonly string[] }>(compose.services).flatMap(
    ({ volumes }) => volumes,
  );
  const files = mounts.map(mount => mount.split(":")[0]!).filter(path => path.startsWith("."));
  expect(files.length).toBeGreaterThan(1);
  expect(files.filter(path => !existsSync(join(root, "deploy", path)))).toEqual([]);
  const secrets = Object.entries<{ readonly file: string }>(compose.secrets);
  expect(secrets.filter(([name, { file }]) => file !== `./secrets/${name}`)).toEqual([]);
  const used = Object.values<{ readonly secrets: readonly string[] }>(compose.services).flatMap(one => one.secrets);
  expect([...new Set(used)].sort()).toEqual(secrets.map(([name]) => name).sort());
  expect(read("deploy/.gitignore")).toBe("secrets/\n");
  expect(read(".dockerignore")).toMatch(/^deploy\/secrets$/m);
  for (const [name] of secrets) expect(read("deploy/README.md")).toContain(name);
});

test("postgres-init.sh is a shell script that can be started", () => {
  const file = join(root, "deploy/postgres-init.sh");
  expect(read("deploy/postgres-init.sh")).toMatch(/^#!\/bin\/sh\n/);
  if (process.platform !== "win32") execFileSync("sh", ["-n", file]);
});

test.skipIf(process.platform === "win32").each([
  ["deploy/airbyte/source-tributary", "airbyte", ["read", "--config", "a config.json"]],
  ["deploy/meltano/tap-tributary", "singer", ["--config", "a config.json"]],
])("%s hands its words on to `tributary %s`", (file, command, words) => {
  const folder = mkdtempSync(join(tmpdir(), "deploy-"));
  writeFileSync(join(folder, "tributary"), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  const path = `${folder}:${process.env["PATH"]}`;
  const said = execFileSync(join(root, file), words, { encoding: "utf8", env: { PATH: path } });
  expect(said.trimEnd().split("\n")).toEqual([command, ...words]);
});

test("what Airbyte and Meltano are told of the configuration and the version is as it is", () => {
  const form = JSON.parse(specMessage()).spec.connectionSpecification;
  const keys = Object.entries<{ properties?: object }>(form.properties).flatMap(([name, { properties }]) =>
    properties === undefined ? [name] : Object.keys(properties).map(key => `${name}.${key}`),
  );
  const { settings } = parse(read("deploy/meltano/tap-tributary.yml"));
  expect(settings.map(({ name }: { name: string }) => name)).toEqual(keys);
  const secret = settings.filter(({ sensitive }: { sensitive?: boolean }) => sensitive === true);
  expect(secret.map(({ name }: { name: string }) => name)).toEqual(["api.key", "destination.url"]);
  const { version } = JSON.parse(read("package.json"));
  expect(parse(read("deploy/airbyte/metadata.yaml")).data.dockerImageTag).toBe(version);
  expect(read("deploy/airbyte/Containerfile")).toContain(`io.airbyte.version=${version}`);
});

test("metrics that alerts and pages name are those that tributary has", async () => {
  const named = [running, read("deploy/prometheus/rules.yaml")].flatMap(
    text => text.match(/\btributary_(?!sync\b|token\b)[a-z_]+/g) ?? [],
  );
  const { route } = createMetrics({
    version: "1",
    clock: systemClock,
    daemon: { startedAt: "2026-01-01T00:00:00Z", live: () => undefined, nextRuns: () => [] },
    cachedStatus: async () => ({ status: undefined, trouble: "not looked at" }),
    lateAfterMs: () => 1,
  });
  const answer = await (await route.answer(new Request("http://127.0.0.1/metrics"), {})).text();
  const known = [...answer.matchAll(/^# HELP (\w+) /gm)].map(match => match[1]!);
  expect(new Set(named)).toEqual(new Set(named.filter(name => known.includes(name))));
  expect(named.length).toBeGreaterThan(5);
});

test("workers and their schedules have what they mount, are asked what they serve, and end within their grace", () => {
  expect(deployments.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
    ["Deployment", "tributary-work"],
    ["Deployment", "tributary-schedule"],
  ]);
  const config = parse(workersMap.data["config.yaml"]);
  const port = Number(config.server.listen.split(":")[1]);
  const asked = deployments.map(({ spec }) => {
    const { metadata, spec: pod } = spec.template;
    expect(metadata.labels).toEqual(spec.selector.matchLabels);
    // `work` and `schedule` end within 10 s.
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(10);
    const [container] = pod.containers;
    const names = ({ name }: { readonly name: string }) => name;
    expect(container.volumeMounts.map(names).sort()).toEqual(pod.volumes.map(names).sort());
    const [mounted, secrets] = pod.volumes;
    expect(mounted.configMap.name).toBe(workersMap.metadata.name);
    expect(secrets.secret.secretName).toBe(queueAccess.spec.secretTargetRef[0].name);
    expect(container.ports).toEqual([{ name: "http", containerPort: port }]);
    const { livenessProbe, readinessProbe } = container;
    expect([livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.port)).toEqual(["http", "http"]);
    // PostgreSQL may be away for as long as workers wait for it.
    if (container.args[0] === "work")
      expect(livenessProbe.periodSeconds * livenessProbe.failureThreshold).toBeGreaterThanOrEqual(300);
    return [container.args[0], livenessProbe.httpGet.path, readinessProbe.httpGet.path];
  });
  expect(asked).toEqual([
    ["work", "/healthz", "/readyz"],
    ["schedule", "/healthz", "/healthz"],
  ]);
  expect(deployments[1].spec.replicas).toBe(2);
  // Every secret that the configuration names is one that the pages say how to make.
  const files = [...workersMap.data["config.yaml"].matchAll(/\$\{file:\/run\/secrets\/tributary\/(\w+)\}/g)];
  for (const [, name] of files)
    for (const page of ["deploy/README.md", "deploy/kubernetes/workers.yaml"])
      expect(read(page)).toContain(`--from-file=${name}`);
  expect(files.map(([, name]) => name)).toContain(queueAccess.spec.secretTargetRef[0].key);
});

// As the CRDs of KEDA 2.21 (config/crd/bases) and its scaler for PostgreSQL name them.
const keda = {
  scaledObject:
    "scaleTargetRef pollingInterval initialCooldownPeriod cooldownPeriod idleReplicaCount minReplicaCount maxReplicaCount advanced triggers fallback",
  fallback: "failureThreshold replicas behavior",
  advanced: "horizontalPodAutoscalerConfig restoreToOriginalReplicaCount scalingModifiers",
  trigger: "type name metadata authenticationRef metricType useCachedMetrics",
  metadata: "query targetQueryValue activationTargetQueryValue host port userName dbName sslmode",
  secretTargetRef: "parameter name key",
};

test("the number of workers follows the queue by fields that KEDA knows", () => {
  const { spec } = scaler;
  const [trigger, ...others] = spec.triggers;
  expect(others).toEqual([]);
  const [secret] = queueAccess.spec.secretTargetRef;
  const written = {
    ...{ scaledObject: spec, fallback: spec.fallback, advanced: spec.advanced },
    ...{ trigger, metadata: trigger.metadata, secretTargetRef: secret },
  };
  for (const [part, fields] of Object.entries(keda)) {
    const known = fields.split(" ");
    const names = Object.keys(written[part as keyof typeof written]);
    expect({ part, unknown: names.filter(name => !known.includes(name)) }).toEqual({ part, unknown: [] });
  }
  expect([queueAccess, scaler].map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
    "keda.sh/v1alpha1 TriggerAuthentication",
    "keda.sh/v1alpha1 ScaledObject",
  ]);
  expect(spec.scaleTargetRef).toEqual({ name: deployments[0].metadata.name });
  expect(trigger).toMatchObject({ type: "postgresql", authenticationRef: { name: queueAccess.metadata.name } });
  expect(secret.parameter).toBe("connection");
  // Values of a trigger are texts, and one worker takes so many companies.
  expect(trigger.metadata.targetQueryValue).toBe(String(COMPANIES));
});

test("figures of memory are the benchmark's", () => {
  const rows = ["200,000", "1,000,000"].map(size => {
    const row = new RegExp(`^\\| ${size} \\|(.+)\\|$`, "m").exec(running)![1]!;
    return row.match(/\d+/g)!.map(Number);
  });
  const measured = ["first load, memory", "unchanged night, memory"].map(name => {
    const row = new RegExp(`^\\| ${name} at .+$`, "m").exec(read("bench/README.md"))![0]!;
    return [...row.replaceAll("*", "").matchAll(/(\d+) → (\d+) MB/g)].map(match => [
      Number(match[1]),
      Number(match[2]),
    ]);
  });
  const [first, night] = measured as [number[][], number[][]];
  const at = (size: 0 | 1) => [first[0]![size], night[0]![size], first[1]![size], night[1]![size]];
  expect(rows).toEqual([at(0), at(1)]);
  const peaks = [Math.max(...rows.flatMap(([a, b]) => [a!, b!])), Math.max(...rows.flatMap(([, , c, d]) => [c!, d!]))];
  for (const file of ["deploy/tributary.service", "deploy/kubernetes/cronjob.yaml"])
    expect(read(file)).toContain(`DuckDB ${peaks[0]} MB, PostgreSQL ${peaks[1]} MB`);
});
