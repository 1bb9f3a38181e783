/**
 * Reads the environment variables for running on this machine: port, data folder, and the settings that are passed to the Worker unchanged
 * (`core/people/settings.ts` parses them there). Used by `start.ts` and the commands.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { readHost } from './port.ts';
import { isPort, settingFaults } from './setting-checks.ts';
import type { Keys } from './keys.ts';

export type LocalEnvironment = {
  /** An IP address. */
  host: string;
  /** 0: any free port. */
  port: number;
  /** Absolute. */
  dataDir: string;
  /** `MONIKER_SKILLS_DIR` as an absolute path: skills that are written at every start (`skills.ts`). Null: not set. */
  skillsDir: string | null;
  /** Settings for the Worker, without keys. */
  settings: Record<string, string>;
  /** Unknown names that start with MONIKER_: probably typos. */
  unknown: string[];
  /** Why settings cannot be used, each with what to do; the fields above have the defaults for them. */
  faults: string[];
};

/** False in the npm package, which is JavaScript. */
export const isCheckout = import.meta.filename.endsWith('.ts');

/** The folder of the checkout, or of the npm package, whose modules are in `dist/cli`. */
export const projectRoot = resolve(import.meta.dirname, isCheckout ? '../../..' : '../..');

/** Relative folders of the settings: in a checkout they belong to it, whatever the current folder is. */
const baseFolder = isCheckout ? projectRoot : process.cwd();

// The settings, each listed once: with the help of the commands that start the service.

/** Read here, in `keys.ts` or by the commands, and never passed on unchanged. */
const launcherHelp = `  PORT                          port to listen on; 0 for any free one (default: 8787)
  MONIKER_HOST                  address to listen on, for example 0.0.0.0 for all networks (default: 127.0.0.1)
  MONIKER_DATA_DIR              folder for keys, storage and the bundle (default: .moniker)
  MONIKER_URL, MONIKER_KEY, MONIKER_WORKSPACE
                                service, key and workspace that the other commands use (default: those of the data folder)
  MONIKER_PROJECT               project file, applied at every start and by moniker apply (default: moniker.yaml or moniker.json in the current folder, after a question)
  MONIKER_SKILLS_DIR            folder of skills to load at every start
  MONIKER_ROOT_KEY              root API key, 32 characters or more (default: generated, in <data folder>/keys)
  MONIKER_MASTER_KEY            key that encrypts secrets, 32 characters or more (default: generated, in <data folder>/keys)
  MONIKER_MASTER_KEY_PREVIOUS   the master key before, while everything is sealed again (docs/operating.md)
  OLLAMA_HOST                   address of a local Ollama (default: 127.0.0.1:11434)`;

/** Passed on to the Worker. */
const workerHelp = `  MONIKER_PUBLIC_URL            URL under which clients reach this service (default: http://127.0.0.1:<port>)
  MONIKER_ALLOWED_ORIGINS       origins that browsers may call from, comma-separated
  MONIKER_ALLOW_PRIVATE_HOSTS   private hosts that requests may go to, comma-separated, for example 127.0.0.1:*
  MONIKER_OAUTH_REDIRECT_SCHEMES
                                private-use schemes of MCP clients that people sign in to, comma-separated, for example default,my-app (default: those of
                                known clients, such as cursor; none: no scheme)
  MONIKER_TRUSTED_PROXY_HEADER  header in which your reverse proxy sends the address of the client, for example x-forwarded-for
  MONIKER_ALLOW_STDIO           api: keys with the scope admin may add and change servers that run commands of this machine
  MONIKER_ALIASES               off: resolve no aliases
  MONIKER_AUDIT_SHARDS          number of audit logs for calls, 1 to 32 (default: 8)
  MONIKER_OIDC_ISSUER, MONIKER_OIDC_CLIENT_ID, MONIKER_OIDC_CLIENT_SECRET, MONIKER_OIDC_NAME, MONIKER_GOOGLE_CLIENT_ID,
  MONIKER_GOOGLE_CLIENT_SECRET, MONIKER_GITHUB_CLIENT_ID, MONIKER_GITHUB_CLIENT_SECRET, MONIKER_GITHUB_URL, MONIKER_ACCESS_TEAM,
  MONIKER_ACCESS_AUD            identity providers that people sign in with; docs/sign-in.md describes them
  MONIKER_OIDC_GROUPS, MONIKER_GOOGLE_GROUPS, MONIKER_GITHUB_GROUPS, MONIKER_ACCESS_GROUPS
                                what groups of these give, as JSON
  MONIKER_OWNER_EMAILS          emails of people who become owners when they sign in, comma-separated
  MONIKER_LOG                   error, info or debug (default: info)
  MONIKER_METRICS               on: GET /metrics responds, for Prometheus
  OTEL_EXPORTER_OTLP_ENDPOINT   URL of an OpenTelemetry collector (default: nothing is exported); docs/operating.md describes the next ones
  OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER_ARG, OTEL_BSP_SCHEDULE_DELAY, OTEL_SDK_DISABLED,
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT
                                headers, name, sampling, delay, off, and whether content is recorded
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, COHERE_API_KEY
                                keys of model providers`;

