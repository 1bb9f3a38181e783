/**
 * The client that the client scenarios of the official conformance suite run: `node test/conformance/client.ts <server URL>`. It connects
 * to, lists and calls a server as a workspace does, and signs in if required, all with the product's own code. The user is simulated:
 * accepts forms as they are filled in, and approves at every authorization server.
 */
import { readListing } from '../../src/core/listing/listing.ts';
import { type InputAnswer, type InputRequest, toGiven } from '../../src/core/tools/mcp-input.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ServerAccess } from '../../src/core/servers/server.ts';
import type { ServerOAuth } from '../../src/core/servers/server-oauth.ts';
import { isRecord } from '../../src/core/json/wire-value.ts';
import { createMcpUpstream } from '../../src/mcp/client/upstream.ts';
import type { SignInState } from '../../src/core/people/principal.ts';
import { createSignIns } from '../../src/mcp/oauth/sign-in-service.ts';
import { refuseOtherOrigins } from '../../src/engine/servers/server-fetch.ts';
import { createOutbound } from '../../src/net/outbound.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { ServerGrant } from '../../src/ports/catalog.ts';
import type { Logger } from '../../src/ports/runtime.ts';
import type { UpstreamContext, UpstreamHooks } from '../../src/ports/upstream.ts';

const url = process.argv[2] ?? '';
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
/** What the scenario passes to its client: credentials, or the calls to make. */
const told = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Record<string, string> & { toolCalls?: ToolCall[] };
type ToolCall = { name: string; arguments: Record<string, unknown> };
/** These scenarios have a server of 2026-07-28 that does not answer `server/discover`; the suite's own clients supply the answer, too. */
const isWithoutDiscovery = scenario === 'http-custom-headers' || scenario === 'http-invalid-tool-headers';

/** As an operator allows servers on the local machine. */
const outbound = createOutbound({ allowPrivateHosts: ['127.0.0.1:*', 'localhost:*'], publicUrl: null });
const send = async (request: Request, signal: AbortSignal): Promise<Response> => {
  if (isWithoutDiscovery && request.headers.get('mcp-method') === 'server/discover') return await discovered(request);
  return await outbound(request, { purpose: 'server', signal, onHop: refuseOtherOrigins(request.url) });
};

async function discovered(request: Request): Promise<Response> {
  const { id } = (await request.json()) as { id: unknown };
  const serverInfo = { name: 'conformance', version: '1' };
  const result = {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    serverInfo,
    ttlMs: 0,
    cacheScope: 'private',
  };
  return Response.json({ jsonrpc: '2.0', id, result });
}
const log: Logger = { error: console.error, info: () => {}, debug: () => {} };
const secret = async (): Promise<string> => told.client_secret ?? '';

/** More would ask the user endlessly. */
const maxSignIns = 3;
const redirectUri = 'http://localhost:8787/oauth/callback';
/** The URL that the suite's scenario about client metadata documents expects; it is not fetched. */
const metadataUrl = 'https://conformance-test.local/client-metadata.json';

const server: ServerAccess = {
  name: 'conformance',
  kind: 'mcp',
  url,
  trusted: false,
  ready: [],
  held: [],
  version: 1,
  mcp: { era: 'auto', ...(scenario.startsWith('auth/') && { oauth: oauthOf() }) },
  connection: null,
  staleAt: null,
};

function oauthOf(): ServerOAuth {
  const grant = scenario.includes('client-credentials') ? 'client_credentials' : 'authorization_code';
  const { client_id: clientId, client_secret: clientSecret } = told;
  return { grant, ...(clientId && { clientId }), ...(clientSecret && { clientSecret: { secret: 'CLIENT' } }) };
}

