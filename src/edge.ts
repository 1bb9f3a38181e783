/**
 * Moniker as one `fetch` handler for other edge runtimes (Deno, Bun, Node): chats, also with agents and toolsets, names, and tools over REST and
 * MCP, from a fixed project. It imports no `cloudflare:` module and stores nothing; what needs storage is refused (`edge/unsupported.ts`).
 */
import type { AuditRow } from './core/records/audit.ts';
import { limits } from './core/limits/limits.ts';
import { invalidRequest, type Issue, Problem } from './core/problem.ts';
import { readSettings } from './core/people/settings.ts';
import { createEdgeBindings } from './edge/edge-bindings.ts';
import { createEdgeCatalog } from './edge/edge-catalog.ts';
import { createEdgeKeys, type EdgeKey } from './edge/edge-keys.ts';
import { readServedProject } from './edge/served-project.ts';
import { createServerLists } from './edge/server-lists.ts';
import { createTurnWithinRequest } from './edge/turn-within-request.ts';
import { createToolsetEditions, edgeWorkspace } from './edge/toolset-editions.ts';
import { noApprovals, noAuthorization } from './edge/unsupported.ts';
import { readView } from './engine/mcp/serve-view.ts';
import { withTimeout } from './engine/timeout.ts';
import { createApp } from './http/app.ts';
import type { HttpServices } from './http/services.ts';
import { systemClock } from './platform/clock.ts';
import type { ServeDeps } from './mcp/server/exchange.ts';
import { createLog } from './platform/log.ts';
import { readYaml, TextFault } from './formats/read-yaml.ts';
import type { McpSessionRequest } from './ports/mcp-sessions.ts';
import type { Principal } from './core/people/principal.ts';
import { createMasterKey } from './storage/keys/master-key.ts';
import { toolDefinitions } from './tools/registry.ts';
import { createWiring } from './wiring/create-wiring.ts';

export type EdgeOptions = {
  /** A project: an object, or its text as JSON or YAML. */
  project: unknown;
  /** Settings such as `MONIKER_ROOT_KEY` and `OPENAI_API_KEY`, and values for `${NAME}` in the project. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Further API keys, each with its rights. */
  keys?: readonly EdgeKey[];
  /** Keeps work alive after the response, where the platform would stop it. */
  waitUntil?(work: Promise<unknown>): void;
  /** Receives the audit rows of tool calls; a call fails if it fails. The log has a line for each call in any case. */
  audit?(rows: readonly AuditRow[]): void | Promise<void>;
  /** Sends outgoing requests, without following redirects. Absent: the global `fetch`. */
  fetch?(request: Request): Promise<Response>;
};

export type EdgeHandler = (request: Request) => Promise<Response>;

/** How long the first use of a toolset waits for the lists of its servers. */
const firstReadMs = 8_000;

/** Throws a `Problem` that lists everything that is wrong with the project or the keys. */
export async function createEdgeHandler(options: EdgeOptions): Promise<EdgeHandler> {
  try {
    return await build(options);
  } catch (error) {
    throw withAllIssues(error);
  }
}

const maxShownIssues = 20;

/** Runtimes print only the message of an error that ends a program. */
function withAllIssues(error: unknown): unknown {
  if (!(error instanceof Problem) || !Array.isArray(error.extra.issues)) return error;
  // Written as `Issue`s by `core/problem.ts`.
  const issues = error.extra.issues as readonly Issue[];
  const lines = issues.slice(0, maxShownIssues).map(({ path, message }) => `- ${path === '' ? '' : `${path}: `}${message}`);
  const more = issues.length > lines.length ? [`- and ${issues.length - lines.length} more`] : [];
  return new Problem(error.code, ['The handler cannot start:', ...lines, ...more].join('\n'), error.extra, { cause: error });
}

