/** The one error that the client throws for a response with an error status, whatever format the path uses for its errors. */
import type { components } from './schema.ts';

export type Problem = components['schemas']['Problem'];

/** The service's codes, and one for a response that has none, for example from a proxy in front of the service. */
export type ErrorCode = Problem['code'] | 'unexpected_response';

export class MonikerError extends Error {
  override readonly name = 'MonikerError';
  readonly code: ErrorCode;
  /** 0 for an error that arrived inside a stream without a status. */
  readonly status: number;
  /** What is wrong, and what to do. */
  readonly detail: string;
  readonly requestId: string | null;
  /** With `invalid_request`: every issue with its path. */
  readonly issues: readonly { path: string; message: string }[];
  /** The parsed body, or its text. */
  readonly body: unknown;

  constructor(body: unknown, { status, requestId }: { status: number; requestId: string | null }) {
    const { code, detail, issues = [], ...own } = read(body);
    super(`${status > 0 ? `${status} ` : ''}${code}: ${detail}${issues.map(({ path, message }) => `\n  ${path}: ${message}`).join('')}`);
    this.code = code;
    this.status = own.status ?? status;
    this.detail = detail;
    this.requestId = requestId ?? own.requestId ?? null;
    this.issues = issues;
    this.body = body;
  }
}

/** Reads the body of a response with an error status. */
export async function readError(response: Response): Promise<MonikerError> {
  const text = await response.text();
  return toError(parse(text), response);
}

export function toError(body: unknown, { status, headers }: Pick<Response, 'status' | 'headers'>): MonikerError {
  return new MonikerError(body, { status, requestId: headers.get('x-request-id') });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // Not JSON: `body` is the text.
  }
}

type Known = { code: ErrorCode; detail: string; issues?: Problem['issues']; status?: number; requestId?: string };
type Loose = Record<string, unknown>;

/** The formats, in order: problem+json, then Anthropic's, MCP's and OpenAI's error objects. */
function read(body: unknown): Known {
  if (!isObject(body))
    return { code: 'unexpected_response', detail: typeof body === 'string' ? body.slice(0, 500) : 'The response has no body.' };
  if (typeof body.code === 'string' && typeof body.detail === 'string') return body as unknown as Problem; // Checked by its two main fields.
  const error = isObject(body.error) ? body.error : {};
  const nested = isObject(error.details) ? error.details.error_code : isObject(error.data) ? error.data.code : error.code;
  const requestId = body.request_id ?? (isObject(error.data) ? error.data.requestId : undefined);
  return {
    code: typeof nested === 'string' ? (nested as ErrorCode) : 'unexpected_response', // The service documents this closed list.
    detail: typeof error.message === 'string' ? error.message : JSON.stringify(body).slice(0, 500),
    ...(typeof requestId === 'string' && { requestId }),
  };
}

function isObject(value: unknown): value is Loose {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
