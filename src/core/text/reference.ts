/**
 * Ids that chat clients receive. They contain the session id, so that a client that names no session and only sends its messages back
 * finds its session, also after a restart. An id grants no access: the session checks the caller. Used by the dialects, the session
 * and the chat routes.
 * An *answer* is what a client receives for one request, whatever its dialect calls it. A *completion* is an answer that a session
 * can return again: its stored content and the id that contains the session.
 */
import { fromBase64Url, toBase64Url, toHex } from './bytes.ts';

/** The content of an id that we issued. `own` is the part with a meaning inside the session. */
export type Reference = { own: string; session: string };

/**
 * `<callId>_<43 characters>`: unique, and recognized in whatever a client sends. The dots of a nested call id become hyphens, which
 * our own ids do not contain: Anthropic's clients expect tool call ids of letters, digits, `_` and `-` (its API only accepts a
 * `tool_use.id` that matches `^[a-zA-Z0-9_-]+$`). `session` null: of no session, so that the id is only the first part.
 */
export function toToolCallId(callId: string, session: string | null): string {
  const own = callId.replaceAll('.', '-');
  return session === null ? own : `${own}_${sessionText(session)}`;
}

/**
 * Returns null for an id that we did not issue or that is truncated. Only the session can tell whether it exists and who owns it.
 */
export function readToolCallId(id: string): Reference | null {
  const session = sessionOf(id);
  return session === null ? null : { own: id.slice(0, -1 - sessionCharacters).replaceAll('-', '.'), session };
}

/** The question whether a call may run. `round` counts the questions of the call from 1. */
export type QuestionReference = { callId: string; round: number; session: string };

/** `mcpr_<round>_<tool call id>`: the id of a question for clients that decide in their own wire format. */
export function toApprovalId({ callId, round, session }: QuestionReference): string {
  return `mcpr_${round}_${toToolCallId(callId, session)}`;
}

/** As `readToolCallId`. */
export function readApprovalId(id: string): QuestionReference | null {
  const [, round, call = ''] = /^mcpr_([1-9][0-9]{0,5})_([\w-]+)$/.exec(id) ?? [];
  const reference = readToolCallId(call);
  return reference === null ? null : { callId: reference.own, round: Number(round), session: reference.session };
}

/** One of the questions that a tool's server asks at once, by the server's own key. `isPage`: a page to open, not a form. */
export type InputReference = QuestionReference & { key: string; isPage: boolean };

/** `mcpf_<key>_<approval id>` for a form, `mcpu_…` for a page, the key in base64url. */
export function toInputId({ key, isPage, ...question }: InputReference): string {
  return `mcp${isPage ? 'u' : 'f'}_${toBase64Url(new TextEncoder().encode(key))}_${toApprovalId(question)}`;
}

/** As `readToolCallId`. */
export function readInputId(id: string): InputReference | null {
  const [, kind, key = '', rest = ''] = /^mcp([fu])_([\w-]*)_(mcpr_[\w-]+)$/.exec(id) ?? [];
  const [question, bytes] = [readApprovalId(rest), fromBase64Url(key)];
  return question === null || bytes === null ? null : { ...question, key: new TextDecoder().decode(bytes), isPage: kind === 'u' };
}

/** The wire formats that chat clients use (`dialects/`). Stored with answers. */
export type DialectName = ApiDialectName | UiDialectName;

/** Those of model APIs, which providers have, too. */
export type ApiDialectName = 'openai-chat' | 'openai-responses' | 'anthropic-messages';

/** Those of user interfaces. */
export type UiDialectName = 'ai-sdk' | 'ag-ui';

/** Prefixes of answer ids, as the clients of each dialect expect them. */
const answerPrefixes: Readonly<Record<DialectName, string>> = {
  'openai-chat': 'chatcmpl-',
  'openai-responses': 'resp_',
  'anthropic-messages': 'msg_',
  'ai-sdk': 'uim_',
  'ag-ui': 'run_',
};

/** `<prefix><unique>`: the id of an answer that no session stores. */
export function toAnswerId(dialect: DialectName, unique: string): string {
  return answerPrefixes[dialect] + unique;
}

/** `<prefix><unique>_<43 characters>`; `unique` is any id that we issued. */
export function toCompletionId(dialect: DialectName, unique: string, session: string): string {
  return `${toAnswerId(dialect, unique)}_${sessionText(session)}`;
}

/** Returns the `unique` part passed to the two functions above; for any other id, what follows its prefix. */
export function uniqueOfAnswer(dialect: DialectName, id: string): string {
  const session = readCompletionId(dialect, id) === null ? 0 : sessionCharacters + 1;
  return id.slice(id.startsWith(answerPrefixes[dialect]) ? answerPrefixes[dialect].length : 0, id.length - session);
}

/**
 * `own` is the whole id, since answers are stored under it. Returns null if the id is not an answer id of that dialect with a
 * session.
 */
export function readCompletionId(dialect: DialectName, id: string): Reference | null {
  const session = id.startsWith(answerPrefixes[dialect]) ? sessionOf(id) : null;
  return session === null ? null : { own: id, session };
}

/** `conv_<43 characters>`: a session as clients of Responses name it. */
export function toConversationId(session: string): string {
  return `conv_${sessionText(session)}`;
}

/** Returns the session; null: not an id of ours. */
export function readConversationId(id: string): string | null {
  return id.length === 'conv_'.length + sessionCharacters && id.startsWith('conv_') ? sessionOf(id) : null;
}

/** The length of the 32 bytes of a session id in base64url. */
const sessionCharacters = 43;
const maxIdLength = 256;

export function isSessionId(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function sessionText(session: string): string {
  const bytes = Uint8Array.from(session.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  if (!isSessionId(session)) throw new TypeError(`not a session id: ${session.slice(0, 80)}`);
  return toBase64Url(bytes);
}

function sessionOf(id: string): string | null {
  const at = id.length - sessionCharacters;
  if (id.length > maxIdLength || at < 2 || id[at - 1] !== '_') return null;
  const bytes = fromBase64Url(id.slice(at));
  return bytes === null ? null : toHex(bytes);
}