async function build(options: EdgeOptions): Promise<EdgeHandler> {
  const { env = {}, fetch: send } = options;
  const clock = systemClock;
  const settings = settingsIn(env, (options.keys ?? []).length > 0);
  const { rootKey, masterKey, log: level } = readSettings(settings);
  if (rootKey === null)
    throw new Problem('not_configured', 'Give `keys`, or set MONIKER_ROOT_KEY in `env` to a random text of at least 32 characters.');
  const log = createLog(level);
  const project = await readServedProject(typeof options.project === 'string' ? parseText(options.project) : options.project, env);
  const keys = await createEdgeKeys(options.keys, clock.now);

  // The wiring needs the catalog, which reads servers through the wiring.
  const late: { wiring: (HttpServices & { serve: ServeDeps }) | null } = { wiring: null };
  const wired = () => {
    if (late.wiring === null) throw new Error('a request came before the handler was built');
    return late.wiring;
  };
  const lists = createServerLists(project.servers, {
    now: clock.now,
    isNamed: (canonical) => editions.isNamed(canonical),
    changed: () => editions.changed(),
  });
  const editions = createToolsetEditions({
    ...{ project, lists, definitions: toolDefinitions() },
    async read(servers) {
      if (servers.length === 0) return;
      const reading = servers.map((name) => wired().servers(edgeWorkspace).refresh(name, 'stale'));
      await withTimeout(clock, Promise.allSettled(reading), firstReadMs, () => []);
    },
  });
  await lists.start();
  for (const { path, message } of await editions.check()) log.info('a warning about the project', { path, warning: message });
  for (const section of project.ignored)
    log.info('a part of the project is not served here: it needs Durable Objects (docs/edge.md)', { section });

  const master = createMasterKey(masterKey);
  const bindings = createEdgeBindings({
    catalog: createEdgeCatalog({ project, lists, editions, keys, master, now: clock.now }),
    audit: async (rows) => await options.audit?.(rows),
    mcp: (caller, target, request) => serveWithoutSession(wired().serve, caller, target, request),
    now: clock.now,
  });
  const background = options.waitUntil ?? ((work: Promise<unknown>): void => void work.catch(() => undefined));
  const network = send === undefined ? {} : { PUBLIC_NETWORK: { fetch: send }, PRIVATE_NETWORK: { fetch: send } };
  // Only `fetch` of the networks is used.
  const wiring = createWiring({ ...settings, ...bindings, ...network } as typeof bindings, {
    ...{ background, noApprovals, issued: keys.issued, authorization: noAuthorization },
  });
  late.wiring = { ...wiring, turnWithinRequest: createTurnWithinRequest(wiring) };
  const app = createApp(wired);
  return async (request) => await app.fetch(request);
}

/**
 * Returns the settings in the environment; it may have variables with the names of bindings. What is sealed here is read only by instances of
 * the same handler, so the root key is enough for it.
 */
function settingsIn(env: Readonly<Record<string, string | undefined>>, hasOtherKeys: boolean): Record<string, string | undefined> {
  const named = Object.entries(env).filter(([name]) => /^(?:MONIKER|OTEL)_|_API_KEY$/.test(name) && !ofLauncher.has(name));
  const root = env.MONIKER_ROOT_KEY || (hasOtherKeys ? randomKey() : undefined);
  return { ...Object.fromEntries(named), MONIKER_ROOT_KEY: root, MONIKER_MASTER_KEY: env.MONIKER_MASTER_KEY || root };
}

/** They give access to commands of the machine. */
const ofLauncher: ReadonlySet<string> = new Set(['MONIKER_LAUNCHER_TOKEN', 'MONIKER_STDIO_URL', 'MONIKER_ALLOW_STDIO']);

/** A root key that no client has. */
function randomKey(): string {
  return `${crypto.randomUUID()}${crypto.randomUUID()}`;
}

const maxProjectSeparators = 500_000;

function parseText(text: string): unknown {
  try {
    return readYaml(text, { maxDepth: limits.maxJsonDepth, maxSeparators: maxProjectSeparators, maxAliased: 0 });
  } catch (error) {
    if (!(error instanceof TextFault)) throw error;
    const at = error.place === null ? '' : ` (line ${error.place.line}, column ${error.place.column})`;
    throw invalidRequest([{ path: '', message: `the project is not valid YAML or JSON: ${error.message}${at}` }]);
  }
}

/** Requests that get a session elsewhere: `initialize` of the 2025 revisions, and calls that stay open. Here each request ends by itself. */
async function serveWithoutSession(
  serve: ServeDeps,
  principal: Principal,
  target: string | null,
  { method, headers, body }: McpSessionRequest,
): Promise<Response> {
  const { serveBody } = await import('./mcp/server/stateless.ts');
  const request = new Request('https://edge.invalid/mcp', {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    body,
  });
  const view = await readView(serve, principal, target);
  return await serveBody(serve, { request, principal, target, view }, body === null ? undefined : JSON.parse(body));
}
