/** Reads a logged response to a request in a client's dialect, which is in the wire format of the API that the dialect is from. */
import { rehearsalAccess } from '../core/model/provider.ts';
import type { ReadLoggedReply, RecordedReply } from '../engine/replay/recorded-case.ts';
import { adapters } from './registry.ts';
import { readerFor } from './transport.ts';

export const readLoggedReply: ReadLoggedReply = async (dialect, response) => {
  const found = Object.entries(adapters).find(([, adapter]) => adapter.dialect === dialect);
  if (found === undefined) return null;
  // A key of `adapters`.
  const access = { ...rehearsalAccess, kind: found[0] as keyof typeof adapters };
  const reader = readerFor(access, found[1].createReply(access));
  const reply: RecordedReply = { text: '', calls: [], code: null };
  const names = new Map<number, string>();
  for (const event of [...reader.bytes(new TextEncoder().encode(response)), ...reader.end()]) {
    if (event.type === 'text') reply.text += event.text;
    else if (event.type === 'call-start') names.set(event.call, event.name);
    else if (event.type === 'call-end') reply.calls.push({ name: names.get(event.call) ?? '', arguments: event.arguments });
    else if (event.type === 'error') reply.code = event.problem.code;
  }
  return reply;
};
