/**
 * Reads what a provider reports about a failure. Servers have dozens of forms for it, many of them with status 200: OpenAI's `{"error": {…}}`,
 * vLLM's `{"object": "error", …}`, FastAPI's `{"detail": …}`, DashScope's and SiliconFlow's `{"code", "message"}`, MiniMax's `base_resp`,
 * Cloudflare's `{"success": false, "errors": […]}`, Baidu's `error_code`, Tencent's `Response.Error` and `ErrorMsg`, AWS's `__type`, Apigee's
 * `fault`, problem details (RFC 9457), and `{"error": "text"}` (the services' API references, November 2026). `provider-error.ts` makes
 * problems of it.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../core/json/wire-value.ts';
import { delayInText, secondsToMs } from '../core/model/retry-after.ts';

/** '' and null: not reported. `retryAfterMs`: if it contains a delay. */
export type ReportedError = {
  message: string;
  code: string;
  type: string;
  param: string | null;
  status: number | null;
  retryAfterMs: number | null;
};

/**
 * Returns whether a body or event of status 200 reports an error. `isReply`: it has the form of the provider's API, in which only members that
 * no reply has tell of an error.
 */
export function reportsError(value: Json, isReply: boolean): boolean {
  if (saysAnything(value.error) || isFailureCode(recordOf(value.base_resp).status_code)) return true;
  return !isReply && (hasErrorMark(value) || nestedError(value) !== null || isErrorText(value));
}

/** Reads an error in any form, also the body of an error status. */
export function readError(value: unknown): ReportedError {
  // Gemini wraps the error in a list if the reply would have been one.
  const error: unknown = Array.isArray(value) ? value[0] : value;
  if (!isRecord(error)) return { message: stringOf(error), code: '', type: '', param: null, status: null, retryAfterMs: null };
  const outer = readMembers(error);
  const nested = nestedError(error);
  if (nested === null) return outer;
  // What the inner object lacks may be in the outer one, as in `{"error": {"message": "…"}, "status": 500}`.
  const inner = readError(nested);
  return {
    message: inner.message || outer.message,
    code: inner.code || outer.code,
    type: inner.type || outer.type,
    param: inner.param ?? outer.param,
    status: inner.status ?? outer.status,
    retryAfterMs: inner.retryAfterMs ?? outer.retryAfterMs,
  };
}

function readMembers(error: Json): ReportedError {
  const text = textOf(error, messageMembers) || validationText(error.detail);
  // OpenRouter reports "Provider returned error", and the provider's own text beside it.
  const raw = stringOf(recordOf(error.metadata).raw);
  const message = raw === '' || text.includes(raw) ? text : `${text}: ${raw}`;
  return {
    message,
    code: nameOf(error, codeMembers),
    type: nameOf(error, typeMembers),
    param: stringOf(error.param) || null,
    status: statusIn(error),
    retryAfterMs: delayInDetails(error.details) ?? delayInText(message),
  };
}

/** The members in which servers put what happened; the first has precedence. */
const messageMembers = [
  ...['message', 'msg', 'Message', 'Msg', 'error_msg', 'error_message', 'errorMessage', 'status_msg', 'status_message', 'detail'],
  ...['error_description', 'faultstring', 'error', 'reason', 'title'],
];
const codeMembers = ['code', 'Code', 'error_code', 'errorCode', 'errorcode', 'err_code', 'status_code', 'status'];
const typeMembers = ['type', 'error_type', '__type'];

function textOf(error: Json, members: readonly string[]): string {
  return members.map((member) => stringOf(error[member])).find((text) => text.trim() !== '') ?? '';
}

/** Returns the first name, or else the first number, such as the status that some servers repeat. */
function nameOf(error: Json, members: readonly string[]): string {
  const values = members.map((member) => (typeof error[member] === 'number' ? String(error[member]) : stringOf(error[member])));
  const names = values.filter((text) => text !== '' && !/^(0|error|fail(ed|ure)?)$/i.test(text));
  return names.find((text) => !/^\d+$/.test(text)) ?? names[0] ?? '';
}

/** FastAPI's list of what is wrong with a request: `[{"loc": ["body", "messages"], "msg": "field required"}]`. */
function validationText(detail: unknown): string {
  const faults = listOf(detail).map(recordOf);
  return faults.map(({ loc, msg }) => `${listOf(loc).join('.')}: ${stringOf(msg)}`).join('; ');
}

/** Returns the object or list inside of `value` that describes the error; null: its own members do. */
function nestedError(value: Json): unknown {
  const { error, errors, base_resp: miniMax, fault, detail, ErrorMsg: hunyuan, Error: named, Output: coral } = value;
  const wrapped = [recordOf(value.Response).Error, recordOf(value.ResponseMetadata).Error];
  const exception = Object.keys(value).find((name) => /(Exception|Error)$/.test(name));
  const found = [error, errors, miniMax, fault, hunyuan, named, coral, ...wrapped, exception && value[exception]];
  const nested = found.find((one) => (isRecord(one) || Array.isArray(one)) && saysAnything(one));
  return nested ?? (isRecord(detail) ? detail : null);
}

/** Whether one of its members says that it is an error. */
function hasErrorMark({ object, success, ok, status, error_code: code, type, ...value }: Json): boolean {
  if (object === 'error' || success === false || ok === false || /^(error|fail(ed|ure)?)$/i.test(stringOf(status))) return true;
  if (statusIn({ ...value, status }) !== null || isFailureCode(code)) return true;
  return errorName.test(stringOf(type) || stringOf(value.__type));
}

const errorName = /error|exception|fail|fault|denied|exceeded|invalid|unauthorized|forbidden|throttl/i;

/** Whether it is only a text with an optional code. An event of a type that is not known may have a text, too. */
function isErrorText(value: Json): boolean {
  if (typeof value.type === 'string' || (value.code != null && !isFailureCode(value.code))) return false;
  return textOf(value, messageMembers.slice(0, 10)) !== '' || listOf(value.detail).length > 0;
}

/** 0, 200 and their names are success. */
function isFailureCode(code: unknown): boolean {
  const text = typeof code === 'number' ? String(code) : stringOf(code);
  return text !== '' && !/^(0+|2\d\d|ok|success)$/i.test(text);
}

/** The HTTP status of the failure, if one of the usual members has it. */
function statusIn({ status_code: a, code: b, status: c, statusCode: d, http_code: e, error_code: f }: Json): number | null {
  return [a, b, c, d, e, f].map((value) => Number(value || Number.NaN)).find((number) => number >= 400 && number < 600) ?? null;
}

/** Some gateways have an error object with empty members in every reply. */
function saysAnything(error: unknown): boolean {
  if (error == null || error === false || error === '' || error === 0) return false;
  return typeof error !== 'object' || Object.values(error).some(saysAnything);
}

/** Google's `RetryInfo`, whose delay is a Duration such as `34.4s` (googleapis, `google/rpc/error_details.proto`). */
function delayInDetails(details: unknown): number | null {
  for (const detail of listOf(details)) {
    const delay = stringOf(recordOf(detail).retryDelay);
    const ms = delay.endsWith('s') ? secondsToMs(delay.slice(0, -1)) : null;
    if (ms !== null) return ms;
  }
  return null;
}
