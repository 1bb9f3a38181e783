/** Encodes problems in Anthropic's error shape. Source: API reference "Errors", and `ErrorType` of @anthropic-ai/sdk 1.12. */
import type { ProblemBody } from '../../core/problem.ts';
import { recordOf } from '../../core/json/wire-value.ts';

export type AnthropicError = {
  type: 'error';
  error: { type: string; message: string; details: { error_code: string; [detail: string]: unknown } };
  request_id: string | null;
};

/**
 * Clients branch on `error.type`; our own code is in `details`, where the stock client finds it (`errorCode`). A problem's member
 * `anthropic` contains details for these clients only.
 */
export function anthropicErrorBody(problem: ProblemBody, requestId?: string): AnthropicError {
  return {
    type: 'error',
    error: { type: errorType(problem), message: problem.detail, details: { error_code: problem.code, ...recordOf(problem.anthropic) } },
    request_id: requestId ?? null,
  };
}

function errorType({ status, upstreamStatus }: ProblemBody): string {
  if (status >= 500) {
    if (upstreamStatus === 529 || upstreamStatus === 503) return 'overloaded_error';
    return status === 504 ? 'timeout_error' : 'api_error';
  }
  return typesByStatus.get(status) ?? 'invalid_request_error';
}

const typesByStatus = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
]);
