/** `fetch` of a stock client whose requests of any dialect are translated for one provider, which sends the same stream to every request. */
import { dialectOf } from '../../../src/dialects/dialects.ts';
import { translateChat } from '../../../src/engine/proxy/translate-chat.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import type { Participant } from '../switching-speakers.ts';

export function translatedFetch({ access, model }: Participant, reply: string) {
  const http: OutboundHttp = async () => new Response(reply, { headers: { 'content-type': 'text/event-stream' } });
  const clock = fakeClock();
  const deps = { model: createChatModel({ http, rehearsal: http, clock }), clock, ids: countedIds() };
  return async (url: unknown, init?: { body?: unknown }): Promise<Response> => {
    const path = String(url);
    const dialect = dialectOf(
      path.endsWith('/messages') ? 'anthropic-messages' : path.endsWith('/responses') ? 'openai-responses' : 'openai-chat',
    );
    const body = JSON.parse(String(init?.body)) as Record<string, unknown> & { model: string };
    const chat = { access, model, dialect, body: { ...body, stream: true }, ref: body.model };
    return await translateChat(deps, chat, () => new AbortController().signal);
  };
}
