/** Encodes problems in OpenAI's error shape, for both of its dialects. */
import { reportedIn } from '../core/model/provider-failure.ts';
import type { ProblemBody } from '../core/problem.ts';

export type OpenAiError = { error: { message: string; type: string; param: string | null; code: string | null } };

/** A provider's error keeps its own members. Otherwise `code` is our code; clients branch on `type`. */
export function openAiErrorBody(problem: ProblemBody): OpenAiError {
  const reported = reportedIn(problem);
  if (reported !== null) return { error: { ...reported, type: reported.type ?? errorType(problem.status) } };
  const issues = Array.isArray(problem.issues) ? (problem.issues as { path?: unknown }[]) : [];
  const path = problem.param ?? issues[0]?.path;
  const param = typeof path === 'string' && path !== '' ? path : null;
  return { error: { message: problem.detail, type: errorType(problem.status), param, code: problem.code } };
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