let kept: ServerGrant = { value: null, revision: 0 };
const states = new Map<string, SignInState>();
const signIns = createSignIns({
  clock: systemClock,
  server: async () => server,
  contextOf: () => ({
    grants: {
      serverGrant: async () => kept,
      saveServerGrant: async (_server, { value, revision }) => {
        if (revision !== kept.revision) return false;
        kept = { value, revision: revision + 1 };
        return true;
      },
    },
    send,
    secret,
    clock: systemClock,
    log,
  }),
  mintState: async (state) => {
    states.set(state.nonce, state);
    return state.nonce;
  },
  readState: async (text) => states.get(text) ?? null,
  originRights: async () => ({ scopes: ['admin'] }),
  nonce: () => crypto.randomUUID(),
  connectUrl: () => null,
});

const upstream = createMcpUpstream();
const tokens = signIns.tokens('default', server, null);
const context: UpstreamContext = {
  fetch: (request) => send(request, request.signal),
  secret,
  ...(tokens && { tokens }),
  signal: AbortSignal.timeout(25_000),
  now: Date.now,
  log,
  conversation: 'conformance',
  document: async () => null,
};

/** Signs in, again if the server requires it. */
async function signedIn<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isAsked = error instanceof Problem && error.extra.unauthorized === true;
      if (!isAsked || attempt >= maxSignIns || server.mcp?.oauth?.grant !== 'authorization_code') throw error;
      await signIn();
    }
  }
}

async function signIn(): Promise<void> {
  const { authorizationUrl } = await signIns.begin('default', server.name, {
    redirectUri,
    metadataUrl,
    origin: { keyId: 'conformance', at: 0 },
  });
  const response = await fetch(authorizationUrl, { redirect: 'manual' });
  const back = new URL(response.headers.get('location') ?? '').searchParams;
  const returned = {
    code: back.get('code'),
    iss: back.get('iss'),
    error: back.get('error'),
    errorDescription: back.get('error_description'),
  };
  await signIns.finish(back.get('state') ?? '', returned, null);
}

/** A user who receives a form with proposed values, and submits it unchanged. */
async function accept({ params }: InputRequest): Promise<InputAnswer> {
  const schema = isRecord(params.requestedSchema) ? params.requestedSchema : {};
  const fields = Object.entries(isRecord(schema.properties) ? schema.properties : {});
  const filled = fields.flatMap(([name, field]) => (isRecord(field) && 'default' in field ? [[name, field.default]] : []));
  return { action: 'accept', content: Object.fromEntries(filled) };
}

const hooks: UpstreamHooks = { ask: accept, askable: { elicitation: { form: {} } } };
const maxRounds = 5;

function argumentsFor(name: string): Record<string, unknown> {
  if (name === 'add_numbers') return { a: 5, b: 3 };
  // The scenario compares this schema with the one that it listed.
  return name === 'json_schema_echo' ? { schema: schemas.get('json_schema_2020_12_tool') } : {};
}

const { tools, connection } = await signedIn(() => upstream.discover(server, context));
// As the Catalog stores it for callers.
server.connection = connection;
const schemas = new Map<string, Record<string, unknown>>();
for (const { name, definition } of readListing(tools)) if (definition !== null) schemas.set(name, definition.inputSchema);
const calls = told.toolCalls ?? [...schemas.keys()].map((name) => ({ name, arguments: argumentsFor(name) }));
for (const { name, arguments: args } of calls) {
  const call = { name, arguments: args, inputSchema: schemas.get(name) ?? {}, idempotencyKey: crypto.randomUUID() };
  let answer = await signedIn(() => upstream.callTool(server, call, hooks, context));
  for (let round = 0; answer.kind === 'input-required' && round < maxRounds; round += 1) {
    const answers = await Promise.all(Object.entries(answer.input.requests).map(async ([key, request]) => [key, await accept(request)]));
    const given = toGiven(answer.input, Object.fromEntries(answers));
    answer = await signedIn(() => upstream.callTool(server, { ...call, given }, hooks, context));
  }
  console.log(JSON.stringify(answer));
}
// The outbound client keeps the time of each request, and here no runtime ends the rest of a request.
process.exit(0);