export const environmentHelp = `Environment variables:\n${launcherHelp}\n${workerHelp}`;

export const workerSettings = namesIn(workerHelp);

function namesIn(help: string): string[] {
  return help.match(/[A-Z]+(?:_[A-Z]+)+/g) ?? [];
}

export function readEnvironment(environment: NodeJS.ProcessEnv): LocalEnvironment {
  const settings: Record<string, string> = {};
  for (const name of workerSettings) {
    const value = environment[name]?.trim();
    if (value) settings[name] = value;
  }
  const named = environment.MONIKER_SKILLS_DIR?.trim();
  const skillsDir = named ? resolve(baseFolder, named) : null;
  const isFolder = skillsDir === null || statSync(skillsDir, { throwIfNoEntry: false })?.isDirectory() === true;
  // Set by the launcher itself.
  const known = new Set([...namesIn(environmentHelp), 'MONIKER_OLLAMA_URL']);
  return {
    host: readHost(environment.MONIKER_HOST),
    port: readPort(environment.PORT),
    dataDir: dataFolderOf(environment).path,
    skillsDir,
    settings,
    unknown: Object.keys(environment).filter((name) => name.startsWith('MONIKER_') && !known.has(name)),
    faults: [
      ...settingFaults(environment),
      ...(isFolder
        ? []
        : [`MONIKER_SKILLS_DIR is ${JSON.stringify(named)}, and ${skillsDir} is not a folder. Create it, or omit the setting.`]),
    ],
  };
}

/** `isFound`: neither named nor that of a checkout, but `.moniker` of the current folder, which may come from somebody else. */
export type DataFolder = { path: string; isFound: boolean };

/** `named`: of the option `--data`. */
export function dataFolderOf(environment: NodeJS.ProcessEnv, named?: string): DataFolder {
  const given = environment.MONIKER_DATA_DIR?.trim();
  if (named !== undefined) return { path: resolve(named), isFound: false };
  return { path: resolve(baseFolder, given || '.moniker'), isFound: !given && !isCheckout };
}

function readPort(text = ''): number {
  return isPort(text.trim()) ? Number(text) : 8787;
}

/** The Worker's text bindings on this machine: the operator's settings, the keys, and detected services. */
export function workerVariables(
  local: LocalEnvironment,
  keys: Pick<Keys, 'rootKey' | 'masterKey'> & Partial<Pick<Keys, 'previousMasterKey'>>,
  url: string,
  ollama: string | null,
): Record<string, string> {
  const allowed = local.settings.MONIKER_ALLOW_PRIVATE_HOSTS;
  return {
    MONIKER_PUBLIC_URL: url,
    ...local.settings,
    MONIKER_LOCAL_URL: url,
    MONIKER_ROOT_KEY: keys.rootKey,
    MONIKER_MASTER_KEY: keys.masterKey,
    ...(keys.previousMasterKey != null && { MONIKER_MASTER_KEY_PREVIOUS: keys.previousMasterKey }),
    MONIKER_CLOSE_AFTER_DELETE: 'on',
    ...(ollama !== null && {
      MONIKER_OLLAMA_URL: `http://${ollama}`,
      // Its address is private; only providers may reach it, not tools.
      MONIKER_ALLOW_PRIVATE_HOSTS: [allowed, `providers:${ollama}`].filter(Boolean).join(','),
    }),
  };
}
