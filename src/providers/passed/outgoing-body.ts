/** The body of a client's request as its provider receives it, which has the same wire. */
import { recordOf } from '../../core/json/wire-value.ts';
import { issuedMark } from '../../core/model/native-token.ts';
import type { Dialect } from '../../dialects/dialect.ts';

/** `model`: the model half of the ref. `text`: the same as `body`; absent if the body was changed. */
type OwnRequest = { dialect: Dialect; model: string; body: Readonly<Record<string, unknown>>; text?: string | undefined };

/** A stream that is rewritten requests its usage, so that it can be counted; the client receives it only if it has asked for it. */
export function withStreamUsage<Request extends OwnRequest>(request: Request): Request {
  const { body } = request;
  if (!lacksUsage(request)) return request;
  return { ...request, text: undefined, body: { ...body, stream_options: { ...recordOf(body.stream_options), include_usage: true } } };
}

export function lacksUsage({ dialect, body }: Pick<OwnRequest, 'dialect' | 'body'>): boolean {
  return dialect.name === 'openai-chat' && body.stream === true && !wantsUsage(body);
}

/** For dialects in which the client chooses. */
export function wantsUsage({ stream_options: options }: Readonly<Record<string, unknown>>): boolean {
  return recordOf(options).include_usage === true;
}

/** The deprecated functions count, since they also produce calls. */
export function offersTools({ tools, functions }: Readonly<Record<string, unknown>>): boolean {
  return (Array.isArray(tools) && tools.length > 0) || Array.isArray(functions);
}

/**
 * Returns the client's body with the provider's model. Most bodies contain their model once; then only that place in the text changes, so
 * numbers, spacing and unknown fields stay unchanged and nothing is encoded again, which takes 33 of the 340 µs of a request with 30 tools
 * (2026-11-28).
 */
export function outgoingBody({ body, text, model, dialect }: OwnRequest): string {
  const { toolset, ...rest } = body;
  if (dialect.modelInPath === true) {
    const { model: _model, stream: _stream, ...own } = rest;
    return JSON.stringify(dialect.withoutTokens?.(own) ?? own);
  }
  // Tokens are rare; this check is fast.
  if (dialect.withoutTokens !== undefined && (text === undefined || text.includes(issuedMark))) {
    return JSON.stringify({ ...dialect.withoutTokens(rest), model });
  }
  const place = text === undefined || toolset !== undefined ? null : onlyModel(text, body.model);
  if (text === undefined || place === null) return JSON.stringify({ ...rest, model });
  return text.slice(0, place.start) + JSON.stringify(model) + text.slice(place.end);
}

/** Returns the range of the value of the body's only `"model": "…"`; null if there may be another one in a message or a schema. */
function onlyModel(text: string, ref: unknown): { start: number; end: number } | null {
  const key = text.indexOf('"model"');
  if (key === -1 || text.indexOf('"model"', key + 1) !== -1 || text.includes('\\u006')) return null;
  const value = JSON.stringify(ref);
  const start = text.indexOf(value, key + '"model"'.length);
  if (start === -1 || !/^\s*:\s*$/.test(text.slice(key + '"model"'.length, start))) return null;
  return { start, end: start + value.length };
}
