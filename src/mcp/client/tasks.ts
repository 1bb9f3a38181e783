/**
 * Calls that a server answers with a task, polled until there is a result. Supports the extension `io.modelcontextprotocol/tasks` of
 * 2026-07-28 (SEP-2663: the result is in `tasks/get`, input is sent with `tasks/update`) and the experimental tasks of 2025-11-25
 * (`tasks/result`, on whose stream the server also requests input). Both use plain requests: a task lives as long as the call that waits
 * for it, and is cancelled with it.
 */
import { limits } from '../../core/limits/limits.ts';
import type { AskableInput } from '../../core/tools/mcp-input.ts';
import { toProtocolFault } from '../../engine/mcp/rpc-error.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { isRecord, recordOf } from '../../core/json/wire-value.ts';
import type { Connection } from './connection.ts';
import { serverMessage, upstreamError } from './upstream-fault.ts';
import { type RoundOutcome, screenInputRequests, toInputRequest } from './input-rounds.ts';
import { systemClock } from '../../platform/clock.ts';

/** Minimum poll interval for a task of a server, whatever the server requests. */
const minTaskPollMs = 100;
const maxTaskPollMs = 10_000;
/** A task id, a server's opaque state, and its capabilities as JSON. */
const maxTaskIdLength = 1_024;

/** The fields that both kinds have and that we use. */
type Task = Record<string, unknown> & { taskId: string };

/** Returns null if the result is not a task. */
export function taskOf(era: 'modern' | 'legacy', result: Record<string, unknown>): Task | null {
  const task = era === 'modern' ? (result.resultType === 'task' ? result : null) : result.task;
  if (!isRecord(task) || typeof task.taskId !== 'string' || task.taskId.length > maxTaskIdLength) return null;
  return { ...task, taskId: task.taskId };
}

/** Parameters that repeat a `tools/call` as a task, for a server of 2025 that requires one: it rejected the call, so nothing was done. */
export const asTask = { task: { ttl: limits.maxServerCallMs } };

export function requiresTask(era: 'modern' | 'legacy', message: string): boolean {
  return era === 'legacy' && /requires task augmentation/i.test(message);
}

/** Returns the `CallToolResult` when the task has completed. */
export async function followTask(connection: Connection, server: ServerAccess, askable: AskableInput, begun: Task): Promise<RoundOutcome> {
  const { taskId } = begun;
  try {
    for (let task: Record<string, unknown> = begun; ; task = await connection.request('tasks/get', { taskId })) {
      const ended = connection.era === 'modern' ? readModern(server, askable, taskId, task) : await readLegacy(connection, taskId, task);
      if (ended !== null) return ended;
      await systemClock.sleep(pollMs(task), connection.signal);
    }
  } catch (error) {
    if (connection.signal.aborted) connection.sendLast('tasks/cancel', { taskId });
    throw error;
  }
}

/** Sends input to a waiting task of 2026. */
export async function updateTask(connection: Connection, taskId: string, inputResponses: Record<string, unknown>): Promise<void> {
  await connection.request('tasks/update', { taskId, inputResponses });
}

function readModern(server: ServerAccess, askable: AskableInput, taskId: string, task: Record<string, unknown>): RoundOutcome | null {
  switch (task.status) {
    case 'completed':
      return { kind: 'result', result: recordOf(task.result) };
    case 'failed':
      return failedTask(recordOf(task.error));
    case 'cancelled':
      return failed('The task was cancelled by its server.');
    case 'input_required': {
      if (Object.keys(recordOf(task.inputRequests)).length === 0) return null;
      const { own, others } = screenInputRequests(server, askable, task.inputRequests);
      return { kind: 'input-required', input: toInputRequest(others, { own, task: taskId }) };
    }
    case 'working':
      return null;
    default:
      throw upstreamError(server.name, 'returned an unknown task status.');
  }
}

async function readLegacy(connection: Connection, taskId: string, task: Record<string, unknown>): Promise<RoundOutcome | null> {
  const { status } = task;
  if (status === 'cancelled') return failed('The task was cancelled by its server.');
  // The result is requested while input is required, because the server requests input on that stream; the response arrives when the task
  // ends.
  if (status === 'completed' || status === 'failed' || status === 'input_required') {
    return { kind: 'result', result: await connection.request('tasks/result', { taskId }) };
  }
  return null;
}

/** The error is the JSON-RPC error with which the request would have failed. */
function failedTask({ code, message, data }: Record<string, unknown>): RoundOutcome {
  const text = typeof message === 'string' ? message : 'no reason given';
  const outcome = failed(`The task failed: ${serverMessage(text)}.`);
  return typeof code === 'number' ? { ...outcome, error: toProtocolFault({ code, message: text, data }) } : outcome;
}

function failed(text: string): Extract<RoundOutcome, { kind: 'result' }> {
  return { kind: 'result', result: { isError: true, content: [{ type: 'text', text }] } };
}

function pollMs({ pollIntervalMs, pollInterval }: Record<string, unknown>): number {
  const requested = Number(pollIntervalMs ?? pollInterval ?? 1_000);
  return Math.min(Math.max(Number.isFinite(requested) ? requested : 1_000, minTaskPollMs), maxTaskPollMs);
}
