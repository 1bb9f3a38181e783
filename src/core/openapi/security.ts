/**
 * The credentials that operations need, in words for the administrator, who sets them in the `headers` and `query` of the server's document.
 * OpenAPI 3.1.1, "Security Scheme Object", "Security Requirement Object".
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { quoted } from '../problem.ts';
import { account, type FoundOperation, type OpenApiDescription, operationPath, resolveReference } from './description.ts';

/** Whether the server's document sends a parameter. */
type IsGiven = (place: string, name: string) => boolean;

/** Warns of each combination of credentials that the server's document does not send, with its first operation. */
export function reportSecurity(api: OpenApiDescription, operations: readonly FoundOperation[], isGiven: IsGiven): void {
  const { security, components } = api.root;
  const schemes = readSchemes(api, recordOf(components).securitySchemes);
  const seen = new Set<unknown>();
  for (const found of operations) {
    const required = found.operation.security ?? security;
    if (seen.has(required)) continue;
    seen.add(required);
    const where = found.operation.security === undefined ? 'security' : `${operationPath(found)}.security`;
    const alternatives = required === undefined ? [...schemes.keys()].map((name) => ({ [name]: [] })) : listOf(required).filter(isRecord);
    const message = messageOf(alternatives, schemes, isGiven);
    if (message !== null) api.warn(required === undefined ? 'components.securitySchemes' : where, message);
  }
}

/** How a credential is sent. `place` null: it cannot be sent. */
type Credential = { place: 'header' | 'query' | null; name: string; text: string };

function readSchemes(api: OpenApiDescription, written: unknown): Map<string, Credential> {
  const schemes = new Map<string, Credential>();
  for (const [name, value] of Object.entries(recordOf(written))) {
    const at = `components.securitySchemes.${name}`;
    const scheme = resolveReference(api, value, at);
    if (scheme === null) continue;
    account(api, 'Security Scheme', scheme, at);
    account(api, 'OAuth Flows', scheme.flows, `${at}.flows`);
    for (const [flow, how] of Object.entries(recordOf(scheme.flows)))
      if (!flow.startsWith('x-')) account(api, 'OAuth Flow', how, `${at}.flows.${flow}`);
    schemes.set(name, toCredential(scheme));
  }
  return schemes;
}

function toCredential(scheme: Json): Credential {
  const { type, in: place, scheme: method, flows, openIdConnectUrl } = scheme;
  const name = stringOf(scheme.name);
  const authorization = (text: string): Credential => ({
    place: 'header',
    name: 'Authorization',
    text: `the header Authorization: ${text}`,
  });
  switch (type) {
    case 'apiKey':
      if (place === 'cookie') return { place: 'header', name: 'Cookie', text: `the header Cookie: ${name}=<key>` };
      if (place === 'query') return { place, name, text: `${quoted(name)} in the query` };
      return { place: 'header', name, text: `the header ${quoted(name)}` };
    case 'http': {
      const kind = stringOf(method).toLowerCase();
      if (kind === 'basic') return authorization('Basic <base64 of user:password>');
      if (kind === 'bearer') return authorization('Bearer <token>');
      return authorization(`<credentials of the scheme ${quoted(kind)}>`);
    }
    case 'oauth2':
      return authorization(`Bearer <OAuth token>${tokenPlaces(flows)}, which you renew, since Moniker obtains tokens for MCP servers only`);
    case 'openIdConnect':
      return authorization(`Bearer <token of ${quoted(stringOf(openIdConnectUrl))}>`);
    default:
      return { place: null, name: '', text: `credentials of the type ${quoted(stringOf(type))}, which cannot be sent` };
  }
}

function tokenPlaces(flows: unknown): string {
  const places = Object.entries(recordOf(flows)).flatMap(([flow, how]) => {
    const { tokenUrl, authorizationUrl } = recordOf(how);
    const url = stringOf(tokenUrl) || stringOf(authorizationUrl);
    return url === '' ? [] : [`${flow} at ${quoted(url)}`];
  });
  return places.length === 0 ? '' : ` (${places.join(', ')})`;
}

/** null: one of the alternatives is given, or nothing is needed. */
function messageOf(alternatives: readonly Json[], schemes: ReadonlyMap<string, Credential>, isGiven: IsGiven): string | null {
  const missing = alternatives.map((alternative) =>
    Object.keys(alternative).flatMap((name): Credential[] => {
      const known = schemes.get(name) ?? {
        place: null,
        name: '',
        text: `credentials ${quoted(name)}, which the document does not describe`,
      };
      return known.place !== null && isGiven(known.place, known.name) ? [] : [known];
    }),
  );
  const isOptional = alternatives.some((alternative) => Object.keys(alternative).length === 0);
  const needs = missing.filter((needed) => needed.length > 0);
  const [first] = needs;
  if (first === undefined || (!isOptional && needs.length < missing.length)) return null;
  const texts = needs.map((needed) => needed.map(({ text }) => text).join(' and '));
  return `calls ${isOptional ? 'can have' : 'need'} ${texts.join('; or ')}. ${remedyOf(first)}`;
}

function remedyOf(needed: readonly Credential[]): string {
  const members = (['header', 'query'] as const).flatMap((place) => {
    const values = needed.filter((one) => one.place === place).map(({ name }) => [name, { secret: 'NAME' }] as const);
    const member = place === 'header' ? 'headers' : 'query';
    return values.length === 0 ? [] : [`"${member}": ${JSON.stringify(Object.fromEntries(values))}`];
  });
  return members.length === 0
    ? 'Select other operations with include.'
    : `Store secrets, and set {${members.join(', ')}} in the server’s document`;
}
