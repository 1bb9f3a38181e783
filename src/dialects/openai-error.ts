/** Encodes problems in OpenAI's error shape, for both of its dialects. */
import type { ProblemBody } from '../core/problem.ts';

export type OpenAiError = { error: { message: string; type: string; param: string | null; code: string } };

/** `code` is our code; clients branch on `type`. */
export function openAiErrorBody(problem: ProblemBody): OpenAiError {
  const issues = Array.isArray(problem.issues) ? (problem.issues as { path?: unknown }[]) : [];
  const path = problem.param ?? issues[0]?.path;
  return {
    error: {
      message: problem.detail,
      type: errorType(problem.status),
      param: typeof path === 'string' && path !== '' ? path : null,
      code: problem.code,
    },
  };
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
