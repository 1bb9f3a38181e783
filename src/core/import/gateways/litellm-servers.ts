/** `mcp_servers` of LiteLLM: servers, and the toolset `litellm` with their tools. LiteLLM documentation, "MCP" and "MCP Configuration Reference". */
import type { Json } from '../../json/wire-value.ts';
import { toBase64 } from '../../text/bytes.ts';
import type { ImportDraft } from '../draft.ts';
import type { LiteLlmEnvironment } from './litellm-models.ts';
import { addApiServer, addMcpServer, type GivenServer } from '../mcp-server.ts';
import type { OfferedTools } from '../mcp-tools.ts';
import { namedValues, type ServerReading, unlessRefused } from '../mcp-values.ts';
import type { Members } from '../members.ts';
import { unmapped } from './unmapped.ts';
import { createVariables, type Variables } from '../variables.ts';

/** `aliases`: `mcp_aliases` of the file, of which the first for a server counts. */
export function readLiteLlmServers(
  draft: ImportDraft,
  file: Members,
  { environment, aliases }: { environment: LiteLlmEnvironment; aliases: Members | null },
): void {
  const plain = createVariables();
  const variables: Variables = { rewrite: (text, own) => plain.rewrite(environment.read(text)?.text ?? text, own) };
  const named = new Map((aliases?.values() ?? []).toReversed().map(({ name: alias, text: server }) => [server, alias]));
  const tools: Json[] = [];
  const groups = new Map<string, Json[]>();
  for (const [name, entry] of file.entries('mcp_servers')) {
    const written = entry.text('alias') ?? named.get(name) ?? name;
    const entries = addServer({ draft, written, members: entry, variables, notes: [] }, environment);
    tools.push(...entries);
    for (const group of entries.length === 0 ? [] : (entry.texts('access_groups') ?? []))
      groups.set(group, [...(groups.get(group) ?? []), ...entries]);
    if (entry.has('access_groups'))
      entry.change('access_groups', 'is the toolset of that name: limit the keys that may use it with their `toolsets`');
  }
  if (tools.length > 0) draft.add('toolsets', 'litellm', { tools });
  for (const [group, entries] of groups) draft.add('toolsets', group, { tools: entries });
}

/** Returns the entries of its tools; none if it is skipped. */
function addServer(reading: ServerReading, environment: LiteLlmEnvironment): Json[] {
  const { draft, written, members, variables } = reading;
  const given: GivenServer = { headers: headersOf(members, environment), filter: limitedTools(members) };
  const signIn = signInOf(members, environment);
  if (signIn !== null && 'fault' in signIn) {
    members.skipWhole(signIn.fault);
    return [];
  }
  skipOthers(members);
  const options = { ...given, isEmptyListAll: true, toolPrefix: `${written}-` };
  if (members.has('spec_path')) return addOpenApi(reading, options);
  const document = {
    ...(signIn !== null && { oauth: oauthOf(draft, written, members, signIn) }),
    ...(members.flag('allow_sampling') === true && { sampling: true }),
  };
  return addMcpServer(draft, written, members, variables, { ...options, document, isInSeconds: true })?.entries ?? [];
}

/** The OpenAPI document at `spec_path` is an API, whose operations are called at `url`. */
function addOpenApi(reading: ServerReading, given: GivenServer): Json[] {
  const { written, members, variables } = reading;
  const filled = variables.rewrite(members.text('spec_path') ?? '');
  const url = 'fault' in filled ? '' : filled.text;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    members.skipWhole('has a spec_path that is no URL: import the OpenAPI document itself, and set `baseUrl` of its server');
    return [];
  }
  const base = members.text('url');
  members.ignore('transport');
  const host = new URL(base !== null && URL.canParse(base) ? base : url).host;
  const added = unlessRefused(members, () => {
    const headers = namedValues(reading, given.headers ?? [], { names: (name) => [`${written}_${name}`], host });
    const document = { url, ...(base !== null && { baseUrl: base }), ...(headers.size > 0 && { headers: Object.fromEntries(headers) }) };
    return addApiServer(reading, document, given);
  });
  return added?.entries ?? [];
}

/** `static_headers`, and what `auth_type` makes of `auth_value`. */
function headersOf(members: Members, environment: LiteLlmEnvironment): NonNullable<GivenServer['headers']> {
  const sent = members.record('static_headers')?.values() ?? [];
  const text = environment.read(members.text('auth_value', 'authentication_token'))?.text ?? '';
  const type = members.text('auth_type')?.toLowerCase() ?? '';
  const path = members.pathOf(members.has('auth_value') ? 'auth_value' : 'authentication_token');
  const header = text === '' ? null : authHeader(type, text);
  if (header === null && text !== '') members.fault('auth_value', `is not used: auth_type is ${JSON.stringify(type.slice(0, 40))}`);
  return header === null ? sent : [...sent, { ...header, path }];
}

