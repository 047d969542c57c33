import { execFileSync } from "node:child_process";
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import plugin, { type Dependency } from "rollup-plugin-license";
import { z } from "zod";
import config, { INSTALLED } from "./rolldown.config.ts";
import { mannerOf, programRules, selectionOptions, syncOptions, uploadOptions } from "./src/options/options.ts";
import { programName } from "./src/options/program_form.ts";

/*
 * `npm run build`: makes dist/, the package that is published (`npm pack ./dist`, `npm publish ./dist`). It holds the program
 * with its libraries in it, a manifest that asks for DuckDB alone, the licences and the bill of materials of the libraries,
 * and what is copied as it is.
 */

/** What the package holds beside the program, as it is in the repository. */
export const COPIED = [
  "assets",
  "config.example.yaml",
  "deploy",
  "docs",
  "models",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "SECURITY.md",
] as const;

const root = import.meta.dirname;
const dist = join(root, "dist");

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly repository?: unknown;
  readonly bugs?: unknown;
}

/** What package-lock.json says about an installed package, as far as it is read here. */
interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly resolved?: string;
}

/** A bill of materials in CycloneDX's JSON, as far as it is read or changed here. */
interface Bom {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: { name: string } };
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

async function main(): Promise<void> {
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
  await rm(dist, { recursive: true, force: true });
  const bundled = await bundle();
  await chmod(join(dist, "tributary.js"), 0o755);
  // An operator keeps secrets below deploy/, where git ignores them.
  const isPublished = (path: string) => path !== join(root, "deploy/secrets") && !path.endsWith(".gitignore");
  for (const part of COPIED) await cp(join(root, part), join(dist, part), { recursive: true, filter: isPublished });
  await writeFile(join(dist, "index.d.ts"), await declarations());
  await writeJson("package.json", publishedManifest(manifest));
  const bom = await billOfMaterials(manifest);
  requireAll(bundled, bom);
  await writeJson("sbom.cdx.json", bom);
}

/** Writes the program and the licences of the libraries in it; returns those libraries. */
async function bundle(): Promise<readonly Dependency[]> {
  let bundled: readonly Dependency[] = [];
  // The plugin's types declare a default export, but Node.js imports the function itself.
  const license = plugin as unknown as typeof plugin.default;
  const note = (dependencies: readonly Dependency[]) => {
    bundled = dependencies;
  };
  const licenses = license({ cwd: root, thirdParty: { output: [join(dist, "LICENSES.txt"), note] } });
  await build({ ...config, cwd: root, logLevel: "warn", plugins: [...config.plugins, licenses] });
  return bundled;
}

/** The types of what programs import, in one file: those of the engine that they are made of, and no others. */
export async function declarations(): Promise<string> {
  const compilerOptions = { noEmit: false, declaration: true };
  const plugins = [dts({ emitDtsOnly: true, tsconfig: join(root, "tsconfig.json"), compilerOptions })];
  const input = { index: join(root, "src/library/index.ts") };
  const treeshake = { moduleSideEffects: false };
  await using bundle = await rolldown({
    input,
    cwd: root,
    treeshake,
    logLevel: "silent",
    external: /^[^./]|options\/options\.ts$/,
    plugins,
  });
  const { output } = await bundle.generate({ format: "esm" });
  return withOptions(output[0].code);
}

const optionsOf = { selectionOptions, syncOptions, uploadOptions };

/** Options are made of schemas. Programs have no zod: their types are written out. */
function withOptions(code: string): string {
  const own = code.replace(/^import \{[^}]*\} from "[^"]*options\/options\.ts";\n/m, "");
  return own.replace(/, Given<typeof (\w+)> \{(?=(\})?)/g, (_, name: keyof typeof optionsOf, end?: string) => {
    const { shape } = programRules(optionsOf[name]);
    const members = Object.entries(shape).map(([key, schema]) => member(key, schema));
    return ` {\n${members.join("\n")}${end === undefined ? "" : "\n"}`;
  });
}

const types: Readonly<Record<string, string>> = { array: "readonly string[]", integer: "number" };

function member(key: string, schema: z.core.$ZodType): string {
  const { help, otherwise } = mannerOf(schema)!;
  const words = help.replace(
    /--([a-z-]+)/g,
    (_, flag: string) => `\`${programName(flag.replaceAll("-", "_"), z.any())}\``,
  );
  const unit = key.endsWith("Ms") ? " In milliseconds." : "";
  const usual = otherwise === undefined ? "" : ` Default: ${otherwise}.`;
  const comment = `${words.charAt(0).toUpperCase()}${words.slice(1)}.${unit}${usual}`;
  const { type } = z.toJSONSchema(schema as z.ZodType, { unrepresentable: "any" });
  return `  /** ${comment} */\n  readonly ${key}?: ${types[String(type)] ?? type} | undefined;`;
}

/** The manifest that is published: of the libraries only those that can't be bundled are left to install. */
function publishedManifest({ dependencies, ...manifest }: Manifest) {
  const { name, version, description, license, type, engines, repository, bugs } = manifest;
  return {
    ...{ name, version, description, license, type, engines, repository, bugs },
    bin: { tributary: "tributary.js" },
    exports: { ".": { types: "./index.d.ts", default: "./index.js" }, "./package.json": "./package.json" },
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(([library]) => INSTALLED.includes(library))),
  };
}

/**
 * `npm sbom` of the runtime libraries, those that are bundled and those that are installed. It is asked about a manifest and
 * a lock file without development packages, because its `--omit=dev` also leaves out each runtime library that some
 * development package needs too, as pg and yaml (npm/cli#7909). The lock file has the packages of every platform, so that
 * the result is the same on all of them.
 */
async function billOfMaterials(manifest: Manifest): Promise<Bom> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const { "": _, ...locked } = lock.packages;
  const { name, version, description, license, dependencies } = manifest;
  const project = { name, version, description, license, dependencies };
  const runtime = Object.entries(locked)
    .filter(([, { dev, devOptional }]) => !dev && !devOptional)
    // The addresses that packages were fetched from belong to the machine that built it.
    .map(([path, { resolved: _, ...entry }]) => [path, entry]);
  const folder = await mkdtemp(join(tmpdir(), "tributary-sbom-"));
  try {
    await writeFile(join(folder, "package.json"), JSON.stringify(project));
    const packages = { "": project, ...Object.fromEntries(runtime) };
    await writeFile(join(folder, "package-lock.json"), JSON.stringify({ ...lock, packages }));
    const words = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"];
    const shell = process.platform === "win32";
    const bom = JSON.parse(execFileSync("npm", words, { cwd: folder, shell, encoding: "utf8" })) as Bom;
    // These two differ from build to build, and npm takes the name from the folder.
    delete bom.serialNumber;
    delete bom.metadata.timestamp;
    bom.metadata.component.name = name;
    return bom;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws Error when a library is in the program and not in its bill of materials */
function requireAll(bundled: readonly Dependency[], { components }: Bom): void {
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const missing = bundled.map(({ name, version }) => `${name}@${version}`).filter(library => !listed.has(library));
  if (bundled.length > 0 && missing.length === 0) return;
  throw new Error(
    `Expected every bundled library among the runtime packages of package-lock.json, missing: ${missing.join(", ") || "all"}. Is it in package.json's dependencies, and is node_modules what the lock file says (npm ci)?`,
  );
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(join(dist, file), `${JSON.stringify(value, null, 2)}\n`);
}

if (process.argv[1] === import.meta.filename) await main();
