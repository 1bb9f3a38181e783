/**
 * Routes a chat request of any dialect: to the provider without a session, or, with an agent, a toolset or a session, to a turn whose
 * response has the same dialect (`chat-turn.ts`).
 */
import { requireAllowed } from '../../core/authority.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Principal } from '../../core/principal.ts';
import type { Services } from '../../wiring.ts';
import type { AppContext } from '../context.ts';
import { isPlain, readRoute, requireModel, withoutToolset } from './chat-request.ts';
import { answerInSession } from './chat-turn.ts';

export type IncomingChat = {
  c: AppContext;
  services: Services;
  principal: Principal;
  /** Parsed, and as received. */
  body: unknown;
  bytes: Uint8Array;
  text: string;
  /** The caller's headers for a provider with the same API. */
  headers?: Readonly<Record<string, string>>;
};

export async function answerChat(
  dialect: Dialect,
  { c, services, principal, body: value, bytes, text, headers }: IncomingChat,
): Promise<Response> {
  const body = requireModel(value);
  const route = readRoute(c, dialect, body);
  if (!isPlain(route)) return await answerInSession({ c, services, principal, dialect, route, body, bytes, headers });
  requireAllowed(principal, { act: 'use-model' });
  const signal = () => c.req.raw.signal;
  return await services.proxyChat(principal, { ref: body.model, dialect, body: withoutToolset(body), text, headers, signal });
}
