/**
 * Ids that chat clients are given. They carry the session that they are of, so that a client which names no session, and only
 * sends its messages back, finds it again after a restart too. An id is never a right: the session checks who asks. Used by the dialects, the
 * session and the chat routes.
 *
 * An *answer* is what a client reads for one request, whatever its dialect calls that. A *completion* is an answer that a session can give
 * again: what it keeps of it, and the id that carries the session.
 */
import { toHex } from './hex.ts';
import { fromBase64Url, toBase64Url } from './base64url.ts';

/** What an id of ours says. `own` is the part that means something inside the session. */
export type Reference = { own: string; session: string };

/**
 * `<callId>_<43 characters>`: unique, and known again in whatever a client sends. The dots of a call beneath another are hyphens, which our own
 * ids do not have: ids of tool calls are letters, digits, `_` and `-` to clients of Anthropic's (its API takes `tool_use.id` of `^[a-zA-Z0-9_-]+$` only).
 */
export function toToolCallId(callId: string, session: string): string {
  return `${callId.replaceAll('.', '-')}_${sessionText(session)}`;
}

/** null: not one of ours, or not whole. Whether there is such a session, and whose it is, only the session can say. */
export function readToolCallId(id: string): Reference | null {
  const session = sessionOf(id);
  return session === null ? null : { own: id.slice(0, -1 - sessionCharacters).replaceAll('-', '.'), session };
}

/** The wire shapes in which chat clients speak (`dialects/`). Stored with answers. */
export type DialectName = 'openai-chat' | 'openai-responses' | 'anthropic-messages';

/** What the ids of a dialect's answers begin with, as its clients know them. */
const answerPrefixes: Readonly<Record<DialectName, string>> = {
  'openai-chat': 'chatcmpl-',
  'openai-responses': 'resp_',
  'anthropic-messages': 'msg_',
};

/** `<prefix><unique>`: of an answer that no session has. */
export function toAnswerId(dialect: DialectName, unique: string): string {
  return answerPrefixes[dialect] + unique;
}

/** `<prefix><unique>_<43 characters>`; `unique` is any id of ours. */
export function toCompletionId(dialect: DialectName, unique: string, session: string): string {
  return `${toAnswerId(dialect, unique)}_${sessionText(session)}`;
}

/** What the two above were given; of another id what follows its prefix. */
export function uniqueOfAnswer(dialect: DialectName, id: string): string {
  const session = readCompletionId(dialect, id) === null ? 0 : sessionCharacters + 1;
  return id.slice(id.startsWith(answerPrefixes[dialect]) ? answerPrefixes[dialect].length : 0, id.length - session);
}

/** `own` is the whole id: answers are stored under it. null: not the id of an answer of that dialect that carries a session. */
export function readCompletionId(dialect: DialectName, id: string): Reference | null {
  const session = id.startsWith(answerPrefixes[dialect]) ? sessionOf(id) : null;
  return session === null ? null : { own: id, session };
}

/** Of the 32 bytes of a session id in base64url. */
const sessionCharacters = 43;
const maxIdLength = 256;

function sessionText(session: string): string {
  const bytes = Uint8Array.from(session.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  if (!/^[0-9a-f]{64}$/.test(session)) throw new TypeError(`not a session id: ${session.slice(0, 80)}`);
  return toBase64Url(bytes);
}

function sessionOf(id: string): string | null {
  const at = id.length - sessionCharacters;
  if (id.length > maxIdLength || at < 2 || id[at - 1] !== '_') return null;
  const bytes = fromBase64Url(id.slice(at));
  return bytes === null ? null : toHex(bytes);
}