function authHeader(type: string, text: string): { name: string; text: string } | null {
  switch (type) {
    case 'api_key':
      return { name: 'X-API-Key', text };
    case 'basic':
      // The user and password, which the program encodes. A variable cannot be encoded here, so that the secret has no value.
      return { name: 'Authorization', text: text.startsWith('${') ? '<Basic credentials>' : `Basic ${basicOf(text)}` };
    case 'authorization':
      return { name: 'Authorization', text };
    case 'token':
      return { name: 'Authorization', text: `token ${text}` };
    case '':
    case 'bearer_token':
      return { name: 'Authorization', text: `Bearer ${text}` };
    default:
      return null;
  }
}

function basicOf(text: string): string {
  return text.includes(':') ? toBase64(new TextEncoder().encode(text)) : text;
}

/** Tools whose parameters the file limits cannot be limited so, and are left out. */
function limitedTools(members: Members): Partial<OfferedTools> {
  const limited = members.record('allowed_params');
  const names = limited?.names() ?? [];
  for (const name of names) limited?.skip([name], 'has no counterpart, so that the tool is left out: its parameters cannot be limited');
  return { exclude: names };
}

type SignIn = { isPersonal: boolean; flow: string; clientId: string; clientSecret: string };

/** null: there is no sign-in. */
function signInOf(members: Members, environment: LiteLlmEnvironment): SignIn | { fault: string } | null {
  const type = members.text('auth_type')?.toLowerCase() ?? '';
  if (/^(aws_sigv4|oauth2_token_exchange|entra_obo)$/.test(type) || members.has('token_exchange_endpoint'))
    return { fault: `is not supported: auth_type is ${JSON.stringify(type)}` };
  if (type !== '' && !/^(none|api_key|basic|authorization|token|bearer_token|oauth2|true_passthrough|oauth_delegate)$/.test(type))
    return { fault: `has the auth_type ${JSON.stringify(type.slice(0, 40))}, which is not known to this import` };
  const read = (name: string): string => environment.read(members.text(name))?.text ?? '';
  const [clientId, clientSecret, flow] = [read('client_id'), read('client_secret'), members.text('oauth2_flow') ?? ''];
  const isPassed =
    /^(true_passthrough|oauth_delegate)$/.test(type) || members.flag('oauth_passthrough', 'delegate_auth_to_upstream') === true;
  if (isPassed) members.change('auth_type', 'is a sign-in of each user: the token of a client is not passed on');
  return type === 'oauth2' || isPassed ? { isPersonal: flow !== 'client_credentials', flow, clientId, clientSecret } : null;
}

function oauthOf(draft: ImportDraft, written: string, members: Members, { isPersonal, clientId, clientSecret }: SignIn): Json {
  const scopes = members.texts('scopes') ?? [];
  const secret = clientSecret === '' ? null : draft.secret([`${written}_CLIENT_SECRET`], clientSecret);
  if (secret !== null)
    members.change('client_secret', `became the secret ${secret}, which has to be bound to the host of the token endpoint`);
  return {
    ...(isPersonal ? { grant: 'authorization_code', per: 'user' } : { grant: 'client_credentials' }),
    ...(clientId !== '' && { clientId }),
    ...(secret !== null && { clientSecret: { secret } }),
    ...(scopes.length > 0 && { scopes }),
  };
}

function skipOthers(members: Members): void {
  const endpoints = ['authorization_url', 'token_url', 'registration_url', 'issuer', 'token_endpoint_auth_method', 'audience'];
  members.skip(endpoints, 'is not used: the server says where to sign in (RFC 9728)');
  members.skip(['extra_headers'], 'has no counterpart: headers of clients are not passed on to servers');
  members.skip(['available_on_public_internet', 'allow_all_keys'], unmapped.clientKey);
  members.skip(['allow_elicitation'], 'is not needed: servers can ask the user of a call');
  members.skip(['max_concurrent_requests'], unmapped.rateLimit);
  members.skip(['instructions'], 'is not imported: set `instructions` of the server, which models read if it is trusted');
  members.skip(
    ['mcp_info', 'server_name', 'server_id', 'spec', 'dcr_bridge', 'subject_token_type', 'token_exchange_profile'],
    unmapped.program,
  );
  members.skipLike(/^aws_/, unmapped.cloud);
}
