import { expect, it } from 'vitest';
import { Problem, type ProblemCode } from '../../../src/core/problem.ts';
import { toRpcError } from '../../../src/engine/mcp/rpc-error.ts';
import { renderProblem } from '../../../src/http/problems.ts';
import { toRpcFault } from '../../../src/mcp/server/rpc-fault.ts';
import { silentLog } from '../../simulation/process-deps.ts';

it.each([
  ['invalid_json', -32700],
  ['method_not_allowed', -32600],
  ['invalid_request', -32602],
  ['not_found', -32602],
  ['forbidden', -32000],
  ['rate_limited', -32000],
  ['upstream_error', -32000],
  ['internal', -32603],
] satisfies [ProblemCode, number][])('%s has the code %i, inside an MCP message and before it', async (code, expected) => {
  const problem = new Problem(code, 'No.', { retryable: false });
  expect(toRpcError(problem)).toEqual({ code: expected, message: 'No.', data: { retryable: false, code } });
  const response = await renderProblem(problem, { method: 'POST', path: '/mcp/demo', requestId: 'req_1' });
  expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: expected, data: { code, requestId: 'req_1' } } });
  expect(toRpcFault(problem, silentLog)).toMatchObject({ code: expected, data: { code } });
});
