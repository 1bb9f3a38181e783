/**
 * Sends a chat without server tools and session to its provider: forwarded unchanged or translated. Used by the routes through `wiring.ts`.
 */
import { splitModelRef } from '../core/agent.ts';
import type { Principal } from '../core/principal.ts';
import { translateChat, type AgentOverrides } from '../engine/proxy/translate-chat.ts';
import type { Directory } from '../ports/catalog.ts';
import type { ChatModel } from '../ports/chat-model.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock, Ids } from '../ports/runtime.ts';
import { isForwardedHeader, proxyChat, type ProxyRequest } from './proxy.ts';
import { rehearsalHttp } from './rehearsal/rehearsal.ts';

/**
 * A chat without server tools and session, to be forwarded (`proxy.ts`) or translated (`engine/proxy/translate-chat.ts`). `agent`: an agent
 * without tools, which overrides the body; `isOwn`: it sets more than instructions.
 */
export type ProxiedChat = Pick<ProxyRequest, 'dialect' | 'text' | 'headers'> & {
  ref: string;
  body: Readonly<Record<string, unknown>> & { model: string };
  /** Aborts when the client disconnects. */
  signal(): AbortSignal;
  agent?: AgentOverrides & { isOwn: boolean };
};

type ProxyDeps = { directory: Directory; outbound: OutboundHttp; model: ChatModel; clock: Clock; ids: Ids };

export async function proxyModelRequest(
  { directory, outbound, ...deps }: ProxyDeps,
  principal: Principal,
  { ref, dialect, body, agent, text, headers, signal }: ProxiedChat,
): Promise<Response> {
  const { provider, model } = splitModelRef(ref);
  const access = await directory.provider(principal.workspace, provider);
  if (agent?.isOwn || !isForwardedHeader(access, model, dialect, agent?.protocol)) {
    const asked = { access, model, dialect, body, ref: body.model, ...(agent !== undefined && { agent }) };
    return await translateChat(deps, asked, signal());
  }
  const http = access.kind === 'rehearsal' ? rehearsalHttp : outbound;
  // With other instructions, the body no longer equals the received text.
  const sent = agent === undefined ? { body, text } : { body: dialect.withInstructions(body, agent.instructions), agentRef: body.model };
  return await proxyChat({ access, model, dialect, ...sent, headers, http, clock: deps.clock, signal });
}
