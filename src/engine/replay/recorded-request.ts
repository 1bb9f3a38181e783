/**
 * A recorded request to a model, from the request log. It is replayed as a turn with the client's tools, which ends where the model calls them, since
 * its response ended there.
 */
import { isRecord, tryParse } from '../../core/json/wire-value.ts';
import type { Principal } from '../../core/people/principal.ts';
import { isAllowed } from '../../core/people/authority.ts';
import { noUsage } from '../../core/model/chat-event.ts';
import type { LoggedRequest } from '../../core/records/usage.ts';
import type { RecordedTurn } from '../../core/replay/recorded-turn.ts';
import { historyWithResults } from '../../core/turn/pair-calls.ts';
import { loadDialect } from '../../dialects/dialects.ts';
import type { ApiDialectName } from '../../core/text/reference.ts';
import { type CaseDeps, type RecordedCase, type RecordedReply, Unreadable } from './recorded-case.ts';

/** Throws `Unreadable`, and `invalid_request` for a body that its dialect does not accept. */
export async function readRecordedRequest({ usage, readReply }: CaseDeps, principal: Principal, id: string): Promise<RecordedCase> {
  const own = isAllowed(principal, { act: 'read-usage', isOwn: false }) ? undefined : principal.keyId;
  const row = await usage.request(principal.workspace, id, own);
  if (row === null) throw new Unreadable('The request log has no such row any more.', true);
  const { dialect, bodies, model } = row;
  if (row.kind === 'turn') throw new Unreadable('The row is of a turn: replay the turn of its session.');
  if (bodies === null)
    throw new Unreadable(
      'Its bodies were not logged. `{"requestLog": {"bodies": true}}` in PATCH /v1/workspaces/{workspace} logs those of later requests.',
      true,
    );
  if (bodies.truncated) throw new Unreadable('A body is longer than what the request log stores.');
  const body = tryParse(bodies.request ?? '');
  const reply = bodies.response === null || dialect === null ? null : await readReply(dialect, bodies.response);
  if (dialect === null || model === null || !isRecord(body) || reply === null)
    throw new Unreadable('It is no request for a chat whose bodies are JSON, or it has no response.');
  // `readReply` knows the dialects of model APIs only.
  const request = (await loadDialect(dialect as ApiDialectName)).readRequest(body);
  if (request.previous !== null) throw new Unreadable('It continues a stored response, which the request log does not have.');
  const { system, history, results, input } = request.conversation({ inSession: true });
  return {
    asked: {
      model,
      instructions: system,
      settings: request.settings(),
      tools: request.clientTools() ?? [],
      allowed: request.allowedTools(),
    },
    history: historyWithResults(history, results),
    gathered: [],
    ...{ input, recorded: toRecordedTurn(row, model, reply), answers: false, notes: [] },
  };
}

function toRecordedTurn(row: LoggedRequest, model: string, { text, calls, code }: RecordedReply): RecordedTurn {
  const { inputTokens, outputTokens, cachedInputTokens = 0 } = row.usage ?? noUsage;
  return {
    ...{ turn: row.id, model, agent: null, edition: null, input: [], laterInput: [], text },
    calls: calls.map(({ name, arguments: args }, index) => ({
      ...{ callId: String(index), turn: row.id, model, agent: null, requested: name, canonical: `client.${name}`, via: null },
      ...{ arguments: args, isError: false, code: null, content: [] },
    })),
    facts: {
      ...{ calls: calls.length, steps: row.modelCalls, inputTokens, cachedInputTokens, outputTokens },
      ...{ cost: row.unpricedCalls > 0 ? null : row.cost, durationMs: row.durationMs, approvals: 0 },
    },
    ...{ status: row.status === 'waiting' ? null : row.status, code: code ?? row.code },
  };
}
